/** Text for the codes that a log and a list hold: one table, which every edge and the web UI import. */
import type { EndingClass } from "#log/ending-class";
import type { CallState, ForkProblem, ThreadCall, ThreadChange } from "#log/projections/thread-rows";
import type { ConversationState } from "#transfer/views/conversation-state";

/** For every place where you fork, edit and go back. */
export const NOT_UNDONE = "Files and external effects are not undone.";

// "%" is the session that the reason is about.
const REASONS: Readonly<Record<string, string>> = {
  first: "this is the first session",
  never_used: "% was never used",
  empty: "% returned no answer",
  expired: "% expired",
  lost: "the agent no longer has %",
  crashed: "the agent process exited",
  in_use: "% is open in another program",
  too_long: "the history is too long for %",
  poisoned: "something in the history of % makes every request fail",
  failed: "% failed twice in a row",
  stale_replay: "% repeated its previous answer",
  branch_left: "% contains messages that are not on this branch",
  agent_switch: "the conversation switched to another agent",
  chosen: "you chose this session",
  switched_back: "the conversation returned to an earlier session",
  rolled_by_upstream: "the agent switched to a new session",
  renamed_by_upstream: "the agent changed its session id",
  cwd_changed: "the working directory changed",
  forked: "the conversation was forked",
  edited: "a message was edited",
  adopted: "it was found in the agent's history",
  new_chat: "a new chat was started",
  cleared: "the conversation was cleared",
  sign_out: "the account was signed out",
  resumed: "Holdfast cannot verify that the session still has the whole history",
};

/** Whether Holdfast writes it. Other programs may write their own. */
export function isKnownReason(reason: string): boolean {
  return Object.hasOwn(REASONS, reason);
}

/** Why a new session started; `session` names the one before it. An unknown reason is shown as it is. */
export function reasonText(reason: string, session: string = "the previous session"): string {
  return isKnownReason(reason)
    ? (REASONS[reason] ?? "").replace("%", () => session)
    : classClause(reason) || codeText(reason);
}

const FIDELITIES: Readonly<Record<string, string>> = {
  native: "native",
  transcript: "transcript",
  preamble: "replayed",
};

/** How a session knows the conversation. */
export function fidelityText(fidelity: string | null): string {
  return fidelity === null ? "" : (FIDELITIES[fidelity] ?? fidelity);
}

interface StateText {
  /** For a column or a mark. */
  readonly label: string;
  readonly description: string;
}

/** The states of a conversation in a list. */
export const STATES: { readonly [S in ConversationState]: StateText } = {
  quiet: { label: "idle", description: "Idle" },
  working: { label: "running", description: "Running" },
  waiting: { label: "waiting for you", description: "Waiting for you" },
  cut_off: { label: "interrupted", description: "Interrupted: the process running the last turn stopped" },
  stopped: { label: "stopped", description: "The last turn was stopped" },
  failed: { label: "failed", description: "The last turn failed" },
  limited: { label: "paused", description: "Paused until the agent's limit resets" },
  limit_over: { label: "limit reset", description: "Paused; the agent's limit has reset" },
  damaged: { label: "damaged", description: "The log is damaged" },
  newer_format: { label: "newer format", description: "Written by a newer version of Holdfast" },
  gone: { label: "erased", description: "Erased" },
};

/** The same with the time at which a limit ends, in the text of the reader's clock. */
export function stateText(state: ConversationState, until: string | null): string {
  return state === "limited" && until !== null ? `Paused until ${until}` : STATES[state].description;
}

interface EndingText {
  /** A clause, for a line about the turn. */
  readonly clause: string;
  /** What happened, what is saved, what to do next. */
  readonly sentence?: string;
}

const SAVED = "Everything produced so far is saved, and nothing ran twice.";

/** An ending without text here does not compile. */
const ENDINGS: { readonly [C in EndingClass]: EndingText } = {
  completed: { clause: "" },
  empty: {
    clause: "the agent returned no answer",
    sentence: "The agent returned no answer, twice. Your prompt is saved. Send it again, or rephrase it.",
  },
  limit: { clause: "the agent reached its limit" },
  credit: {
    clause: "the agent has no credit left",
    sentence: "The agent has no credit left. Your prompt is saved. Add credit, then send it again.",
  },
  overloaded: {
    clause: "the agent's service is overloaded",
    sentence: "The agent's service is overloaded. Your prompt is saved. Try again later.",
  },
  auth: {
    clause: "the agent requires a login",
    sentence: "The agent requires a login. Your prompt is saved.",
  },
  expired: { clause: "the agent session expired" },
  lost: {
    clause: "the agent lost its session",
    sentence: `The agent lost its session during the turn. ${SAVED}`,
  },
  crashed: {
    clause: "the agent process exited",
    sentence: `The agent process exited during the turn. ${SAVED}`,
  },
  too_long: { clause: "the history is too long for the agent" },
  poisoned: { clause: "something in the history makes the request fail" },
  stale_replay: { clause: "the agent repeated its previous answer" },
  turn_limit: {
    clause: "the turn reached its limit",
    sentence: "The turn reached its limit of steps or cost. Everything is saved; you can continue it.",
  },
  failed: { clause: "" },
  cancelled: { clause: "cancelled", sentence: `Cancelled. ${SAVED}` },
};

/** Endings for which an agent's own message does not help. */
const UNHELPFUL: ReadonlySet<EndingClass> = new Set(["crashed", "lost", "empty"]);

// Other programs may write the end of a turn: their class is shown as it is.
interface TurnEnding {
  readonly outcome: string;
  readonly class: string | null;
}

/** A turn that did not complete, as sentences. */
export function endingSentence({ outcome, class: code }: TurnEnding): string {
  const sentence = code !== null && isEnding(code) ? ENDINGS[code].sentence : undefined;
  if (sentence !== undefined) return sentence;
  const what = outcome === "interrupted" ? "The turn was interrupted" : `The turn ${codeText(outcome)}`;
  const clause = code === null ? "" : classClause(code);
  return `${what}${clause === "" ? "" : `: ${clause}`}. Everything produced so far is saved.`;
}

/** The same where the agent sent a message: its own text, unless that cannot help. */
export function endingMessage(ending: {
  readonly outcome: string;
  readonly class: EndingClass;
  readonly message: string;
}): string {
  return ending.message === "" || UNHELPFUL.has(ending.class) ? endingSentence(ending) : ending.message;
}

function isEnding(code: string): code is EndingClass {
  return Object.hasOwn(ENDINGS, code);
}

function classClause(code: string): string {
  return isEnding(code) ? ENDINGS[code].clause : codeText(code);
}

function codeText(code: string): string {
  return code.replaceAll("_", " ");
}

/** How a turn ended, as a clause; null if it completed. */
export function endingClause({
  outcome,
  class: code = "",
  resetAt,
}: {
  readonly outcome: string;
  readonly class?: string;
  readonly resetAt?: string;
}): string | null {
  if (outcome === "completed" && code !== "empty") return null;
  const until = resetAt === undefined ? "" : ` until ${resetAt}`;
  const why = classClause(code);
  return `${outcome}${why === "" ? "" : `: ${why}`}${until}`;
}

/** A compaction that had nothing to do. */
export const TOO_LITTLE_TO_SUMMARIZE: string =
  "Too little to summarize: the newest 20,000 tokens (about 80,000 characters) always stay in full.";

const CALLS: { readonly [S in CallState]: string } = {
  done: "done",
  failed: "failed",
  unknown: "outcome unknown",
  running: "running",
  asked: "waiting for you",
  not_started: "no result recorded",
};

/** The state of a tool call. */
export function callText({ state }: Pick<ThreadCall, "state">): string {
  return CALLS[state];
}

const FORK_PROBLEMS: { readonly [P in ForkProblem]: string } = {
  failed_answer: "This answer failed. Fork at the prompt before it.",
  cut_off_answer: "This answer was cut off. Fork at the prompt before it.",
  calls_open: "Its calls have no result yet here. Fork after the last of their results.",
  other_calls_open:
    "Other calls of the same answer have no result yet here. Fork after the last of their results.",
};

/** Why you should not fork at an entry. */
export function forkProblemText(problem: ForkProblem): string {
  return FORK_PROBLEMS[problem];
}

/** What happened to the session or the turn. Text of the log in it is shown as it is. */
export function changeText(change: ThreadChange): string {
  switch (change.kind) {
    case "session":
      return reasonText(change.reason);
    case "again":
      return change.isRestarted
        ? "The agent process exited before it answered. Holdfast started it again and sent the prompt to the same session."
        : "The agent could not answer. Holdfast sent the prompt to the same session again.";
    case "parked":
      return "Paused: the agent reached its limit. Your prompt is saved.";
    case "broken":
      return endingSentence(change);
  }
}
