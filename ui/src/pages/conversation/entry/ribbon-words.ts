import { safeLine } from "#transfer/shown/shown-text";
import type { Ribbon } from "../thread/turn-facts.ts";

/** Why a session was left, or begun, in words; reasons that nobody knows are told as they stand. */
const REASONS: Readonly<Record<string, string>> = {
  empty: "it said that it was done and had said nothing",
  expired: "its session had reached the end of its life",
  lost: "its session was gone",
  crashed: "its process died",
  too_long: "its history was longer than it takes",
  poisoned: "something in its history made every request fail",
  failed: "its session failed twice in a row",
  stale_replay: "it gave the answer before once more",
  rolled_by_upstream: "the agent switched to a new session",
  renamed_by_upstream: "the agent changed the id of its session",
  limit: "it is out of its quota",
  credit: "it is out of credit",
  overloaded: "it was overloaded",
  auth: "it is signed out",
  edited: "a prompt was edited",
  forked: "the conversation was forked",
  chosen: "it was chosen",
  adopted: "it was taken over from its agent",
  branch_left: "another branch was taken",
  new_chat: "a new chat was started",
  cleared: "the conversation was cleared",
  sign_out: "the account was signed out",
  cancelled: "it was stopped",
};

export function reasonWords(reason: string): string | null {
  return Object.hasOwn(REASONS, reason) ? (REASONS[reason] ?? null) : null;
}

const NEEDS_PERSON: ReadonlySet<string> = new Set(["auth", "credit"]);

/** What a ribbon says beside its mark; a rollover says the rest by what was carried. */
export function ribbonWords(ribbon: Ribbon): string {
  switch (ribbon.kind) {
    case "rollover":
      return reasonWords(ribbon.reason) ?? safeLine(ribbon.reason).replaceAll("_", " ");
    case "again":
      return ribbon.isRestarted
        ? "Its process had died before it answered. It was started again, and the same session was asked once more."
        : "It could not answer at once. The same session was asked once more.";
    case "parked":
      return "Parked: it is out of its quota. The prompt was kept; the same session goes on.";
    case "broken":
      return brokenWords(ribbon);
  }
}

function brokenWords({ outcome, class: how }: Extract<Ribbon, { kind: "broken" }>): string {
  const why = how === null ? null : (reasonWords(how) ?? safeLine(how).replaceAll("_", " "));
  const what = outcome === "failed" ? "The turn failed" : "The turn was interrupted";
  const then =
    how !== null && NEEDS_PERSON.has(how)
      ? "This needs a person; the prompt is kept."
      : "What came of it is kept.";
  return `${what}${why === null || how === "failed" ? "" : `: ${why}`}. ${then}`;
}
