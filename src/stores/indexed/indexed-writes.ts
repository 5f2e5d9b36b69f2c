import { type AppendPlan, planAppend, refsOf } from "#log/plans/plan-append";
import type { AppendResult, Batch } from "#log/batch";
import { parseBody } from "#log/body";
import { keptReads, LOOKBACK_NODES } from "#log/plans/boundary";
import { decodeEntry } from "#log/codec";
import type { Durability } from "#log/plans/durability";
import type { Entry } from "#log/entry";
import { idTaken } from "#log/plans/plan-erase";
import { isLogError, LogError } from "#log/errors";
import { findVisible, pageBack } from "#log/lineage/lineage";
import { originBody, planFork } from "#log/plans/fork-point";
import type { ForkPoint, Head, Known } from "#log/lineage/head";
import type { ConversationId, EntryId, SpaceId } from "#log/ids";
import { type Ownership, planAcquire, planRenew } from "#log/plans/lease";
import { LogIndex } from "#log/lineage/log-index";
import { fetchHeld } from "./indexed-reads.ts";
import { notFound, openLineage, openWhole, type LogWithSources } from "./indexed-lineage.ts";
import type { Commit, IndexedLog, IndexedLogs } from "./indexed-log.ts";
import type { AppendRequest, CreateRequest, ForkRequest, HeadView, SpaceStore } from "#store/store";

type Write = Extract<AppendPlan, { kind: "write" }>;
type WriteVerbs = Pick<SpaceStore, "create" | "fork" | "append" | "acquire" | "renew" | "erase">;

/** The verbs that write, over logs: look up what the rules need, let them decide, carry it out. */
export function shelfWrites(
  logs: IndexedLogs,
  space: SpaceId,
  nowMs: () => number,
): Omit<WriteVerbs, "erase"> {
  return {
    create: (request) => create(logs, space, request),
    fork: (request) => fork(logs, space, request),
    append: (request) =>
      logs.locked(space, request.conversation, () => append(logs, space, request, nowMs())),
    acquire: (request) =>
      logs.locked(space, request.conversation, () =>
        setOwner(logs, space, request.conversation, ({ index, lease }) =>
          planAcquire(index.head, lease, { ...request, nowMs: nowMs() }),
        ),
      ),
    renew: (request) =>
      logs.locked(space, request.conversation, () =>
        setOwner(logs, space, request.conversation, ({ index, lease }) =>
          planRenew(index.head, lease, { ...request, nowMs: nowMs() }),
        ),
      ),
  };
}

async function append(
  logs: IndexedLogs,
  space: SpaceId,
  request: AppendRequest,
  nowMs: number,
): Promise<AppendResult> {
  const lineage = await openLineage(logs, space, request.conversation);
  const { log, indexes } = lineage;
  const state = {
    head: log.index.head,
    lease: log.lease,
    nowMs,
    seen: request.key === null ? null : log.seen(request.key),
    known: knownIn(lineage, refsOf(request.drafts)),
    kept: await readKept(lineage, request),
  };
  const plan = planAppend(state, request);
  if (plan.kind === "deduped")
    return { ...plan.result, ids: idsBetween(log.index, plan.result.fromSeq, plan.result.toSeq) };
  await log.write(commitOf(plan, request, request.durability));
  applyPlan(log.index, plan, request, (id) => findVisible(indexes, request.conversation, id));
  return plan.result;
}

function knownIn(lineage: LogWithSources, refs: ReadonlySet<EntryId>): ReadonlyMap<EntryId, Known> {
  const known = new Map<EntryId, Known>();
  for (const id of refs) {
    const found = findVisible(lineage.indexes, lineage.log.conversation, id);
    if (found !== undefined) known.set(id, found);
  }
  return known;
}

async function readKept(
  lineage: LogWithSources,
  request: AppendRequest,
): Promise<ReadonlyMap<EntryId, readonly Entry[]>> {
  const { indexes, log } = lineage;
  const kept = new Map<EntryId, readonly Entry[]>();
  for (const asked of keptReads(log.index.head, request.drafts)) {
    const from = findVisible(indexes, log.conversation, asked.from)?.place;
    const until = findVisible(indexes, log.conversation, asked.firstKept ?? asked.from)?.place;
    if (!from || !until || until.depth > from.depth) continue;
    const count = from.depth - until.depth + 1;
    const { nodes } = pageBack(indexes, from, count + LOOKBACK_NODES);
    if (nodes[count - 1]?.id !== (asked.firstKept ?? asked.from)) continue;
    kept.set(
      asked.compaction,
      (await fetchHeld(lineage, nodes)).map((stored) => decodeEntry(stored)),
    );
  }
  return kept;
}

function commitOf(
  plan: Write,
  batch: Pick<Batch, "author" | "key" | "digest">,
  durability: Durability,
): Commit {
  const byOwner = batch.author.kind !== "outside";
  const { key, digest } = batch;
  return { entries: plan.entries, byOwner, epoch: plan.head.epoch, key, digest, durability, head: plan.head };
}

function applyPlan(
  index: LogIndex,
  plan: Write,
  batch: Pick<Batch, "author" | "drafts">,
  find: (id: EntryId) => Known | undefined,
): void {
  index.setEpoch(plan.head.epoch);
  for (const [at, entry] of plan.entries.entries()) {
    const draft = batch.drafts[at]?.draft;
    if (draft === undefined) continue;
    index.apply(
      { ...entry, node: draft.node, body: draft.body, byOwner: batch.author.kind !== "outside" },
      find,
    );
  }
}

function idsBetween(index: LogIndex, fromSeq: number, toSeq: number): readonly EntryId[] {
  return index.entries.filter((entry) => entry.seq >= fromSeq && entry.seq <= toSeq).map((entry) => entry.id);
}

async function setOwner(
  logs: IndexedLogs,
  space: SpaceId,
  conversation: ConversationId,
  plan: (log: IndexedLog) => Ownership,
): Promise<HeadView> {
  const log = await openWhole(logs, space, conversation);
  const { epoch, lease } = plan(log);
  await log.writeOwner(epoch, lease);
  return { ...log.index.head, lease };
}

interface Start {
  readonly conversation: ConversationId;
  readonly origin: ForkPoint | null;
  readonly batch: Pick<Batch, "drafts" | "digest" | "key">;
}

async function create(logs: IndexedLogs, space: SpaceId, request: CreateRequest): Promise<AppendResult> {
  const start: Start = { conversation: request.conversation, origin: null, batch: request };
  if (request.drafts[0]?.draft.body["origin"] !== undefined) {
    throw new LogError("invalid_request", "A conversation with an origin is made by fork");
  }
  return logs.locked(space, request.conversation, () => startOnce(logs, space, start));
}

/** A create that loses to another process's looks again: that one may be this very request, sent twice. */
async function startOnce(logs: IndexedLogs, space: SpaceId, start: Start): Promise<AppendResult> {
  try {
    return await startLog(logs, space, start);
  } catch (error) {
    if (start.batch.key === null || !isLogError(error, "conversation_exists")) throw error;
    return startLog(logs, space, start);
  }
}

/** Writes the first batch of a log, or finds that the same request wrote it before. */
async function startLog(logs: IndexedLogs, space: SpaceId, start: Start): Promise<AppendResult> {
  const { conversation, origin, batch } = start;
  const existing = await logs.open(space, conversation);
  if (existing !== null) {
    const seen = batch.key === null || existing.unlisted ? null : existing.seen(batch.key);
    if (seen === null) throw idTaken(conversation, existing.unlisted);
    const ids = idsBetween(existing.index, seen.fromSeq, seen.toSeq);
    return {
      fromSeq: seen.fromSeq,
      toSeq: seen.toSeq,
      lastId: seen.lastId,
      ids,
      deduped: true,
      differs: seen.digest !== batch.digest,
    };
  }
  const time = batch.drafts[0]?.time ?? "";
  const index = new LogIndex(conversation, origin, time);
  const author = { kind: "once" } as const;
  const plan = planAppend(
    { head: index.head, lease: null, nowMs: 0, seen: null, known: new Map(), kept: new Map() },
    { ...batch, author },
  );
  if (plan.kind === "deduped") throw notFound(conversation);
  applyPlan(
    index,
    plan,
    { author, drafts: batch.drafts },
    (id) => index.find(id) ?? originKnown(index.head, id),
  );
  await logs.create(space, conversation, commitOf(plan, { ...batch, author }, "full"), index);
  return plan.result;
}

function originKnown(head: Head, id: EntryId): Known | undefined {
  return head.origin?.entry === id ? { id, place: head.origin, tip: false } : undefined;
}

type Forked = HeadView & { readonly deduped: boolean };

/** Under the source's lock, so that an erase of the source either sees the fork or comes first. */
async function fork(logs: IndexedLogs, space: SpaceId, request: ForkRequest): Promise<Forked> {
  const made = await logs.open(space, request.conversation);
  // A fork that exists already holds no second lock: two forks can then never wait for each other.
  if (made !== null) return forkFrom(logs, space, request);
  return logs.locked(space, request.source, () => forkFrom(logs, space, request));
}

async function forkFrom(logs: IndexedLogs, space: SpaceId, request: ForkRequest): Promise<Forked> {
  const { source, conversation } = request;
  const { log, indexes } = await openLineage(logs, space, source);
  const { head } = log.index;
  const at = findVisible(indexes, source, request.entry ?? head.leaf.id);
  if (at === undefined)
    throw new LogError("entry_not_found", `Conversation ${source} has no entry ${request.entry}`, {
      conversation: source,
    });
  const point = planFork(head, at);
  const drafts = [{ draft: parseBody(originBody(point, request.cwd)), id: request.id, time: request.time }];
  // The source may grow between a fork and its retry, so the digest stands for what was asked, not for the cut.
  const digest = JSON.stringify([source, request.entry ?? null, request.cwd ?? null]);
  const batch = { drafts, digest, key: request.key };
  const result = await logs.locked(space, conversation, () =>
    startOnce(logs, space, { conversation, origin: point, batch }),
  );
  if (result.differs)
    throw new LogError(
      "conversation_exists",
      `Conversation ${conversation} was forked from elsewhere under the same key`,
      { conversation },
    );
  const made = await openWhole(logs, space, conversation);
  return { ...made.index.head, lease: made.lease, deduped: result.deduped };
}
