import type { Entry, EntryType } from "./entry.ts";

const UNSAID: ReadonlySet<EntryType> = new Set([
  "seed",
  "model_change",
  "config_change",
  "skill_change",
  "state_change",
]);

/** Whether a node says anything to a model, so that an upstream can lack it. Settings, state, skills and seeds do not. */
export function isSaid(entry: Entry): boolean {
  return entry.type === "custom" ? entry.inContext === true : !UNSAID.has(entry.type);
}
