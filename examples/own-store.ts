/* oxlint-disable no-console */
import { setImmediate as network } from "node:timers/promises";
import { contractFor } from "../src/testing/index.ts";
import {
  type AppendResult,
  type ConversationId,
  type Entry,
  type EntryId,
  type HeadView,
  type ConversationRow,
  LogError,
  type Store,
  type StoredEntry,
} from "../src/index.ts";
import {
  type Appended,
  type Batch,
  type BatchEndAt,
  changeHead,
  currentPlace,
  decodeEntry,
  type Facet,
  findVisible,
  forkStart,
  type LogNode,
  hiddenAmong,
  indexPlan,
  compactionTails,
  type EntryPosition,
  findPositions,
  latestOnBranch,
  leaseAt,
  type Lineage,
  linkOf,
  LogIndex,
  type LogStore,
  type Ownership,
  type Page,
  pageBack,
  type Place,
  placeAt,
  planAcquire,
  planAppend,
  planRenew,
  planStart,
  resultOf,
  sha256,
  type SpaceId,
  type Start,
  storedEntries,
  storePort,
  withinBytes,
  type WritePlan,
} from "../src/store/index.ts";

/** What is kept of a conversation. The index is derived: a database would keep its places in columns. */
interface Log {
  readonly index: LogIndex;
  readonly rows: StoredEntry[];
  readonly ends: BatchEndAt[];
  readonly keys: Map<string, Appended & { readonly digest: string }>;
  lease: Ownership["lease"];
}

type Data = Map<SpaceId, Map<ConversationId, Log>>;

/** A space. Whatever follows the wait for the network runs in one go: that is this store's transaction. */
class MapSpace implements LogStore {
  readonly #logs: Map<ConversationId, Log>;
  readonly #nowMs: () => number;

  constructor(logs: Map<ConversationId, Log>, nowMs: () => number) {
    this.#logs = logs;
    this.#nowMs = nowMs;
  }

  create: LogStore["create"] = async (batch) => {
    await network();
    return this.#start({ conversation: batch.conversation, origin: null, batch, previous: "" }).result;
  };

  fork: LogStore["fork"] = async (request) => {
    await network();
    const { source } = request;
    const { head } = this.#log(source).index;
    const position = findVisible(this.#lineage(source), source, request.entry ?? head.leaf.id);
    const node = position && this.#row(position.holder, position.id);
    const started = this.#start(forkStart(sha256, { head, position, node }, request));
    return { ...started.head, deduped: started.result.deduped };
  };

  append: LogStore["append"] = async (request) => {
    await network();
    const { conversation, key } = request;
    const log = this.#log(conversation);
    const lineage = this.#lineage(conversation);
    const find = (id: EntryId): EntryPosition | undefined => findVisible(lineage, conversation, id);
    const tails = new Map<EntryId, readonly Entry[]>();
    for (const [compaction, nodes] of compactionTails(lineage, conversation, request.drafts)) {
      const entries = this.#rows(nodes).map((row) => decodeEntry(row));
      tails.set(compaction, entries);
    }
    const plan = planAppend(
      {
        head: log.index.head,
        lease: log.lease,
        nowMs: this.#nowMs(),
        seen: key === null ? null : (log.keys.get(key) ?? null),
        positions: findPositions(lineage, conversation, request.drafts),
        settings: new Map(), // the index knows where settings lie; a table of segments would be told here
        tails,
      },
      request,
    );
    if (plan.kind === "refused") throw plan.error;
    if (plan.kind === "deduped") return { ...plan.result, ids: idsOf(log, plan.result) };
    const { result } = write(log, plan, { batch: request, previous: log.index.head.link ?? "", find });
    if (request.author.kind === "owner" && request.author.releases === true) log.lease = null;
    return result;
  };

  #start(start: Start): Written {
    const { conversation, origin, batch, previous } = start;
    const there = this.#logs.get(conversation);
    const seen = batch.key === null ? null : (there?.keys.get(batch.key) ?? null);
    const existing = there ? { listed: true, seen, ownerLink: there.index.head.ownerLink } : null;
    const planned = planStart(existing, start);
    if (planned.kind === "refused") throw planned.error;
    if (planned.kind === "deduped") {
      const ids = idsOf(this.#log(conversation), planned.result);
      return { result: { ...planned.result, ids }, head: this.#head(conversation) };
    }
    const index = new LogIndex(conversation, origin, planned.empty.createdAt);
    const log: Log = { index, rows: [], ends: [], keys: new Map(), lease: null };
    const find = (id: EntryId): EntryPosition | undefined =>
      index.find(id) ?? (origin?.entry === id ? { id, place: origin, tip: false } : undefined);
    const written = write(log, planned.plan, { batch, previous, find });
    this.#logs.set(conversation, log);
    return written;
  }

  findAppend: LogStore["findAppend"] = async (conversation, key) => {
    await network();
    return this.#log(conversation).keys.get(key) ?? null;
  };

  acquire: LogStore["acquire"] = async (request) =>
    this.#own(request.conversation, ({ index, lease }) =>
      planAcquire(index.head, lease, { ...request, nowMs: this.#nowMs() }),
    );

  renew: LogStore["renew"] = async (request) =>
    this.#own(request.conversation, ({ index, lease }) =>
      planRenew(index.head, lease, { ...request, nowMs: this.#nowMs() }),
    );

  async #own(conversation: ConversationId, plan: (log: Log) => Ownership): Promise<HeadView> {
    await network();
    const log = this.#log(conversation);
    const { epoch, lease } = plan(log);
    log.index.setEpoch(epoch);
    log.lease = lease;
    return this.#head(conversation);
  }

  head: LogStore["head"] = async (conversation) => {
    await network();
    return this.#head(conversation);
  };

  entry: LogStore["entry"] = async (conversation, id) => {
    await network();
    const found = findVisible(this.#lineage(conversation), conversation, id);
    const row = found && this.#row(found.holder, id);
    if (!found || !row) throw new LogError("entry_not_found", `There is no entry ${id}`, { entry: id });
    return { ...row, place: found.place };
  };

  window: LogStore["window"] = async ({ conversation, from, limit, settings }) => {
    await network();
    const head = this.#head(conversation);
    const lineage = this.#lineage(conversation);
    const at = this.#place(conversation, from);
    const found = settings.flatMap((type) => {
      const node = latestOnBranch(lineage, at, type);
      const [row] = this.#rows(node ? [node] : []);
      return node && row ? [[type, { ...row, place: node.place }] as const] : [];
    });
    return { head, page: this.#page(conversation, at, limit), settings: new Map(found) };
  };

  page: LogStore["page"] = async ({ conversation, from, depth, limit }) => {
    await network();
    const at = this.#place(conversation, from);
    const start = depth === undefined ? at : placeAt(this.#lineage(conversation), at, depth);
    return this.#page(conversation, start, limit);
  };

  read: LogStore["read"] = async (request) => {
    await network();
    const { index, rows } = this.#log(request.conversation);
    const found = index.seqs(request).flatMap((seq) => rows[seq - 1] ?? []);
    return withinBytes(found, request.bytes);
  };

  batchEnds: LogStore["batchEnds"] = async ({ conversation, after, limit }) => {
    await network();
    const { ends } = this.#log(conversation);
    return ends.filter(({ seq }) => seq > after).slice(0, limit);
  };

  list: LogStore["list"] = async ({ limit, after, prefix = "", unlisted = false, forkOf }) => {
    await network();
    const order = (one: ConversationRow): string => `${one.updatedAt} ${one.conversation}`;
    const wanted = [...this.#logs.values()]
      .map(({ index }) => listed(index))
      .filter((one) => one.summary?.unlisted === unlisted)
      .filter(({ origin }) => forkOf === undefined || origin?.conversation === forkOf)
      .filter((one) => one.conversation.startsWith(prefix) && (after === undefined || order(one) < after))
      .toSorted((a, b) => (order(a) < order(b) ? 1 : -1));
    const conversations = wanted.slice(0, limit);
    const last = conversations.at(-1);
    return { conversations, next: last && wanted.length > limit ? order(last) : null };
  };

  #log(conversation: ConversationId): Log {
    const log = this.#logs.get(conversation);
    if (log !== undefined) return log;
    throw new LogError("conversation_not_found", `There is no conversation ${conversation} here`);
  }

  #head(conversation: ConversationId): HeadView {
    const { index, lease } = this.#log(conversation);
    return { ...index.head, lease: leaseAt(lease, this.#nowMs()) };
  }

  /** Its index, and those of all that it was forked from. */
  #lineage(conversation: ConversationId): Lineage {
    const lineage = new Map<ConversationId, LogIndex>();
    for (let at: ConversationId | undefined = conversation; at !== undefined;) {
      const { index }: Log = this.#log(at);
      lineage.set(at, index);
      at = index.head.origin?.source;
    }
    return lineage;
  }

  #place(conversation: ConversationId, from: Place | undefined): Place {
    const { head } = this.#log(conversation).index;
    const place =
      from === undefined ? head.leaf : currentPlace(this.#lineage(conversation), conversation, from);
    if (place !== undefined) return place;
    throw new LogError("entry_not_found", `Conversation ${conversation} has no node at that place`);
  }

  #page(conversation: ConversationId, from: Place, limit: number): Page {
    const lineage = this.#lineage(conversation);
    const { nodes, next } = pageBack(lineage, from, limit);
    return { entries: this.#rows(nodes), hidden: hiddenAmong(lineage, conversation, nodes), next };
  }

  #row(holder: ConversationId, id: EntryId): StoredEntry | undefined {
    const { index, rows } = this.#log(holder);
    return rows[(index.get(id)?.seq ?? 0) - 1];
  }

  #rows(nodes: readonly LogNode[]): readonly StoredEntry[] {
    return nodes.flatMap(({ conversation, seq }) => this.#log(conversation).rows[seq - 1] ?? []);
  }
}

/** What was written, and the head of a log that begins, which has no lease: nothing is read, and can fail, after the commit. */
interface Written {
  readonly result: AppendResult;
  readonly head: HeadView;
}

/** Carries a plan out: rows, key and head in one step. All that it needs was decided before. */
function write(
  log: Log,
  plan: WritePlan,
  given: {
    readonly batch: Pick<Batch, "drafts" | "key" | "digest">;
    readonly previous: string;
    readonly find: (id: EntryId) => EntryPosition | undefined;
  },
): Written {
  const { batch, previous, find } = given;
  const { headSeq } = log.index.head;
  const link = linkOf(sha256, plan, { headSeq, previous });
  const after = changeHead(log.index.head, plan.change, link);
  indexPlan(log.index, plan, batch, find);
  log.index.setLinks(after);
  log.ends.push({ seq: after.headSeq, link, byOwner: plan.change.byOwner });
  log.rows.push(...storedEntries(plan, headSeq));
  const result = resultOf(plan, after);
  const { fromSeq, toSeq, lastId } = result;
  if (batch.key !== null) log.keys.set(batch.key, { fromSeq, toSeq, lastId, digest: batch.digest });
  return { result, head: { ...after, lease: null } };
}

function idsOf({ rows }: Log, { fromSeq, toSeq }: Appended): readonly EntryId[] {
  return rows.slice(fromSeq - 1, toSeq).map(({ id }) => id);
}

function listed({ head }: LogIndex): ConversationRow {
  const { conversation, title, cwd, createdAt, updatedAt, headSeq, leaf, origin, summary } = head;
  const from = origin && { conversation: origin.source, entry: origin.entry };
  return {
    conversation,
    title,
    cwd,
    createdAt,
    updatedAt,
    headSeq,
    leaf: leaf.id,
    origin: from,
    summary,
    damage: null,
  };
}

const FACETS: readonly Facet[] = ["log"];

/** `storePort` checks what comes in, says what is missing, and sees to it that closing waits. */
function mapStore(data: Data, nowMs: () => number): Store {
  return storePort({
    facets: FACETS,
    space(id) {
      const logs = data.get(id) ?? new Map<ConversationId, Log>();
      data.set(id, logs);
      return new MapSpace(logs, nowMs);
    },
    spaces: async () => [...data].filter(([, logs]) => logs.size > 0).map(([id]) => id),
    close: async () => undefined,
  });
}

const promises = contractFor(FACETS).filter(({ needsPowerCut }) => needsPowerCut !== true);
for (const promise of promises) {
  const data: Data = new Map();
  await promise.run({ open: async (nowMs) => mapStore(data, nowMs) });
}
console.log(`kept ${promises.length} promises of ${promises.length}`);
