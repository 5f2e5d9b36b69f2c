import type { Entry } from "#log/entry";
import type { EntryId } from "#log/ids";

/** The label each node carries now. */
export function labelsOf(entries: Iterable<Entry>): ReadonlyMap<EntryId, string> {
  const labels = new Map<EntryId, string>();
  for (const entry of entries) {
    if (entry.type !== "label") continue;
    if (entry.label === null || entry.label === "") labels.delete(entry.target);
    else labels.set(entry.target, entry.label);
  }
  return labels;
}
