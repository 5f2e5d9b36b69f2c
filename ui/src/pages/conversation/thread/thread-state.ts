import type { Api } from "#edges/http/client/index";
import type { Entry } from "#log/entry";
import { type BranchNodes, withHidden, withNode } from "./branch-nodes.ts";
import { type LiveTurn, liveTurnAfter, NO_TURN } from "./live-turn.ts";
import { NO_SIBLINGS, type Siblings } from "./siblings.ts";
import { FACT_TYPES } from "./turn-facts.ts";

export type Links = Api["getChain"]["response"]["links"];

/** All that a thread shows. */
export interface ThreadState {
  readonly branch: BranchNodes | null;
  /** By their seq. */
  readonly facts: ReadonlyMap<number, Entry>;
  readonly labels: ReadonlyMap<string, string>;
  readonly live: LiveTurn;
  readonly siblings: Siblings;
  readonly links: Links;
  /** By the ids of messages: which links carried each, in turn. */
  readonly stamps: ReadonlyMap<string, readonly number[]>;
  readonly error: unknown;
}

export const NO_THREAD: ThreadState = {
  branch: null,
  facts: new Map(),
  labels: new Map(),
  live: NO_TURN,
  siblings: NO_SIBLINGS,
  links: [],
  stamps: new Map(),
  error: null,
};

const SHOWN_FACTS: ReadonlySet<string> = new Set(FACT_TYPES);

export function withFacts(state: ThreadState, entries: readonly Entry[]): ThreadState {
  const facts = new Map(state.facts);
  for (const entry of entries) if (SHOWN_FACTS.has(entry.type)) facts.set(entry.seq, entry);
  return { ...state, facts };
}

export function withLabels(state: ThreadState, entries: readonly Entry[]): ThreadState {
  const labels = new Map(state.labels);
  for (const entry of entries) {
    if (entry.type !== "label") continue;
    if (entry.label === null) labels.delete(entry.target);
    else labels.set(entry.target, entry.label);
  }
  return { ...state, labels };
}

/** With an entry of which more is there than was sent. */
export function withCut(state: ThreadState, entry: string, chars: number): ThreadState {
  const { branch } = state;
  if (branch === null) return state;
  return { ...state, branch: { ...branch, cut: new Map(branch.cut).set(entry, chars) } };
}

/** What follows from an entry that was just written; `stale`: the branch is another one, and has to be read again. */
export function afterEntry(
  state: ThreadState,
  entry: Entry,
  isPinned: boolean,
): { readonly state: ThreadState; readonly stale: boolean } {
  const live = liveTurnAfter(state.live, entry);
  const next = withLabels(withFacts({ ...state, live }, [entry]), [entry]);
  const { branch } = next;
  if (branch === null) return { state: next, stale: false };
  if (entry.type === "hide") return { state: { ...next, branch: withHidden(branch, entry) }, stale: false };
  if (entry.type === "leaf") return { state: next, stale: !isPinned && entry.target !== branch.leaf };
  if (entry.parentId === null) return { state: next, stale: false };
  const longer = withNode(branch, entry);
  if (longer === null) return { state: next, stale: !isPinned };
  return { state: isPinned ? next : { ...next, branch: longer }, stale: false };
}

/** The first session in whose range an entry lies. */
export function carrierAt(links: Links, seq: number, isInherited: boolean): number | null {
  const place = links.findIndex(
    ({ carried, inherited }) =>
      inherited === isInherited && carried !== null && carried.fromSeq <= seq && seq <= carried.toSeq,
  );
  return place === -1 ? null : place;
}

const sortedFacts = new WeakMap<ThreadState["facts"], readonly Entry[]>();

/** The facts between two seqs, in their order. */
export function factsBetween({ facts }: ThreadState, after: number, until: number): readonly Entry[] {
  const sorted = sortedFacts.get(facts) ?? [...facts.values()].toSorted((a, b) => a.seq - b.seq);
  sortedFacts.set(facts, sorted);
  let [low, high] = [0, sorted.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((sorted[middle]?.seq ?? 0) <= after) low = middle + 1;
    else high = middle;
  }
  let end = low;
  while (end < sorted.length && (sorted[end]?.seq ?? 0) < until) end++;
  return sorted.slice(low, end);
}
