import {
  type Appended,
  type AppendResult,
  type AppendState,
  type Author,
  type Batch,
  BATCH_ENTRIES_MAX,
  type PlacedEntry,
  type StampedDraft,
} from "#log/batch";
import type { Draft } from "#log/body";
import { checkBoundary } from "./boundary.ts";
import { FORMAT_VERSION } from "#log/entry";
import { OUTSIDE_TYPES, targetOf } from "#log/entry-types";
import { isLogError, LogError } from "#log/errors";
import { type Head, type Known, placeEntry, type Segment } from "#log/lineage/head";
import type { EntryId } from "#log/ids";
import { checkFree } from "./lease.ts";

export type AppendPlan =
  | {
      readonly kind: "deduped";
      readonly result: Appended & { readonly deduped: true; readonly differs: boolean };
    }
  | {
      readonly kind: "write";
      readonly entries: readonly PlacedEntry[];
      readonly segments: readonly Segment[];
      readonly head: Head;
      readonly result: AppendResult;
    };

/** The ids a store must look up before planning: explicit ids, parents and targets. */
export function refsOf(drafts: readonly StampedDraft[]): ReadonlySet<EntryId> {
  const refs = new Set<EntryId>();
  for (const { draft } of drafts) {
    if (draft.id !== undefined) refs.add(draft.id);
    if (draft.parentId) refs.add(draft.parentId);
    const target = targetOf(draft.type, draft.body);
    if (target !== null) refs.add(target);
  }
  return refs;
}

/** Key, then epoch, then head, then every entry; the first rule broken refuses the whole batch. */
export function planAppend(state: AppendState, batch: Batch): AppendPlan {
  if (state.seen !== null) {
    const { digest, ...range } = state.seen;
    return { kind: "deduped", result: { ...range, deduped: true, differs: digest !== batch.digest } };
  }
  const epoch = checkAuthor(state, batch.author);
  checkSize(batch);
  const entries: PlacedEntry[] = [];
  const segments: Segment[] = [];
  const overlay = new Map<EntryId, Known>();
  const find = (id: EntryId): Known | undefined =>
    overlay.get(id) ?? (id === state.head.leaf.id ? leafKnown(state.head) : state.known.get(id));
  let head: Head = { ...state.head, epoch };
  try {
    for (const stamped of batch.drafts) {
      const { draft, id, time } = stamped;
      checkDraft(draft, batch.author, head);
      if (overlay.has(id) || state.known.has(id) || id === state.head.leaf.id) {
        throw new LogError("duplicate_id", `An entry with the id ${id} exists already`, { entry: id });
      }
      const parentId = draft.node ? parentFor(draft, head) : null;
      const placing = {
        id,
        seq: head.headSeq + 1,
        type: draft.type,
        node: draft.node,
        parentId,
        time,
        body: draft.body,
        byOwner: batch.author.kind !== "outside",
      };
      const { place, opened, target, head: next } = placeEntry(head, placing, find);
      if (draft.type === "compaction")
        checkBoundary({ draft, parentId, inBatch: entries, kept: state.kept.get(id) });
      head = next;
      if (opened !== null) segments.push(opened);
      if (place !== null && opened === null && parentId !== null) {
        const parent = find(parentId);
        if (parent !== undefined) overlay.set(parentId, { ...parent, tip: false });
      }
      overlay.set(id, { id, place, tip: place !== null });
      entries.push({
        v: FORMAT_VERSION,
        id,
        seq: placing.seq,
        parentId,
        time,
        type: draft.type,
        payload: draft.payload,
        place,
        target,
      });
    }
  } catch (error) {
    // Each draft placed so far is one entry, so their number says which one is meant.
    throw isLogError(error) ? aboutDraft(error, entries.length) : error;
  }
  const range = {
    fromSeq: state.head.headSeq + 1,
    toSeq: head.headSeq,
    lastId: entries.at(-1)?.id ?? head.leaf.id,
  };
  return {
    kind: "write",
    entries,
    segments,
    head,
    result: { ...range, ids: entries.map((e) => e.id), deduped: false, differs: false },
  };
}

/** The same error, with the place in the batch of the entry it is about. */
function aboutDraft(error: LogError, index: number): LogError {
  return new LogError(error.code, error.message, { ...error.details, index }, { cause: error });
}

function leafKnown(head: Head): Known {
  const { id, tip, conversation, segment, depth } = head.leaf;
  return { id, tip, place: { conversation, segment, depth } };
}

/** The parent a node gets: the one it names, else the leaf, which is the node before it in the batch. */
function parentFor(draft: Draft, head: Head): EntryId | null {
  if (draft.parentId !== undefined) return draft.parentId;
  return head.leaf.depth === -1 ? null : head.leaf.id;
}

function checkAuthor(state: AppendState, author: Author): number {
  const { head, lease, nowMs } = state;
  if (author.kind === "outside") return head.epoch;
  if (author.kind === "owner" && author.epoch !== head.epoch) {
    throw new LogError(
      "fenced",
      `Another writer took over (epoch ${head.epoch}, yours is ${author.epoch}); nothing was written`,
      {
        epoch: head.epoch,
        yours: author.epoch,
      },
    );
  }
  if (author.kind === "once") checkFree(head, lease, nowMs);
  if (author.expected !== undefined && (author.expected < head.ownerSeq || author.expected > head.headSeq)) {
    throw new LogError(
      "head_moved",
      `Expected the log to end at ${author.expected}, but it is at ${head.headSeq}; nothing was written`,
      {
        expected: author.expected,
        ownerSeq: head.ownerSeq,
        headSeq: head.headSeq,
      },
    );
  }
  return author.kind === "once" ? head.epoch + 1 : head.epoch;
}

function checkSize(batch: Batch): void {
  const count = batch.drafts.length;
  if (count === 0) throw new LogError("invalid_request", "There is nothing to append");
  if (count > BATCH_ENTRIES_MAX) {
    throw new LogError("too_large", `A batch may have ${BATCH_ENTRIES_MAX} entries, this one has ${count}`, {
      limit: BATCH_ENTRIES_MAX,
    });
  }
}

function checkDraft(draft: Draft, author: Author, head: Head): void {
  if (author.kind === "outside" && !OUTSIDE_TYPES.includes(draft.type)) {
    throw new LogError(
      "invalid_request",
      `A ${draft.type} entry belongs to the owner; from outside only ${OUTSIDE_TYPES.join(", ")} are taken`,
    );
  }
  if (draft.type === "conversation" && head.headSeq !== 0) {
    throw new LogError("invalid_entry", "A conversation entry begins a log and stands nowhere else");
  }
  if (draft.type !== "conversation" && head.headSeq === 0) {
    throw new LogError("invalid_entry", "A log begins with its conversation entry");
  }
}
