import type { Api } from "#edges/http/client/index";
import type { LiveWords } from "#edges/http/client/views";
import type { Entry } from "#log/entry";
import { type BranchNodes, type SeqRange, withHidden, withNode } from "./branch-nodes.ts";
import { type LiveTurn, liveTurnAfter, liveTurnHearing, NO_TURN } from "#log/thread/live-turn";
import { NO_SIBLINGS, type Siblings } from "./siblings.ts";
import { FACT_TYPES } from "./turn-facts.ts";

export type Links = Api["getChain"]["response"]["links"];

type LogFacts = ReadonlyMap<number, Entry>;

/** All that a thread shows. */
export interface ThreadState {
  readonly branch: BranchNodes | null;
  /** By the source whose log they lie in, null for the conversation's own, and by their seq. */
  readonly facts: ReadonlyMap<string | null, LogFacts>;
  readonly labels: ReadonlyMap<string, string>;
  readonly live: LiveTurn;
  readonly siblings: Siblings;
  /** The last node that was told, on whichever branch. */
  readonly lastNode: string | null;
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
  lastNode: null,
  links: [],
  stamps: new Map(),
  error: null,
};

const SHOWN_FACTS: ReadonlySet<string> = new Set(FACT_TYPES);

export function withFacts(
  state: ThreadState,
  entries: readonly Entry[],
  source: string | null = null,
): ThreadState {
  const facts = new Map(state.facts.get(source));
  for (const entry of entries) if (SHOWN_FACTS.has(entry.type)) facts.set(entry.seq, entry);
  return { ...state, facts: new Map(state.facts).set(source, facts) };
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
function withCut(branch: BranchNodes, entry: string, chars: number | null): BranchNodes {
  return chars === null ? branch : { ...branch, cut: new Map(branch.cut).set(entry, chars) };
}

/** What the stream told: an entry, `cut` where more is there than was sent, or words that the log does not have yet. */
export type Told = { readonly entry: Entry; readonly cut: number | null } | { readonly words: LiveWords };

/** `isStale`: the branch is another one, and has to be read again; `isParted`: there may be a branch more, or another one is gone on with. */
interface AfterTold {
  readonly state: ThreadState;
  readonly isStale: boolean;
  readonly isParted: boolean;
}

/** What follows from what was told. An entry may have been there already when the branch was read. */
export function afterTold(state: ThreadState, told: Told, isPinned: boolean): AfterTold {
  if ("words" in told)
    return {
      state: { ...state, live: liveTurnHearing(state.live, told.words) },
      isStale: false,
      isParted: false,
    };
  const { entry, cut } = told;
  const isNode = entry.parentId !== null;
  // What is being said stands at the end of the conversation's own branch, and of no other.
  const live = isPinned ? state.live : liveTurnAfter(state.live, entry);
  const lastNode = isNode ? entry.id : state.lastNode;
  const next = withLabels(withFacts({ ...state, live, lastNode }, [entry]), [entry]);
  const isParted = isNode ? entry.parentId !== state.lastNode : entry.type === "leaf";
  const same = { state: next, isStale: false, isParted };
  const { branch } = next;
  if (branch === null || entry.seq <= branch.headSeq) return same;
  if (entry.type === "hide") return { ...same, state: { ...next, branch: withHidden(branch, entry) } };
  if (isPinned) return same;
  if (entry.type === "leaf") return { ...same, isStale: entry.target !== branch.leaf };
  if (!isNode) return same;
  const longer = withNode(branch, entry);
  if (longer === null) return { ...same, isStale: true };
  return { ...same, state: { ...next, branch: withCut(longer, entry.id, cut) } };
}

/** The first session in whose range an entry of a log lies. */
export function carrierAt(links: Links, seq: number, log: string | null): number | null {
  const place = links.findIndex(
    ({ carried, source }) =>
      source === log && carried !== null && carried.fromSeq <= seq && seq <= carried.toSeq,
  );
  return place === -1 ? null : place;
}

const sortedFacts = new WeakMap<LogFacts, readonly Entry[]>();

/** The facts of a part of a log, in their order. */
export function factsBetween({ facts }: ThreadState, { source, after, until }: SeqRange): readonly Entry[] {
  const ofLog = facts.get(source);
  if (ofLog === undefined) return [];
  const sorted = sortedFacts.get(ofLog) ?? [...ofLog.values()].toSorted((a, b) => a.seq - b.seq);
  sortedFacts.set(ofLog, sorted);
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
