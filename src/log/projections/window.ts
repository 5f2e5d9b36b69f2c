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

export const EMPTY_WINDOW: Window = {
  entries: [],
  hidden: new Set(),
  compaction: null,
  done: false,
  boundaryMissing: false,
};

/** Takes one more page, newest first, and decides whether the context needs an older one. */
export function extendWindow(window: Window, page: WindowPage): Window {
  const entries = [...window.entries];
  let { compaction } = window;
  let done = false;
  for (const entry of page.entries) {
    if (entry.type === "reset") {
      done = true;
      break;
    }
    entries.push(entry);
    if (compaction === null && entry.type === "compaction" && !page.hidden.has(entry.id)) compaction = entry;
    if (compaction !== null && entry.id === (compaction.firstKeptEntryId ?? compaction.id)) {
      done = true;
      break;
    }
  }
  const boundaryMissing = !done && page.atRoot && compaction !== null;
  return {
    entries,
    hidden: window.hidden.union(page.hidden),
    compaction,
    done: done || page.atRoot,
    boundaryMissing,
  };
}
