import { createHash } from "node:crypto";
import type { BatchEndAt } from "#log/batch-links";
import type { StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import { nodeNotFound } from "#store/lookup-errors";
import {
  currentPlace,
  findVisible,
  type LogNode,
  hiddenAmong,
  latestOnBranch,
  pageBack,
  placeAt,
} from "#log/lineage/lineage";
import type { Place } from "#log/lineage/head";
import { leaseAt } from "#log/plans/lease";
import { type ConversationId, type EntryId, parseDigest, type SpaceId } from "#log/ids";
import {
  type LogWithSources,
  openLineage,
  openLog,
  openReachable,
  openWhole,
  settled,
} from "./indexed-lineage.ts";
import { IndexedRuns } from "./indexed-runs.ts";
import { IndexedSearch } from "./indexed-search.ts";
import { ListPages } from "./list-pages.ts";
import type { IndexedLog, IndexedLogs } from "./indexed-log.ts";
import { readableSeqs, seqsToDamage } from "./readable-parts.ts";
import { TAIL_PAGE, type TailFeeds, type TailPage } from "#store/tail-feeds";
import type {
  BatchEndsRequest,
  IdsRequest,
  LabelRequest,
  Page,
  PageRequest,
  StoreWindow,
  TailRequest,
  WindowRequest,
} from "#store/requests";
import type { SpaceStore } from "#store/facets";

const LOGS_AT_ONCE = 16; // a window over many forks lies in as many logs: keeps the disk busy, and few files open

/** The stored entries of nodes that may lie in several logs, in the order given. */
export async function fetchNodes(
  lineage: LogWithSources,
  nodes: readonly LogNode[],
): Promise<readonly StoredEntry[]> {
  const fetched = new Map<string, StoredEntry>();
  const parts = [...Map.groupBy(nodes, (node) => node.conversation)];
  for (let from = 0; from < parts.length; from += LOGS_AT_ONCE) {
    const reads = parts.slice(from, from + LOGS_AT_ONCE).map(async ([conversation, own]) => {
      const seqs = own.map((node) => node.seq);
      for (const stored of (await lineage.logs.get(conversation)?.fetch(seqs)) ?? [])
        fetched.set(stored.id, stored);
    });
    await Promise.all(reads);
  }
  return nodes.map((node) => {
    const stored = fetched.get(node.id);
    if (stored === undefined)
      throw new LogError("damaged", `Entry ${node.seq} of conversation ${node.conversation} cannot be read`, {
        seq: node.seq,
      });
    return stored;
  });
}

type ReadVerbs = Omit<SpaceStore, "create" | "fork" | "append" | "acquire" | "renew" | "erase" | "check">;

/** A space of logs, and the tails of all of them. */
export interface ReadContext {
  readonly logs: IndexedLogs;
  readonly space: SpaceId;
  readonly feeds: TailFeeds;
  readonly nowMs: () => number;
}

/** The verbs that read, over logs; each reads again when an erase cut into it. */
export function shelfReads(reading: ReadContext): ReadVerbs {
  const verbs = readOnce(reading);
  return {
    ...verbs,
    head: (conversation) => settled(() => verbs.head(conversation)),
    findAppend: (conversation, key) => settled(() => verbs.findAppend(conversation, key)),
    entry: (conversation, id) => settled(() => verbs.entry(conversation, id)),
    ids: (request) => settled(() => verbs.ids(request)),
    labelled: (request) => settled(() => verbs.labelled(request)),
    window: (request) => settled(() => verbs.window(request)),
    page: (request) => settled(() => verbs.page(request)),
    batchEnds: (request) => settled(() => verbs.batchEnds(request)),
    read: (request) => settled(() => verbs.read(request)),
    getBlob: (conversation, digest) => settled(() => verbs.getBlob(conversation, digest)),
  };
}

function readOnce(reading: ReadContext): ReadVerbs {
  const { logs, space, nowMs } = reading;
  const lineage = (conversation: ConversationId): Promise<LogWithSources> =>
    openLineage(logs, space, conversation);
  const pages = new ListPages(logs, space);
  const runs = new IndexedRuns(logs, space);
  const search = new IndexedSearch(logs, space);
  return {
    runs: (request) => runs.page(request),
    async head(conversation) {
      const log = await openWhole(logs, space, conversation);
      return { ...log.index.head, lease: leaseAt(log.lease, nowMs()) };
    },
    async findAppend(conversation, key) {
      return (await openWhole(logs, space, conversation)).seen(key);
    },
    async entry(conversation, id) {
      const members = await openReachable(logs, space, conversation);
      const position = findVisible(members.indexes, conversation, id);
      const holder = position && members.logs.get(position.holder);
      const seq = holder?.index.get(id)?.seq;
      const [stored] = seq === undefined || holder === undefined ? [] : await holder.fetch([seq]);
      if (position === undefined || stored === undefined) {
        if (members.log.damage) throw members.log.damage;
        throw new LogError("entry_not_found", `Entry ${id} not found in conversation ${conversation}`, {
          conversation,
          entry: id,
        });
      }
      return { ...stored, place: position.place };
    },
    ids: async (request) => nodeIds(await openReachable(logs, space, request.conversation), request),
    labelled: async (request) => labelFacts(await openReachable(logs, space, request.conversation), request),
    window: async (request) => readWindow(await lineage(request.conversation), request, nowMs()),
    page: async (request) => page(await lineage(request.conversation), request),
    async read(request) {
      const log = await openLog(logs, space, request.conversation);
      return log.fetch(readableSeqs(log, request), request.bytes);
    },
    batchEnds: async (request) => batchEnds(await openLog(logs, space, request.conversation), request),
    tail: (request) => tail(reading, request),
    list: (request) => pages.page(request),
    search: (request) => search.find(request),
    async putBlob(conversation, bytes) {
      const digest = parseDigest(createHash("sha256").update(bytes).digest("hex"));
      // Under the lock: a blob that arrives during an erase must not outlive it.
      await logs.locked(space, conversation, async () =>
        (await openWhole(logs, space, conversation)).putBlob(digest, bytes),
      );
      return digest;
    },
    async getBlob(conversation, digest) {
      for (const log of (await lineage(conversation)).logs.values()) {
        const bytes = await log.getBlob(digest);
        if (bytes !== null) return bytes;
      }
      throw new LogError("blob_not_found", `Blob ${digest} not found in conversation ${conversation}`, {
        conversation,
      });
    },
  };
}

async function page(lineage: LogWithSources, request: PageRequest): Promise<Page> {
  const { indexes } = lineage;
  const end = startOf(lineage, request.from);
  const from = request.depth === undefined ? end : placeAt(indexes, end, request.depth);
  return fetchPage(lineage, pageAt(lineage, from, request.limit));
}

type NodePage = Omit<Page, "entries"> & { readonly nodes: readonly LogNode[] };

/** A page as the index has it. */
function pageAt({ indexes, log }: LogWithSources, from: Place, limit: number): NodePage {
  const { nodes, next } = pageBack(indexes, from, limit);
  return { nodes, next, hidden: hiddenAmong(indexes, log.conversation, nodes) };
}

async function fetchPage(lineage: LogWithSources, { nodes, hidden, next }: NodePage): Promise<Page> {
  return { entries: await fetchNodes(lineage, nodes), hidden, next };
}

/** All that may change is taken from the index before the first await; entries, which do not, are fetched after. */
async function readWindow(
  lineage: LogWithSources,
  request: WindowRequest,
  nowMs: number,
): Promise<StoreWindow> {
  const { log, indexes } = lineage;
  const head = { ...log.index.head, lease: leaseAt(log.lease, nowMs) };
  const from = startOf(lineage, request.from);
  const nodes = pageAt(lineage, from, request.limit);
  const latest = request.settings.flatMap((type) => {
    const node = latestOnBranch(indexes, from, type);
    return node === undefined ? [] : [[type, node] as const];
  });
  const stored = await fetchNodes(
    lineage,
    latest.map(([, node]) => node),
  );
  const settings = new Map(
    latest.flatMap(([type, { place }], index) => {
      const entry = stored[index];
      return entry === undefined ? [] : [[type, { ...entry, place }] as const];
    }),
  );
  return { head, page: await fetchPage(lineage, nodes), settings };
}

function startOf({ indexes, log }: LogWithSources, from: Place | undefined): Place {
  if (from === undefined) return log.index.head.leaf;
  const { conversation } = log;
  const place = currentPlace(indexes, conversation, from);
  if (place !== undefined) return place;
  throw nodeNotFound(conversation);
}

async function batchEnds(
  log: IndexedLog,
  { after, limit }: BatchEndsRequest,
): Promise<readonly BatchEndAt[]> {
  const ends: BatchEndAt[] = [];
  for (const [seq, { link, byOwner }] of await log.ends()) {
    if (ends.length >= limit) break;
    if (seq > after) ends.push({ seq, link, byOwner });
  }
  return ends;
}

function tail(
  { logs, space, feeds }: ReadContext,
  { conversation, ...from }: TailRequest,
): AsyncGenerator<StoredEntry> {
  let log: IndexedLog;
  const read = (after: number): Promise<TailPage> =>
    settled(async () => {
      log = await openLog(logs, space, conversation);
      const { headSeq } = log.index.head;
      const entries = await log.fetch(seqsToDamage(log, { after, ...TAIL_PAGE }), TAIL_PAGE.bytes);
      if (!log.damage) return { entries, headSeq };
      if (entries.length === 0) throw log.damage;
      return { entries, headSeq: Number.POSITIVE_INFINITY }; // the damage follows
    });
  const changed = (after: number, signal: AbortSignal): Promise<void> =>
    logs.changed(space, log, after, signal);
  return feeds.follow(`${space} ${conversation}`, { read, changed }, from);
}

/** The visible nodes whose id starts and ends so. */
function nodeIds(
  { indexes, log }: LogWithSources,
  { prefix, suffix = "", limit }: IdsRequest,
): readonly EntryId[] {
  const ids = new Set<EntryId>();
  for (const index of indexes.values())
    for (const id of index.idsStarting(prefix)) {
      if (ids.size >= limit) return [...ids];
      if (id.endsWith(suffix) && findVisible(indexes, log.conversation, id) !== undefined) ids.add(id);
    }
  return [...ids];
}

/** The label facts about every node that was given a label, those of the oldest log first. */
async function labelFacts(
  { log, logs }: LogWithSources,
  { label, limit }: LabelRequest,
): Promise<readonly StoredEntry[] | null> {
  const levels: { log: IndexedLog; upTo: number }[] = [];
  let upTo = Number.POSITIVE_INFINITY;
  // Above an erased log nothing that is said about nodes is inherited.
  for (let holder: IndexedLog | undefined = log; holder !== undefined && !holder.erased;) {
    levels.unshift({ log: holder, upTo });
    const { origin }: IndexedLog["index"]["head"] = holder.index.head;
    upTo = origin?.head ?? 0;
    holder = origin === null ? undefined : logs.get(origin.source);
  }
  const nodes = new Set<EntryId>();
  for (const level of levels)
    for (const node of level.log.index.nodesLabelled(label, level.upTo)) nodes.add(node);
  if (nodes.size > limit) return null;
  const facts: StoredEntry[] = [];
  for (const level of nodes.size === 0 ? [] : levels) {
    const labels = [...nodes].flatMap((node) => level.log.index.labelsOf(node));
    const seqs = labels.filter((seq) => seq <= level.upTo).toSorted((a, b) => a - b);
    if (seqs.length > 0) facts.push(...(await level.log.fetch(seqs)));
  }
  return facts;
}
