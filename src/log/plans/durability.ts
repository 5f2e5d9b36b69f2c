import type { StampedDraft } from "#log/batch";
import { mustBeDurable } from "#log/entry-types";

/** `full`: on disk before it is acknowledged. `relaxed`: survives the process, not necessarily the power. */
export type Durability = "full" | "relaxed";

/** Prompts, intents and links are never relaxed: their consequences cannot be undone. */
export function durabilityOf(drafts: readonly StampedDraft[], durability: Durability): Durability {
  const wanted = drafts.map(({ draft }) => mustBeDurable(draft.type, draft.body));
  if (wanted.includes(true)) return "full";
  return wanted.every((one) => one === false) ? "relaxed" : durability;
}
