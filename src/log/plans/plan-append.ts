import type { AppendResult, AppendState, Batch, PlannedEntry, StampedDraft } from "#log/batch";
import type { Draft } from "#log/body";
import { batchLink, entryDigest, type Hash } from "#log/batch-links";
import { checkBoundary } from "./boundary.ts";
import { type EntryType, FORMAT_VERSION, type StoredEntry } from "#log/entry";
import { isSetting, targetOf } from "#log/entry-types";
import { isLogError, LogError } from "#log/errors";
import {
  type Head,
  type EntryPosition,
  type Place,
  placeEntry,
  type Segment,
  type SettingPlaces,
  type Tip,
} from "#log/lineage/head";
import type { EntryId } from "#log/ids";
import { summaryChanges } from "#log/summary";
import { type HeadChange, headFieldsOf } from "./head-change.ts";
import { checkAuthor, checkOutside, checkSize } from "./check-author.ts";

/** What a plan rests on: the store checks under its lock that it still holds. Null: the plan rests on nothing. */
export interface Basis {
  readonly epoch: number;
  readonly ownerSeq: number;
  readonly ownerLink: string | null;
}

/** A batch that may be written: rows with their distance from the head, and what they change of it. */
export interface WritePlan {
  readonly kind: "write";
  readonly basis: Basis | null;
  readonly entries: readonly PlannedEntry[];
  readonly segments: readonly OpenedSegment[];
  readonly change: HeadChange;
}

/** A segment with the settings that hold where it begins, so that they are found without hopping segments. */
export interface OpenedSegment extends Segment {
  readonly settings: SettingPlaces;
}

/** What becomes of an append. A refusal is an outcome like the others: nothing was written. */
export type AppendPlan =
  | WritePlan
  | {
      readonly kind: "deduped";
      readonly result: Omit<AppendResult, "ids">;
    }
  | { readonly kind: "refused"; readonly error: LogError };

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

/** The stored nodes that may become parents of a new segment: a store must know where their settings lie. */
export function parentsOf(head: Tip, drafts: readonly StampedDraft[]): ReadonlySet<EntryId> {
  const parents = new Set<EntryId>();
  const { leaf, conversation } = head;
  const continues = leaf.depth === -1 || (leaf.tip && leaf.conversation === conversation);
  for (const { draft } of drafts) {
    if (draft.parentId) parents.add(draft.parentId);
    if (draft.type === "leaf") parents.add(draft.body["target"] as EntryId);
  }
  // The usual batch continues at the end of the branch, opens no segment, and needs no lookup.
  if (parents.size > 0 || !continues) parents.add(leaf.id);
  for (const { id } of drafts) parents.delete(id);
  return parents;
}

/** Key, then epoch, then head, then every entry; the first rule broken refuses the whole batch. */
export function planAppend(state: AppendState, batch: Batch): AppendPlan {
  if (state.seen !== null) {
    const { digest, ...range } = state.seen;
    const { ownerLink } = state.head;
    return {
      kind: "deduped",
      result: { ...range, deduped: true, differs: digest !== batch.digest, ownerLink },
    };
  }
  try {
    const epoch = checkAuthor(state, batch.author);
    checkSize(batch);
    for (const [index, { draft }] of batch.drafts.entries())
      if (draft.type === "conversation")
        throw aboutDraft(
          new LogError("invalid_entry", "Only the first entry of a log can be a conversation entry"),
          index,
        );
    return planEntries(state, batch, epoch);
  } catch (error) {
    if (isLogError(error)) return { kind: "refused", error };
    throw error;
  }
}

/** Places every entry; throws for the first that may not stand where it wants to. */
export function planEntries(
  state: Pick<AppendState, "head" | "positions" | "tails" | "settings">,
  batch: Batch,
  epoch: number,
): WritePlan {
  const { head, positions } = state;
  const { author } = batch;
  const byOwner = author.kind !== "outside";
  const entries: PlannedEntry[] = [];
  const segments: OpenedSegment[] = [];
  const settings = new SettingsInBatch(state.settings);
  const overlay = new Map<EntryId, EntryPosition>();
  const find = (id: EntryId): EntryPosition | undefined =>
    overlay.get(id) ?? (id === head.leaf.id ? leafPosition(head) : positions.get(id));
  let tip: Tip = { conversation: head.conversation, leaf: head.leaf, segments: head.segments };
  const naming: { title?: string; cwd?: string } = {};
  try {
    for (const { draft, id, time } of batch.drafts) {
      checkOutside(draft, author);
      if (overlay.has(id) || positions.has(id) || id === head.leaf.id) {
        throw new LogError("duplicate_id", `Entry ${id} already exists`, { entry: id });
      }
      const { type, node, body, payload } = draft;
      const parentId = node ? parentFor(draft, tip) : null;
      const { place, opened, target, tip: next } = placeEntry(tip, { id, type, node, parentId, body }, find);
      if (type === "compaction")
        checkBoundary({ draft, parentId, inBatch: entries, tail: state.tails.get(id) });
      tip = next;
      Object.assign(naming, headFieldsOf(type, body));
      if (opened !== null) segments.push({ ...opened, settings: settings.placesOf(parentId) });
      if (place !== null) settings.add({ id, type, parentId, place });
      if (place !== null && opened === null && parentId !== null) {
        const parent = find(parentId);
        if (parent !== undefined) overlay.set(parentId, { ...parent, tip: false });
      }
      overlay.set(id, { id, place, tip: place !== null });
      entries.push({
        v: FORMAT_VERSION,
        offset: entries.length,
        id,
        parentId,
        time,
        type,
        payload,
        place,
        target,
      });
    }
  } catch (error) {
    // Each draft placed so far is one entry, so their number says which one is meant.
    throw isLogError(error) ? aboutDraft(error, entries.length) : error;
  }
  const moved = byOwner ? { epoch, leaf: tip.leaf } : {};
  return {
    kind: "write",
    basis: byOwner ? { epoch: head.epoch, ownerSeq: head.ownerSeq, ownerLink: head.ownerLink } : null,
    entries,
    segments,
    change: {
      entries: entries.length,
      byOwner,
      segments: tip.segments - head.segments,
      updatedAt: entries.at(-1)?.time ?? "",
      summary: summaryChanges(batch.drafts, head.summary?.inheritedUpTo),
      ...moved,
      ...naming,
    },
  };
}

/** Where the settings lie that hold at the nodes of a batch, while it is being placed. */
class SettingsInBatch {
  readonly #stored: ReadonlyMap<EntryId, SettingPlaces>;
  readonly #inBatch = new Map<EntryId, SettingPlaces>();

  constructor(stored: ReadonlyMap<EntryId, SettingPlaces>) {
    this.#stored = stored;
  }

  placesOf(node: EntryId | null): SettingPlaces {
    return node === null ? {} : (this.#inBatch.get(node) ?? this.#stored.get(node) ?? {});
  }

  add(node: { id: EntryId; type: EntryType; parentId: EntryId | null; place: Place }): void {
    const above = this.placesOf(node.parentId);
    this.#inBatch.set(node.id, isSetting(node.type) ? { ...above, [node.type]: node.place } : above);
  }
}

/** The entries of a plan with their seqs, written after an entry. */
export function storedEntries(plan: WritePlan, headSeq: number): readonly StoredEntry[] {
  return plan.entries.map(({ v, id, offset, parentId, time, type, payload }) => ({
    v,
    id,
    seq: headSeq + 1 + offset,
    parentId,
    time,
    type,
    payload,
  }));
}

/** The link of a plan's batch, made under the store's lock, so that links follow the order of seqs for every writer. */
export function linkOf(
  hash: Hash,
  plan: WritePlan,
  place: {
    readonly headSeq: number;
    readonly previous: string;
    /** Of the entries, where they are known. */
    readonly digests?: readonly string[];
  },
): string {
  const { change } = plan;
  const entries = plan.entries.map((entry) => ({
    parentId: entry.parentId,
    digest: place.digests?.[entry.offset] ?? entryDigest(hash, entry),
  }));
  return batchLink(hash, {
    v: FORMAT_VERSION,
    previous: place.previous,
    firstSeq: place.headSeq + 1,
    byOwner: change.byOwner,
    entries,
  });
}

/** What a plan became once it was written. */
export function resultOf(plan: WritePlan, after: Pick<Head, "headSeq" | "ownerLink">): AppendResult {
  const ids = plan.entries.map((entry) => entry.id);
  return resultFrom(ids, after.headSeq - ids.length + 1, after.ownerLink);
}

/** The entries written in a row from one on. */
export function resultFrom(ids: readonly EntryId[], fromSeq: number, ownerLink: string | null): AppendResult {
  const range = { fromSeq, toSeq: fromSeq + ids.length - 1, lastId: ids.at(-1) ?? "" };
  return { ...range, ids, deduped: false, differs: false, ownerLink };
}

/**
 * Whether a plan may still be carried out on a head as it is now. It may unless another owner has written since: what
 * came from outside disturbs nobody.
 */
export function holdsFor(plan: WritePlan, head: Basis): boolean {
  const { basis } = plan;
  return (
    basis === null ||
    (basis.epoch === head.epoch && basis.ownerSeq === head.ownerSeq && basis.ownerLink === head.ownerLink)
  );
}

/** The same error, with the place in the batch of the entry it is about. */
function aboutDraft(error: LogError, index: number): LogError {
  return new LogError(error.code, error.message, { ...error.details, index }, { cause: error });
}

function leafPosition(head: Tip): EntryPosition {
  const { id, tip, conversation, segment, depth } = head.leaf;
  return { id, tip, place: { conversation, segment, depth } };
}

/** The parent a node gets: the one it names, else the leaf, which is the node before it in the batch. */
function parentFor(draft: Draft, { leaf }: Tip): EntryId | null {
  if (draft.parentId !== undefined) return draft.parentId;
  return leaf.depth === -1 ? null : leaf.id;
}
