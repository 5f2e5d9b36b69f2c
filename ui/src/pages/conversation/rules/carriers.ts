import { sourceAt } from "../thread/branch-nodes.ts";
import { carrierAt, type ThreadState } from "../thread/thread-state.ts";

const REACH = 50; // a setting stands near a message

/** The sessions that a range of the chain names: what is known before each message is asked for, and all there is to know of one session. */
function byRange(
  { branch, links, live }: ThreadState,
  seq: number,
  source: string | null,
): readonly number[] {
  const found = carrierAt(links, seq, source);
  if (found !== null) return [found];
  const last = links.length - 1;
  // Of the turn that runs: the chain is told anew once it is over.
  const isNew = live.turn !== null && source === null && seq > (links[last]?.carried?.toSeq ?? 0);
  return isNew && links[last]?.inherited === false && branch !== null ? [last] : [];
}

/**
 * Which sessions carried what stands at a place, by their places in the chain, the first of them first: as each message is stamped.
 * What is no message goes with the one before it.
 */
export function carriersAt(state: ThreadState, place: number): readonly number[] {
  const { branch, stamps } = state;
  if (branch === null) return [];
  for (let at = place; at >= Math.max(0, place - REACH); at--) {
    const entry = branch.nodes.get(at);
    if (entry === undefined) return [];
    if (entry.type !== "message") continue;
    const carriers = stamps.get(entry.id) ?? byRange(state, entry.seq, sourceAt(branch, at));
    return at === place ? carriers : carriers.slice(-1);
  }
  return [];
}
