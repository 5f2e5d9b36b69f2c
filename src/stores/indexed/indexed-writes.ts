import type { AppendResult, Batch } from "#log/batch";
import { entryDigest } from "#log/batch-links";
import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import { isLogError } from "#log/errors";
import type { ConversationId, EntryId, SpaceId } from "#log/ids";
import type { Head, EntryPosition } from "#log/lineage/head";
import { findVisible, pageBack } from "#log/lineage/lineage";
import { LogIndex } from "#log/lineage/log-index";
import { SummaryCounter } from "#log/projections/summary-of";
import type { Durability } from "#log/plans/durability";
import { changeHead } from "#log/plans/head-change";
import { indexPlan, compactionTails, findPositions } from "#log/plans/index-lookups";
import { leaseAfter, leaseAt, type Ownership, planAcquire, planRenew } from "#log/plans/lease";
import { linkOf, planAppend, resultOf, storedEntries, type WritePlan } from "#log/plans/plan-append";
import { type ForkRequest, forkStart, planStart, type Start } from "#log/plans/plan-start";
import type { AppendRequest, CreateRequest, HeadView } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { sha256 } from "#store/sha256";
import { fetchNodes } from "./indexed-reads.ts";
import { openLineage, openWhole, type LogWithSources } from "./indexed-lineage.ts";
import type { Commit, IndexedLog, IndexedLogs } from "./indexed-log.ts";

type WriteVerbs = Pick<SpaceStore, "create" | "fork" | "append" | "acquire" | "renew" | "erase">;

/** The verbs that write, over logs: look up what the rules need, let them decide, carry it out. */
export function shelfWrites(
  logs: IndexedLogs,
  space: SpaceId,
  nowMs: () => number,
): Omit<WriteVerbs, "erase"> {
  return {
    create: (request) => create(logs, space, request),
    fork: (request) => fork(logs, space, request, nowMs),
    append: (request) =>
      logs.locked(space, request.conversation, () => append(logs, space, request, nowMs())),
    acquire: (request) =>
      logs.locked(space, request.conversation, () =>
        setOwner({ logs, space, nowMs }, request.conversation, ({ index, lease }, now) =>
          planAcquire(index.head, lease, { ...request, nowMs: now }),
        ),
      ),
    renew: (request) =>
      logs.locked(space, request.conversation, () =>
        setOwner({ logs, space, nowMs }, request.conversation, ({ index, lease }, now) =>
          planRenew(index.head, lease, { ...request, nowMs: now }),
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
  const head = await counted(log);
  const state = {
    head,
    lease: log.lease,
    nowMs,
    seen: request.key === null ? null : log.seen(request.key),
    positions: findPositions(indexes, request.conversation, request.drafts),
    settings: new Map(), // the index finds settings itself
    tails: await readCompactionTail(lineage, request),
  };
  const plan = planAppend(state, request);
  if (plan.kind === "refused") throw plan.error;
  if (plan.kind === "deduped")
    return { ...plan.result, ids: idsBetween(log.index, plan.result.fromSeq, plan.result.toSeq) };
  const previous = head.link ?? (await lastDigest(log));
  const commit = commitOf(plan, request, { head, previous, durability: request.durability });
  const lease = leaseAfter(log.lease, request.author);
  await log.write(lease === log.lease ? commit : { ...commit, lease });
  indexPlan(log.index, plan, request, (id) => findVisible(indexes, request.conversation, id));
  log.index.setLinks(commit.head);
  return resultOf(plan, log.index.head);
}

const ENTRIES_STEP = 256; // bodies held at once

/** The head of a log, counted if it was last written before appends kept what lists show. */
async function counted(log: IndexedLog): Promise<Head> {
  const { head, entries } = log.index;
  if (head.summary !== null) return head;
  const counter = new SummaryCounter();
  try {
    for (let from = 0; from < entries.length; from += ENTRIES_STEP) {
      const seqs = entries.slice(from, from + ENTRIES_STEP).map(({ seq }) => seq);
      for (const stored of await log.fetch(seqs)) counter.add(decodeEntry(stored));
    }
  } catch (error) {
    // A log that cannot be counted can still be appended to.
    if (!isLogError(error, "damaged")) throw error;
    return head;
  }
  log.index.setSummary(counter.result(head.segments));
  return log.index.head;
}

/** What the first link continues in a log from before there were links. */
async function lastDigest(log: IndexedLog): Promise<string> {
  const [last] = await log.fetch([log.index.head.headSeq]);
  return last === undefined ? "" : entryDigest(sha256, last);
}

async function readCompactionTail(
  lineage: LogWithSources,
  request: AppendRequest,
): Promise<ReadonlyMap<EntryId, readonly Entry[]>> {
  const tails = new Map<EntryId, readonly Entry[]>();
  for (const [compaction, nodes] of compactionTails(lineage.indexes, request.conversation, request.drafts))
    tails.set(
      compaction,
      (await fetchNodes(lineage, nodes)).map((stored) => decodeEntry(stored)),
    );
  return tails;
}

function commitOf(
  plan: WritePlan,
  batch: Pick<Batch, "key" | "digest">,
  basis: { readonly head: Head; readonly previous: string; readonly durability: Durability },
): Commit {
  const { byOwner } = plan.change;
  const { key, digest } = batch;
  const link = linkOf(sha256, plan, { headSeq: basis.head.headSeq, previous: basis.previous });
  const head = changeHead(basis.head, plan.change, link);
  const entries = storedEntries(plan, basis.head.headSeq);
  return { entries, byOwner, epoch: head.epoch, key, digest, durability: basis.durability, head };
}

function idsBetween(index: LogIndex, fromSeq: number, toSeq: number): readonly EntryId[] {
  return index.entries.filter((entry) => entry.seq >= fromSeq && entry.seq <= toSeq).map((entry) => entry.id);
}

async function setOwner(
  {
    logs,
    space,
    nowMs,
  }: { readonly logs: IndexedLogs; readonly space: SpaceId; readonly nowMs: () => number },
  conversation: ConversationId,
  plan: (log: IndexedLog, nowMs: number) => Ownership,
): Promise<HeadView> {
  const log = await openWhole(logs, space, conversation);
  const now = nowMs();
  const { epoch, lease } = plan(log, now);
  await log.writeOwner(epoch, lease);
  return { ...log.index.head, lease: leaseAt(lease, now) };
}

function create(logs: IndexedLogs, space: SpaceId, request: CreateRequest): Promise<AppendResult> {
  const { conversation } = request;
  return logs.locked(space, conversation, () =>
    startOnce(logs, space, { conversation, origin: null, batch: request, previous: "" }),
  );
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
  const { conversation, origin, batch, previous } = start;
  const log = await logs.open(space, conversation);
  const seen = log === null || batch.key === null ? null : log.seen(batch.key);
  const existing = log === null ? null : { listed: !log.erased, seen, ownerLink: log.index.head.ownerLink };
  const planned = planStart(existing, start);
  if (planned.kind === "refused") throw planned.error;
  if (planned.kind === "deduped") {
    const { fromSeq, toSeq } = planned.result;
    return { ...planned.result, ids: log === null ? [] : idsBetween(log.index, fromSeq, toSeq) };
  }
  const { plan, empty } = planned;
  const index = new LogIndex(conversation, origin, empty.createdAt);
  indexPlan(index, plan, batch, (id) => index.find(id) ?? originKnown(empty, id));
  const commit = commitOf(plan, batch, { head: empty, previous, durability: "full" });
  index.setLinks(commit.head);
  await logs.create(space, conversation, commit, index);
  return resultOf(plan, commit.head);
}

function originKnown(head: Head, id: EntryId): EntryPosition | undefined {
  return head.origin?.entry === id ? { id, place: head.origin, tip: false } : undefined;
}

type Forked = HeadView & { readonly deduped: boolean };

/** Under the source's lock, so that an erase of the source either sees the fork or comes first. */
async function fork(
  logs: IndexedLogs,
  space: SpaceId,
  request: ForkRequest,
  nowMs: () => number,
): Promise<Forked> {
  const made = await logs.open(space, request.conversation);
  // A fork that exists already holds no second lock: two forks can then never wait for each other.
  if (made !== null) return forkFrom(logs, space, request, nowMs);
  return logs.locked(space, request.source, () => forkFrom(logs, space, request, nowMs));
}

async function forkFrom(
  logs: IndexedLogs,
  space: SpaceId,
  request: ForkRequest,
  nowMs: () => number,
): Promise<Forked> {
  const { source, conversation } = request;
  const lineage = await openLineage(logs, space, source);
  const { log, indexes } = lineage;
  const { head } = log.index;
  const position = findVisible(indexes, source, request.entry ?? head.leaf.id);
  const place = position?.place;
  const [node] = position && place ? await fetchNodes(lineage, pageBack(indexes, place, 1).nodes) : [];
  const start = forkStart(sha256, { head, position, node }, request);
  const { deduped } = await logs.locked(space, conversation, () => startOnce(logs, space, start));
  const made = await openWhole(logs, space, conversation);
  return { ...made.index.head, lease: leaseAt(made.lease, nowMs()), deduped };
}
