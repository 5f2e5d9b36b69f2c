import { ERROR_GROUPS, type ErrorCode, type ErrorGroup, isLogError } from "#log/errors";

/** What the process ends with; a new group of errors does not compile until it has an answer here. */
export const STATUS: Readonly<Record<ErrorGroup | "ok" | "unexpected" | "denied", number>> = {
  ok: 0,
  unexpected: 1,
  caller: 2,
  missing: 3,
  conflict: 4,
  unavailable: 5,
  damaged: 6,
  denied: 7,
};

/** What a person does next, and what they need not worry about. */
const NEXT_STEP = {
  invalid_entry: "Nothing was written by it. `holdfast help append` shows what an entry looks like.",
  invalid_id: "Nothing was changed.",
  invalid_request: "",
  unknown_parent: "Nothing was written by it. `holdfast tree ID` shows the entries there are.",
  unknown_target: "Nothing was written by it. `holdfast tree ID` shows the entries there are.",
  duplicate_id:
    "Nothing was written by it. Leave the id out and one is made; or use --key to make a retry harmless.",
  invalid_boundary: "Nothing was written by it. `holdfast context ID` shows what the model sees now.",
  too_large: "Nothing was written by it. Split it, or keep large content outside the message.",
  facet_missing: "Nothing was changed. Choose a store that has it with --store.",
  ambiguous_id: "Give more of the id, or its end: ids made at about the same time begin alike.",
  conversation_not_found:
    "`holdfast ls` lists the conversations of this store; --store and --space choose another.",
  entry_not_found: "`holdfast tree ID` lists the entries there are.",
  blob_not_found: "The entries that name it are untouched.",
  run_not_found: "Nothing was changed.",
  conversation_exists: "The one that is there was not touched. Choose another id.",
  head_moved: "Read the log again, then decide whether to append.",
  fenced: "What was acknowledged before is stored. Open the conversation again to go on.",
  busy: "Nothing was written and nothing is lost. Try again in a moment.",
  disk_full: "Nothing already stored was changed. Make room, then try again.",
  read_only: "Nothing was changed. Choose a store you may use with --store.",
  store_gone: "Check the path given with --store or HOLDFAST_STORE.",
  store_failed: "Nothing acknowledged is lost. `holdfast doctor` checks the store.",
  damaged: "Nothing was changed. `holdfast doctor` shows where, and what can still be read.",
  diverged:
    "Nothing was written. What is there can be read; compare it with a copy made elsewhere before going on.",
  unsupported_version: "",
} as const satisfies Record<ErrorCode, string>;

/** What is remembered is no entry of a conversation. */
const MEMORY_STEP = "`holdfast memory ls` lists what is remembered, with --removed what may be restored.";

const SKILL_STEP = "`holdfast skills` lists those that are here.";

export interface Failure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly next: string;
  readonly details: unknown;
}

/** An error as the command line tells it. */
export function failureOf(error: unknown): Failure {
  if (isLogError(error)) {
    const { code, message, details } = error;
    // A file that was to be read in is no part of the store, so the doctor knows nothing of it.
    const step =
      code === "damaged" && "file" in details
        ? ""
        : "memory" in details
          ? MEMORY_STEP
          : "skill" in details
            ? SKILL_STEP
            : NEXT_STEP[code];
    // Many messages say themselves that nothing was written; once is enough.
    const next = /nothing was/i.test(message) ? step.replace(/^Nothing was [^.]*\. ?/, "") : step;
    return { status: STATUS[ERROR_GROUPS[code]], code, message, next, details };
  }
  const message = error instanceof Error ? error.message : String(error);
  const next =
    "This was not expected; nothing acknowledged is lost. HOLDFAST_DEBUG=1 shows where it happened.";
  return { status: STATUS.unexpected, code: "unexpected", message, next, details: {} };
}
