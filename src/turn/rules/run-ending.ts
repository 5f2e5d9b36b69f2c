import type { EntryBody, TurnOutcome } from "#log/entry";

const MESSAGE_CHARS_MAX = 1_000; // a provider's page of HTML helps nobody in a list

/** How the turn ended that a run ends with. */
export interface RunEnding {
  readonly outcome: TurnOutcome;
  readonly class: string;
  readonly message: string;
}

/** What ends a run together with its turn; nothing for a turn of no run. */
export function runEnd(run: string | null | undefined, ending: RunEnding): readonly EntryBody[] {
  if (run === null || run === undefined) return [];
  if (ending.outcome === "completed") return [{ type: "run_end", run, status: "completed" }];
  const message = ending.message.slice(0, MESSAGE_CHARS_MAX).toWellFormed();
  if (ending.class === "cancelled")
    return [{ type: "run_end", run, status: "cancelled", error: { message } }];
  return [{ type: "run_end", run, status: "failed", error: { message, code: ending.class } }];
}
