import type { Entry } from "#log/entry";
import type { EntryId } from "#log/ids";
import type { Window } from "./window.ts";

/** What a new summary has to cover: the summary before it, and what that one kept but the new one will not. */
export interface CompactionInput {
  readonly previousSummary: string | null;
  readonly entries: readonly Entry[];
}

/** Every message of the path is summary input or kept tail, exactly once, however many compactions follow. */
export function compactionInput(window: Window, firstKept: EntryId | null): CompactionInput {
  const oldestFirst = window.entries.toReversed();
  const cut = firstKept === null ? -1 : oldestFirst.findIndex((entry) => entry.id === firstKept);
  const entries = (cut === -1 ? oldestFirst : oldestFirst.slice(0, cut)).filter(
    (entry) => entry.type !== "compaction",
  );
  return { previousSummary: window.compaction?.summary ?? null, entries };
}
