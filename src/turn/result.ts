import type { EndingClass } from "#log/ending-class";
import type { EntryId } from "#log/ids";

/** What became of a turn. */
export interface TurnResult {
  readonly turn: string;
  readonly prompt: EntryId;
  readonly outcome: "completed" | "interrupted" | "failed";
  readonly class: EndingClass;
  readonly text: string;
  readonly upstream: string | null;
  readonly resetAtMs: number | null;
  readonly message: string;
  /** The turn was sent under this key before, and nothing was sent now; whether it was another prompt then. */
  readonly repeated?: { readonly differs: boolean };
}
