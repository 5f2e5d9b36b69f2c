import type { Entry, EntryOf } from "#log/entry";
import type { EntryId } from "#log/ids";

/** The stretch of a branch that a context is made of, collected newest first. */
export interface Window {
  readonly entries: readonly Entry[];
  readonly hidden: ReadonlySet<EntryId>;
  /** The latest compaction on the path: its summary stands for everything before its boundary. */
  readonly compaction: EntryOf<"compaction"> | null;
  readonly done: boolean;
  /** The compaction points at an entry that is not on the path, so nothing was cut off. */
  readonly boundaryMissing: boolean;
}

export interface WindowPage {
  readonly entries: readonly Entry[];
  readonly hidden: ReadonlySet<EntryId>;
  readonly atRoot: boolean;
}

/** How far back a context reaches. */
export type WindowBounds = Pick<Window, "compaction" | "done" | "boundaryMissing">;

export const EMPTY_WINDOW: Window = {
  entries: [],
  hidden: new Set(),
  compaction: null,
  done: false,
  boundaryMissing: false,
};

/** Takes one more page, newest first, and decides whether the context needs an older one. */
export function extendWindow(window: Window, page: WindowPage): Window {
  const { inside, bounds } = boundWindow(window, page);
  return { entries: [...window.entries, ...inside], hidden: window.hidden.union(page.hidden), ...bounds };
}

/** The same for a caller that keeps the entries: which of the page are inside, at the cost of the page alone. */
export function boundWindow(
  { compaction: latest }: WindowBounds,
  page: WindowPage,
): { readonly inside: readonly Entry[]; readonly bounds: WindowBounds } {
  let compaction = latest;
  let inside = page.entries;
  let done = false;
  for (const [index, entry] of page.entries.entries()) {
    if (entry.type !== "reset") {
      if (compaction === null && entry.type === "compaction" && !page.hidden.has(entry.id))
        compaction = entry;
      if (compaction === null || entry.id !== (compaction.firstKeptEntryId ?? compaction.id)) continue;
    }
    inside = page.entries.slice(0, entry.type === "reset" ? index : index + 1);
    done = true;
    break;
  }
  const boundaryMissing = !done && page.atRoot && compaction !== null;
  return { inside, bounds: { compaction, done: done || page.atRoot, boundaryMissing } };
}
