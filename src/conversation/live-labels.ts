import type { EntryId } from "#log/ids";
import { labelsOf } from "#log/projections/labels";
import type { Projection } from "#log/projections/projection";
import { LiveProjections, type LogBounds } from "./live-projections.ts";
import { readEntries, readInherited } from "./read-log.ts";

type Labels = Map<EntryId, string>;

const TYPES = ["label"] as const;
const ADDED_MAX = 512;

const LABELS: Projection<Labels> = {
  types: TYPES,
  start: () => new Map(),
  add(labels, entry) {
    if (entry.type !== "label") return labels;
    if (entry.label === null || entry.label === "") labels.delete(entry.target);
    else labels.set(entry.target, entry.label);
    return labels;
  },
};

/** The labels of many logs, with those that a fork inherited. */
export function liveLabels(bounds: LogBounds<Labels>): LiveProjections<Labels> {
  return new LiveProjections(LABELS, bounds, (space, conversation) => ({
    addedMax: ADDED_MAX,
    begin: async () => {
      const own = await readEntries(space, conversation, TYPES);
      const inherited = await readInherited(space, conversation, TYPES);
      const state = new Map(labelsOf([...inherited, ...own]));
      return { state, last: own.at(-1) ?? null, head: null };
    },
  }));
}
