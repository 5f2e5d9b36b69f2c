import type { PlacedEntry, StampedDraft } from "./batch.ts";
import type { Draft } from "./body.ts";
import { decodeEntry } from "./codec.ts";
import type { Entry, EntryOf } from "./entry.ts";
import { LogError } from "./errors.ts";
import type { Head } from "./head.ts";
import type { EntryId } from "./ids.ts";

export interface KeptRead {
  readonly compaction: EntryId;
  readonly from: EntryId;
  readonly firstKept: EntryId;
}

/**
 * The stored nodes a store must read before the batch's compactions can be judged: from `from` back to `firstKept`.
 * Bounded by the tails they keep; a compaction whose kept tail lies in the batch itself needs nothing.
 */
export function keptReads(head: Head, drafts: readonly StampedDraft[]): readonly KeptRead[] {
  const reads: KeptRead[] = [];
  // Nodes of the batch itself stand for the stored node they descend from.
  const storedUnder = new Map<EntryId, EntryId>();
  const stored = (id: EntryId): EntryId => storedUnder.get(id) ?? id;
  let leaf = head.leaf.id;
  for (const { draft, id } of drafts) {
    const parent = draft.parentId ?? leaf;
    if (draft.type === "compaction" && draft.body["firstKeptEntryId"] !== undefined) {
      const firstKept = draft.body["firstKeptEntryId"] as EntryId;
      if (!storedUnder.has(firstKept)) reads.push({ compaction: id, from: stored(parent), firstKept });
    }
    if (draft.node) {
      storedUnder.set(id, stored(parent));
      leaf = id;
    } else if (draft.type === "leaf") leaf = draft.body["target"] as EntryId;
  }
  return reads;
}

/** A boundary lies on the path, behind the last reset and the previous boundary, and never inside a tool pair. */
export function checkBoundary(given: {
  readonly draft: Draft;
  readonly parentId: EntryId | null;
  readonly inBatch: readonly PlacedEntry[];
  readonly kept: readonly Entry[] | undefined;
}): void {
  const firstKept = given.draft.body["firstKeptEntryId"] as EntryId | undefined;
  if (firstKept === undefined) return;
  const range = keptRange(given.inBatch, given.kept, { from: given.parentId, firstKept });
  if (range === null) {
    throw new LogError(
      "invalid_boundary",
      `The first kept entry ${firstKept} is not on the path of the compaction`,
      { firstKept },
    );
  }
  const calls = new Set<string>();
  for (const entry of range) {
    if (entry.type === "reset") {
      throw new LogError("invalid_boundary", "A compaction cannot keep entries from before a reset", {
        firstKept,
        reset: entry.id,
      });
    }
    if (entry.type === "compaction" && crossesBoundary(entry, range)) {
      throw new LogError(
        "invalid_boundary",
        `Entries from before ${entry.firstKeptEntryId ?? entry.id} are in an earlier summary already; keep from there or later`,
        {
          firstKept,
        },
      );
    }
    if (entry.type !== "message") continue;
    const { message } = entry;
    if (message.role === "assistant")
      for (const block of message.content) if (block.type === "toolCall") calls.add(block.id);
    if (message.role === "toolResult" && !calls.has(message.toolCallId)) {
      throw new LogError(
        "invalid_boundary",
        `Keeping from ${firstKept} would part the tool call ${message.toolCallId} from its result; keep from the call or from after the result`,
        {
          firstKept,
          toolCallId: message.toolCallId,
        },
      );
    }
  }
}

/** The previous boundary lies after the new one: what is between them would be summary and kept at once. */
function crossesBoundary(compaction: EntryOf<"compaction">, range: readonly Entry[]): boolean {
  const previous = compaction.firstKeptEntryId ?? compaction.id;
  return range.findIndex((entry) => entry.id === previous) > 0;
}

/** The kept nodes oldest first: stored ones, then those of the batch itself, along the compaction's own path. */
function keptRange(
  inBatch: readonly PlacedEntry[],
  kept: readonly Entry[] | undefined,
  span: { readonly from: EntryId | null; readonly firstKept: EntryId },
): readonly Entry[] | null {
  const range: Entry[] = [];
  let at = span.from;
  for (let index = inBatch.length - 1; index >= 0; index--) {
    const entry = inBatch[index];
    if (entry === undefined || entry.id !== at || entry.place === null) continue;
    range.push(decodeEntry(entry));
    if (entry.id === span.firstKept) return range.toReversed();
    at = entry.parentId;
  }
  if (kept === undefined || kept[0]?.id !== at || kept.at(-1)?.id !== span.firstKept) return null;
  return [...kept.toReversed(), ...range.toReversed()];
}
