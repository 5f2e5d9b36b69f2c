import type { BranchPage } from "#edges/http/client/index";
import type { Entry, EntryOf } from "#log/entry";

/** What is known of a branch: stretches of it, by the places of its nodes. */
export interface BranchNodes {
  readonly leaf: string;
  readonly length: number;
  readonly inherited: number;
  readonly nodes: ReadonlyMap<number, Entry>;
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
      inherited: page.inherited,
      nodes: new Map(),
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
  return {
    ...known,
    nodes,
    hidden: new Set([...known.hidden, ...page.hidden]),
    cut: new Map([...known.cut, ...Object.entries(page.cut)]),
  };
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
