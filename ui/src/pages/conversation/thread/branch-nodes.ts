import type { BranchPage } from "#edges/http/client/views";
import type { Entry, EntryOf } from "#log/entry";

/** What is known of a branch: stretches of it, by the places of its nodes. */
export interface BranchNodes {
  readonly leaf: string;
  readonly length: number;
  readonly nodes: ReadonlyMap<number, Entry>;
  /** The conversations whose logs hold nodes that were inherited, by their places; its own nodes have none. */
  readonly sources: ReadonlyMap<number, string>;
  readonly hidden: ReadonlySet<string>;
  /** Entries of which more is there than was sent, and how long they are. */
  readonly cut: ReadonlyMap<string, number>;
  readonly headSeq: number;
}

export function nodesOf(page: BranchPage): BranchNodes {
  return withPage(
    {
      leaf: page.leaf,
      length: page.length,
      nodes: new Map(),
      sources: new Map(),
      hidden: new Set(),
      cut: new Map(),
      headSeq: page.headSeq,
    },
    page,
  );
}

/** With one more stretch of the same branch. */
export function withPage(known: BranchNodes, page: BranchPage): BranchNodes {
  const nodes = new Map(known.nodes);
  for (const [at, entry] of page.entries.entries()) nodes.set(page.from + at, entry);
  const sources = new Map(known.sources);
  for (const { source, from, until } of stretchesOf(page))
    if (source !== null) for (let place = from; place < until; place++) sources.set(place, source);
  return {
    ...known,
    nodes,
    sources,
    hidden: new Set([...known.hidden, ...page.hidden]),
    cut: new Map([...known.cut, ...Object.entries(page.cut)]),
  };
}

/** Places of a page that one log holds: a source, or null for the conversation's own. */
interface LogStretch {
  readonly source: string | null;
  readonly from: number;
  readonly until: number;
}

function stretchesOf({ conversation, logs, from, entries }: BranchPage): readonly LogStretch[] {
  return logs.map((log, at) => ({
    source: log.conversation === conversation ? null : log.conversation,
    from: log.from,
    until: logs[at + 1]?.from ?? from + entries.length,
  }));
}

/** A part of a log: what lies behind a seq, up to another. */
export interface SeqRange {
  readonly source: string | null;
  readonly after: number;
  readonly until: number;
}

/** Where the facts lie that stand between the nodes of a page. A log that begins in the page is read from its own beginning. */
export function factRanges(page: BranchPage): readonly SeqRange[] {
  return stretchesOf(page).flatMap(({ source, from, until }) => {
    const [first, last] = [page.entries[from - page.from], page.entries[until - 1 - page.from]];
    if (first === undefined || last === undefined) return [];
    return [{ source, after: from > page.from ? 0 : first.seq - 1, until: last.seq }];
  });
}

/** Where the facts lie that stand behind a place, up to the next node; what a source wrote behind its last node is not of the branch. */
export function rangeBehind({ nodes, sources, length }: BranchNodes, place: number): SeqRange | null {
  const [here, next] = [nodes.get(place), nodes.get(place + 1)];
  const isLast = place === length - 1;
  if (here === undefined || (next === undefined && !isLast)) return null;
  const source = isLast ? null : sourceAt({ sources }, place + 1);
  const after = sourceAt({ sources }, place) === source ? here.seq : 0;
  return { source, after, until: next?.seq ?? Number.POSITIVE_INFINITY };
}

/** Whose log holds a node; null: the conversation's own. */
export function sourceAt({ sources }: Pick<BranchNodes, "sources">, place: number): string | null {
  return sources.get(place) ?? null;
}

/** With an entry that was written behind its end; null: it is on another branch. */
export function withNode(known: BranchNodes, entry: Entry): BranchNodes | null {
  const last = known.nodes.get(known.length - 1);
  if (last === undefined || entry.parentId !== last.id) return null;
  const nodes = new Map(known.nodes).set(known.length, entry);
  return { ...known, nodes, length: known.length + 1, leaf: entry.id };
}

export function withHidden(known: BranchNodes, { target, hidden = true }: EntryOf<"hide">): BranchNodes {
  const next = new Set(known.hidden);
  if (hidden) next.add(target);
  else next.delete(target);
  return { ...known, hidden: next };
}

/** Without what lies outside of a stretch; the end is kept, for what is written next stands behind it. */
export function withoutFar(known: BranchNodes, first: number, last: number): BranchNodes {
  const isKept = (place: number): boolean => (place >= first && place <= last) || place === known.length - 1;
  return { ...known, nodes: new Map([...known.nodes].filter(([place]) => isKept(place))) };
}

/** The stretches of a range that are not known, at the bounds of pages. */
export function missingPages(
  known: BranchNodes,
  first: number,
  last: number,
  size: number,
): readonly number[] {
  const missing: number[] = [];
  for (
    let from = Math.floor(Math.max(0, first) / size) * size;
    from <= last && from < known.length;
    from += size
  ) {
    const until = Math.min(from + size, known.length);
    for (let at = from; at < until; at++)
      if (!known.nodes.has(at)) {
        missing.push(from);
        break;
      }
  }
  return missing;
}

/** The place of an entry, where it is known. */
export function placeOf(known: BranchNodes, entry: string): number | null {
  for (const [place, { id }] of known.nodes) if (id === entry) return place;
  return null;
}

/** The latest known compaction: what lies before its first kept entry is not sent any more. */
export function firstSent(known: BranchNodes): number {
  let latest: { readonly place: number; readonly entry: EntryOf<"compaction"> } | null = null;
  for (const [place, entry] of known.nodes)
    if (entry.type === "compaction" && place > (latest?.place ?? -1)) latest = { place, entry };
  if (latest === null) return 0;
  const { firstKeptEntryId } = latest.entry;
  return firstKeptEntryId === undefined ? latest.place : (placeOf(known, firstKeptEntryId) ?? latest.place);
}
