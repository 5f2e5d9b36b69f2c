import { decodeEntry, presentEntry } from "#log/codec";
import type { ConversationId } from "#log/ids";
import type { Place } from "#log/lineage/head";
import type { SpaceStore } from "#store/facets";
import type { BranchEntry } from "./history-pages.ts";
import { SCAN_ENTRIES, stretches } from "./read-log.ts";

interface BranchPage {
  readonly entries: readonly BranchEntry[];
  readonly size: number;
  /** The depth the next page starts at. */
  readonly next: number | null;
}

/** A branch that ends at a node, from a depth on, oldest first: the first page is there before the last is read. */
export async function* branchPages(
  space: SpaceStore,
  conversation: ConversationId,
  end: Place,
  fromDepth: number = 0,
): AsyncGenerator<readonly BranchEntry[]> {
  if (fromDepth > end.depth) return;
  const read = async (from: number | null, scan: boolean): Promise<BranchPage> => {
    const first = from ?? fromDepth;
    const depth = Math.min(first + SCAN_ENTRIES - 1, end.depth);
    const page = await space.page({ conversation, from: end, depth, limit: depth - first + 1, scan });
    const entries = page.entries.map((stored) =>
      Object.assign(presentEntry(decodeEntry(stored)), { hidden: page.hidden.has(stored.id) }),
    );
    return {
      entries: entries.toReversed(),
      size: entries.length,
      next: depth < end.depth ? depth + 1 : null,
    };
  };
  for await (const { entries } of stretches<number, BranchPage>(read)) yield entries;
}

/** A branch by its end, as a conversation sees it. */
export interface BranchEnd {
  readonly conversation: ConversationId;
  readonly end: Place;
}

/** Where the node of a depth lies; null where the branch has none there. */
export async function placeAtDepth(
  space: SpaceStore,
  { conversation, end }: BranchEnd,
  depth: number,
): Promise<Place | null> {
  if (depth === end.depth) return end;
  return (await space.page({ conversation, from: end, depth: depth + 1, limit: 1 })).next;
}

/**
 * The depth of the last node that two branches share, of one conversation or of several; only nodes before it are shared,
 * too. -1: they share none. Nodes are told apart by where they lie: anyone may give ids, and give them twice.
 */
export async function sharedDepth(space: SpaceStore, one: BranchEnd, other: BranchEnd): Promise<number> {
  let [low, high] = [-1, Math.min(one.end.depth, other.end.depth)];
  let depth = high; // most often one is the other, continued
  while (low < high) {
    if (isSamePlace(await placeAtDepth(space, one, depth), await placeAtDepth(space, other, depth)))
      low = depth;
    else high = depth - 1;
    depth = Math.ceil((low + high) / 2);
  }
  return low;
}

function isSamePlace(one: Place | null, other: Place | null): boolean {
  return (
    one !== null &&
    one.conversation === other?.conversation &&
    one.segment === other.segment &&
    one.depth === other.depth
  );
}
