import { decodeEntry, presentEntry } from "#log/codec";
import type { ConversationId } from "#log/ids";
import type { ForkPoint, Place } from "#log/lineage/head";
import type { SpaceStore } from "#store/facets";
import type { BranchEntry } from "./history-pages.ts";
import { SCAN_ENTRIES, stretches } from "./read-log.ts";
import type { ConversationReader } from "./conversation-reader.ts";
import type { OnSpace } from "./on-space.ts";
import { spaceOf } from "./on-space.ts";

interface BranchPage {
  readonly entries: readonly BranchEntry[];
  readonly size: number;
  /** The depth the next page starts at. */
  readonly next: number | null;
}

/** A branch that ends at a node, from a depth on, oldest first: the first page is there before the last is read. */
export async function* branchPages(
  log: ConversationReader,
  end: Place,
  fromDepth: number = 0,
): AsyncGenerator<readonly BranchEntry[]> {
  if (fromDepth > end.depth) return;
  const [space, conversation] = [spaceOf(log), log.id];
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
export async function sharedDepth(of: OnSpace, one: BranchEnd, other: BranchEnd): Promise<number> {
  const space = spaceOf(of);
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

/** A stretch of a branch that one log holds. */
export interface LogOnBranch {
  readonly conversation: ConversationId;
  /** The depth of its first node. */
  readonly from: number;
}

/**
 * The logs that hold a stretch of a branch, oldest first, and how many nodes of the whole branch are inherited. A
 * conversation holds the end of a branch and its sources what lies above, each in one piece.
 */
export async function logsOnBranch(
  space: SpaceStore,
  branch: BranchEnd,
  stretch: { readonly first: number; readonly last: number },
  origin: ForkPoint | null,
): Promise<{ readonly logs: readonly LogOnBranch[]; readonly inherited: number }> {
  const { conversation, end } = branch;
  const owners = new Map<number, ConversationId>();
  const holderAt = async (depth: number): Promise<ConversationId> => {
    if (depth > (origin?.depth ?? -1)) return conversation;
    const holder = owners.get(depth) ?? (await placeAtDepth(space, branch, depth))?.conversation;
    owners.set(depth, holder ?? conversation);
    return holder ?? conversation;
  };
  const startOf = async (holder: ConversationId, from: number, until: number): Promise<number> => {
    let [low, high] = [from, until];
    // Most often one log holds all of it.
    for (let depth = low; low < high; depth = (low + high) >> 1)
      if ((await holderAt(depth)) === holder) high = depth;
      else low = depth + 1;
    return low;
  };
  const logs: LogOnBranch[] = [];
  for (let at = stretch.last; at >= stretch.first;) {
    const holder = await holderAt(at);
    const from = await startOf(holder, stretch.first, at);
    logs.unshift({ conversation: holder, from });
    at = from - 1;
  }
  const deepest = Math.min(end.depth, origin?.depth ?? -1); // that may be inherited
  const isAll = deepest === -1 || (await holderAt(deepest)) !== conversation;
  return { logs, inherited: isAll ? deepest + 1 : await startOf(conversation, 0, deepest) };
}

function isSamePlace(one: Place | null, other: Place | null): boolean {
  return (
    one !== null &&
    one.conversation === other?.conversation &&
    one.segment === other.segment &&
    one.depth === other.depth
  );
}
