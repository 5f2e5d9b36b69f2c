import { decodeEntry, presentEntry } from "#log/codec";
import type { EntryId } from "#log/ids";
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

/** The depth of the last node that two branches of a conversation share; only nodes before it are shared, too. */
export async function sharedDepth(
  space: SpaceStore,
  conversation: ConversationId,
  one: Place,
  other: Place,
): Promise<number> {
  const idAt = async (from: Place, depth: number): Promise<EntryId | undefined> =>
    (await space.page({ conversation, from, depth, limit: 1 })).entries[0]?.id;
  let [low, high] = [0, Math.min(one.depth, other.depth)];
  let depth = high; // most often one is the other, continued
  while (low < high) {
    if ((await idAt(one, depth)) === (await idAt(other, depth))) low = depth;
    else high = depth - 1;
    depth = Math.ceil((low + high) / 2);
  }
  return low;
}
