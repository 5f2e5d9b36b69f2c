import type { PlannedEntry, StampedDraft } from "#log/batch";
import type { Draft } from "#log/body";
import { decodeEntry } from "#log/codec";
import type { Entry, EntryOf } from "#log/entry";
import { LogError } from "#log/errors";
import type { Tip } from "#log/lineage/head";
import type { EntryId } from "#log/ids";

/** How far behind the boundary is looked for a tool call that still waits: a reply's worth of parallel results. */
export const LOOKBACK_NODES = 64;

export interface TailRead {
  readonly compaction: EntryId;
  readonly from: EntryId;
  /** Null when the compaction keeps nothing. */
  readonly firstKept: EntryId | null;
}

/**
 * The stored nodes a store must read before the batch's compactions can be judged: from `from` back to `firstKept` and
 * LOOKBACK_NODES further. Bounded by the tails they keep.
 */
export function tailReads(head: Pick<Tip, "leaf">, drafts: readonly StampedDraft[]): readonly TailRead[] {
  if (!drafts.some(({ draft }) => draft.type === "compaction")) return [];
  const reads: TailRead[] = [];
  // Nodes of the batch itself stand for the stored node they descend from.
  const storedUnder = new Map<EntryId, EntryId>();
  const stored = (id: EntryId): EntryId => storedUnder.get(id) ?? id;
  let leaf = head.leaf.id;
  for (const { draft, id } of drafts) {
    const parent = draft.parentId ?? leaf;
    if (draft.type === "compaction") {
      const firstKept = (draft.body["firstKeptEntryId"] as EntryId | undefined) ?? null;
      const inBatch = firstKept !== null && storedUnder.has(firstKept);
      reads.push({ compaction: id, from: stored(parent), firstKept: inBatch ? null : firstKept });
    }
    if (draft.node) {
      storedUnder.set(id, stored(parent));
      leaf = id;
    } else if (draft.type === "leaf") leaf = draft.body["target"] as EntryId;
  }
  return reads;
}

/** A boundary lies on the path, behind the last reset and the previous boundary, and never inside a tool pair. */
export function checkBoundary(input: {
  readonly draft: Draft;
  readonly parentId: EntryId | null;
  readonly inBatch: readonly PlannedEntry[];
  readonly tail: readonly Entry[] | undefined;
}): void {
  const firstKept = input.draft.body["firstKeptEntryId"] as EntryId | undefined;
  const path = pathBefore(input.inBatch, input.tail, input.parentId);
  const cut = firstKept === undefined ? path.length : path.findIndex((entry) => entry.id === firstKept);
  if (cut === -1) {
    throw new LogError(
      "invalid_boundary",
      `The first kept entry ${firstKept} is not on the branch of the compaction`,
      { firstKept: firstKept ?? null },
    );
  }
  const range = path.slice(cut);
  for (const entry of range) {
    if (entry.type === "reset") {
      throw new LogError("invalid_boundary", "A compaction cannot keep entries from before a reset", {
        reset: entry.id,
      });
    }
    if (entry.type === "compaction" && crossesBoundary(entry, range)) {
      throw new LogError(
        "invalid_boundary",
        `An earlier summary already covers the entries before ${entry.firstKeptEntryId ?? entry.id}. Keep from there or later.`,
      );
    }
  }
  checkPairs(path.slice(0, cut), range);
}

/** No result is kept without its call, and no call is summarised away while its result may still come. */
function checkPairs(before: readonly Entry[], range: readonly Entry[]): void {
  const calls = new Set(range.flatMap((entry) => callsOf(entry)));
  for (const entry of range) {
    if (entry.type !== "message" || entry.message.role !== "toolResult") continue;
    if (!calls.has(entry.message.toolCallId)) throw parted(entry.message.toolCallId);
  }
  if (range.some(isReply)) return;
  const last = before.findLastIndex(isReply);
  const answered = new Set([...before.slice(last + 1), ...range].flatMap((entry) => answerOf(entry)));
  const reply = before[last];
  const open = reply === undefined ? undefined : callsOf(reply).find((call) => !answered.has(call));
  if (open !== undefined) throw parted(open);
}

function parted(toolCallId: string): LogError {
  return new LogError(
    "invalid_boundary",
    `This boundary separates tool call ${toolCallId} from its result. Keep from the call, or from after the result.`,
    { toolCallId },
  );
}

function isReply(entry: Entry): boolean {
  return entry.type === "message" && entry.message.role === "assistant";
}

function callsOf(entry: Entry): readonly string[] {
  if (entry.type !== "message" || entry.message.role !== "assistant") return [];
  return entry.message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
}

function answerOf(entry: Entry): readonly string[] {
  return entry.type === "message" && entry.message.role === "toolResult" ? [entry.message.toolCallId] : [];
}

/** The previous boundary lies after the new one: entries between them would be both summarized and kept. */
function crossesBoundary(compaction: EntryOf<"compaction">, range: readonly Entry[]): boolean {
  const previous = compaction.firstKeptEntryId ?? compaction.id;
  return range.findIndex((entry) => entry.id === previous) > 0;
}

/** The known part of the compaction's own path, oldest first: stored nodes, then those of the batch itself. */
function pathBefore(
  inBatch: readonly PlannedEntry[],
  tail: readonly Entry[] | undefined,
  from: EntryId | null,
): readonly Entry[] {
  const path: Entry[] = [];
  let index = from;
  for (const entry of inBatch.toReversed()) {
    if (entry.id !== index || entry.place === null) continue;
    path.push(decodeEntry({ ...entry, seq: 0 })); // only its body counts here
    index = entry.parentId;
  }
  const stored = tail?.[0]?.id === index ? tail : [];
  return [...stored.toReversed(), ...path.toReversed()];
}
