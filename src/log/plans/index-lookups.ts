import type { Batch, StampedDraft } from "#log/batch";
import { decodeEntry } from "#log/codec";
import type { StoredEntry } from "#log/entry";
import { isNode } from "#log/entry-types";
import type { ConversationId, EntryId } from "#log/ids";
import type { Head, EntryPosition } from "#log/lineage/head";
import { findVisible, type LogNode, type Lineage, pageBack } from "#log/lineage/lineage";
import { LogIndex } from "#log/lineage/log-index";
import { tailReads, LOOKBACK_NODES } from "./boundary.ts";
import { summaryAfter } from "./head-change.ts";
import { refsOf, type WritePlan } from "./plan-append.ts";

/** What the entries of a batch refer to, as far as the conversation has it. */
export function findPositions(
  lineage: Lineage,
  conversation: ConversationId,
  drafts: readonly StampedDraft[],
): ReadonlyMap<EntryId, EntryPosition> {
  const positions = new Map<EntryId, EntryPosition>();
  for (const id of refsOf(drafts)) {
    const position = findVisible(lineage, conversation, id);
    if (position !== undefined) positions.set(id, position);
  }
  return positions;
}

/** The nodes that each compaction of a batch keeps, newest first; none for one whose first kept node is off the path. */
export function compactionTails(
  lineage: Lineage,
  conversation: ConversationId,
  drafts: readonly StampedDraft[],
): ReadonlyMap<EntryId, readonly LogNode[]> {
  const tails = new Map<EntryId, readonly LogNode[]>();
  const head = lineage.get(conversation)?.head;
  for (const request of head === undefined ? [] : tailReads(head, drafts)) {
    const first = request.firstKept ?? request.from;
    const from = findVisible(lineage, conversation, request.from)?.place;
    const until = findVisible(lineage, conversation, first)?.place;
    if (!from || !until || until.depth > from.depth) continue;
    const count = from.depth - until.depth + 1;
    const { nodes } = pageBack(lineage, from, count + LOOKBACK_NODES);
    if (nodes[count - 1]?.id === first) tails.set(request.compaction, nodes);
  }
  return tails;
}

/**
 * The index of a log, made anew of what a store keeps: its head, and its own entries in order of seq. A fork needs the
 * indexes of all that it was forked from.
 */
export function indexLog(head: Head, entries: Iterable<StoredEntry>, sources: Lineage): LogIndex {
  const { conversation, origin, createdAt } = head;
  const index = new LogIndex(conversation, origin, createdAt);
  const lineage = new Map([...sources, [conversation, index]]);
  const find = (id: EntryId): EntryPosition | undefined => findVisible(lineage, conversation, id);
  for (const stored of entries) {
    const entry = decodeEntry(stored);
    const byOwner = stored.seq <= head.ownerSeq; // of all that were, only the last one counts
    index.apply({ ...stored, node: isNode(entry), body: { ...entry }, byOwner }, find);
  }
  index.setEpoch(head.epoch);
  index.setLinks(head);
  index.setSummary(head.summary);
  return index;
}

/** Takes a plan into the index of its log; `find` also answers for what the conversation inherits. */
export function indexPlan(
  index: LogIndex,
  plan: WritePlan,
  batch: Pick<Batch, "drafts">,
  find: (id: EntryId) => EntryPosition | undefined,
): void {
  const { headSeq, epoch } = index.head;
  const { byOwner } = plan.change;
  index.setSummary(summaryAfter(index.head, plan.change));
  index.setEpoch(plan.change.epoch ?? epoch);
  for (const { offset, ...entry } of plan.entries) {
    const draft = batch.drafts[offset]?.draft;
    if (draft === undefined) continue;
    index.apply({ ...entry, seq: headSeq + 1 + offset, node: draft.node, body: draft.body, byOwner }, find);
  }
}
