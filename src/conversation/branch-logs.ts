import { isLogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import type { HeadView } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { type BranchEnd, placeAtDepth } from "./branch-pages.ts";

/** A log that a branch leads through, as far as the branch's conversation sees it. */
export interface LogOnBranch {
  readonly conversation: ConversationId;
  /** Nothing after this seq is seen of it. */
  readonly upTo: number;
  /** The depths of the branch that lie in it: none where the first is beyond the last. */
  readonly firstDepth: number;
  readonly lastDepth: number;
}

/** The logs of a branch: the conversation's own, then those it was forked from. An erased one has nothing left to tell. */
export async function* logsOnBranch(space: SpaceStore, branch: BranchEnd): AsyncGenerator<LogOnBranch> {
  const passed = new Set<ConversationId>();
  let log: ConversationId = branch.conversation;
  let [upTo, lastDepth] = [Number.POSITIVE_INFINITY, branch.end.depth];
  for (;;) {
    const head = await headOf(space, log);
    if (head === null) return;
    passed.add(log);
    const { origin } = head;
    const firstDepth =
      origin === null ? 0 : await firstOwn(space, branch, passed, Math.min(origin.depth, lastDepth));
    yield { conversation: log, upTo, firstDepth, lastDepth };
    if (origin === null) return;
    [log, upTo, lastDepth] = [origin.source, origin.head, Math.min(lastDepth, firstDepth - 1)];
  }
}

/** The depth of the first node that one of these logs holds, up to the one behind `depth`; those behind it are held by them. */
async function firstOwn(
  space: SpaceStore,
  branch: BranchEnd,
  logs: ReadonlySet<ConversationId>,
  depth: number,
): Promise<number> {
  const isHeld = async (at: number): Promise<boolean> => {
    const place = at < 0 ? null : await placeAtDepth(space, branch, at);
    return place !== null && logs.has(place.conversation);
  };
  // Most forks grow from where they began; others went back among what they inherited.
  let [low, high] = [-1, depth + 1];
  if (!(await isHeld(depth))) return high;
  high = depth;
  while (high - low > 1) {
    const middle = Math.ceil((low + high) / 2);
    if (await isHeld(middle)) high = middle;
    else low = middle;
  }
  return high;
}

async function headOf(space: SpaceStore, conversation: ConversationId): Promise<HeadView | null> {
  try {
    return await space.head(conversation);
  } catch (error) {
    if (isLogError(error, "conversation_not_found")) return null;
    throw error;
  }
}

/** How deep the last node of a log lies on a branch that was there at a seq; null where none was. */
export async function depthAtSeq(
  space: SpaceStore,
  { conversation, end }: BranchEnd,
  { firstDepth, lastDepth }: Pick<LogOnBranch, "firstDepth" | "lastDepth">,
  seq: number,
): Promise<number | null> {
  // A node comes after its parent, so along a branch the seqs of one log grow.
  let [low, high] = [firstDepth - 1, lastDepth];
  let depth = high; // most often nothing came after it
  while (low < high) {
    const [node] = (await space.page({ conversation, from: end, depth, limit: 1 })).entries;
    if (node !== undefined && node.seq <= seq) low = depth;
    else high = depth - 1;
    depth = Math.ceil((low + high) / 2);
  }
  return low < firstDepth ? null : low;
}
