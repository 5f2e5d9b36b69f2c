/** Words for people, the same at every edge: why a session is not the one before, and how a turn ended. */
import type { EntryOf } from "#log/entry";
import type { EndingClass } from "#log/ending-class";

/** Said wherever people fork, edit and go back. */
export const NOT_UNDONE = "Files and external effects are not undone.";

// "%" is the session the reason speaks of.
const REASONS: Readonly<Record<string, string>> = {
  first: "the first one",
  never_used: "% was never used",
  empty: "% answered nothing",
  expired: "% had expired",
  lost: "the agent had lost %",
  crashed: "the agent's process had died",
  in_use: "% is open in another program",
  too_long: "the history had become too long for %",
  poisoned: "something in % made every request fail",
  failed: "% failed twice in a row",
  stale_replay: "% repeated an old answer",
  branch_left: "% knows words that are no longer part of the conversation",
  agent_switch: "another agent goes on",
  chosen: "it was chosen",
  switched_back: "back to one from before",
  rolled_by_upstream: "the agent switched to a new session",
  renamed_by_upstream: "the agent changed the id of its session",
  cwd_changed: "the folder has moved",
  forked: "made for the fork",
  edited: "made for the edited message",
  adopted: "found in the agent's own history",
  new_chat: "a new chat was started",
  cleared: "the conversation was cleared",
  sign_out: "the account was signed out",
  resumed: "whether it remembers everything is not certain",
};

/** Whether it is one of ours: anybody may write another. */
export function isKnownReason(reason: string): boolean {
  return Object.hasOwn(REASONS, reason);
}

/** Why a session took the place of another, which is called `session`. A reason of someone else's is shown as it stands. */
export function reasonWords(reason: string, session: string = "the one before"): string {
  return isKnownReason(reason)
    ? (REASONS[reason] ?? "").replace("%", () => session)
    : reason.replaceAll("_", " ");
}

const FIDELITIES: Readonly<Record<string, string>> = {
  native: "by itself",
  transcript: "from a transcript",
  preamble: "was told again",
};

/** How a session came to know the conversation. */
export function fidelityWords(fidelity: string | null): string {
  return fidelity === null ? "" : (FIDELITIES[fidelity] ?? fidelity);
}

interface EndingWords {
  /** A clause, for a line about the turn. */
  readonly clause: string;
  /** What happened, what is safe, what to do next. */
  readonly sentence?: string;
}

const KEPT = "What had been said and done is kept; nothing was run again.";

/** An ending that has no words here does not compile. */
const ENDINGS: { readonly [C in EndingClass]: EndingWords } = {
  completed: { clause: "" },
  empty: {
    clause: "nothing was answered",
    sentence: "The agent answered nothing, twice. The prompt is kept; ask again, perhaps in other words.",
  },
  limit: { clause: "the agent was at its limit" },
  credit: { clause: "the agent had no credit left" },
  overloaded: {
    clause: "the agent's service did not answer",
    sentence: "The agent stayed overloaded. The prompt is kept; ask again later.",
  },
  auth: {
    clause: "the agent wanted a login",
    sentence: "The agent wants a login. The prompt is kept.",
  },
  expired: { clause: "the agent's session had expired" },
  lost: {
    clause: "the agent had lost its session",
    sentence: `The agent lost its session in the middle. ${KEPT}`,
  },
  crashed: { clause: "the agent died", sentence: `The agent died in the middle. ${KEPT}` },
  too_long: { clause: "the history was too long for the agent" },
  poisoned: { clause: "something in the history made the request fail" },
  stale_replay: { clause: "the agent repeated an old answer" },
  turn_limit: {
    clause: "the turn reached its limit",
    sentence: "The turn reached its limit of steps or cost. Nothing is lost; you can continue it.",
  },
  failed: { clause: "" },
  cancelled: { clause: "stopped by a person", sentence: `Cancelled. ${KEPT}` },
};

/** Endings of which an agent says nothing that helps a person. */
const UNSAID: ReadonlySet<EndingClass> = new Set(["crashed", "lost", "empty"]);

type TurnEnding = { readonly outcome: string; readonly class: EndingClass };

/** A turn that did not end well, as sentences. */
export function endingSentence({ outcome, class: known }: TurnEnding): string {
  const { clause, sentence } = ENDINGS[known];
  return sentence ?? `The turn ${outcome}${clause === "" ? "" : `: ${clause}`}. What had been said is kept.`;
}

/** The same where the agent gave a message: its own words, unless they cannot help. */
export function endingMessage(ending: TurnEnding & { readonly message: string }): string {
  return ending.message === "" || UNSAID.has(ending.class) ? endingSentence(ending) : ending.message;
}

function isEnding(text: string): text is EndingClass {
  return Object.hasOwn(ENDINGS, text);
}

/** What became of a turn, as a clause; null when it ended well. */
export function endingClause({ outcome, class: known = "", resetAt }: EntryOf<"turn_end">): string | null {
  if (outcome === "completed" && known !== "empty") return null;
  const until = resetAt === undefined ? "" : ` until ${resetAt}`;
  // Anyone may write a turn's end: a class that is not ours is shown as it stands.
  const why = isEnding(known) ? ENDINGS[known].clause : known.replaceAll("_", " ");
  return `${outcome}${why === "" ? "" : `: ${why}`}${until}`;
}
