import type { Entry } from "#log/entry";

/** A call of a tool that runs. */
interface LiveCall {
  readonly call: string;
  readonly name: string;
  readonly input: unknown;
  readonly state: "started" | "done" | "failed";
}

/** What the turn that runs has said since the last message of it in the log. */
export interface LiveTurn {
  readonly turn: string | null;
  readonly words: string;
  readonly thinking: string;
  readonly calls: readonly LiveCall[];
  /** The agent waits by itself, and why. */
  readonly waiting: string | null;
}

export const NO_TURN: LiveTurn = { turn: null, words: "", thinking: "", calls: [], waiting: null };

interface Event {
  readonly type?: unknown;
  readonly [name: string]: unknown;
}

function eventsIn(data: unknown): readonly Event[] {
  const { events } = (typeof data === "object" && data !== null ? data : {}) as { readonly events?: unknown };
  return Array.isArray(events)
    ? (events as readonly (Event | null)[]).filter((one) => typeof one === "object" && one !== null)
    : [];
}

const textIn = (value: unknown): string => (typeof value === "string" ? value : "");

const WORDS_MAX = 30_000; // of what is being said, its end is looked at; once it is said, all of it is in the log

const withMore = (words: string, more: string): string => (words + more).slice(-WORDS_MAX).toWellFormed();

function withEvent(was: LiveTurn, event: Event): LiveTurn {
  const text = textIn(event["text"]);
  if (event.type === "text") return { ...was, words: withMore(was.words, text), waiting: null };
  if (event.type === "thinking") return { ...was, thinking: withMore(was.thinking, text) };
  if (event.type === "waiting") return { ...was, waiting: text };
  if (event.type !== "tool") return was;
  const call: LiveCall = {
    call: textIn(event["call"]),
    name: textIn(event["name"]),
    input: event["input"],
    state: event["state"] === "done" || event["state"] === "failed" ? event["state"] : "started",
  };
  return { ...was, calls: [...was.calls.filter((one) => one.call !== call.call), call] };
}

/** With one more entry: what a message holds is no longer told apart from it. */
export function liveTurnAfter(was: LiveTurn, entry: Entry): LiveTurn {
  if (entry.type === "turn_start") return { ...NO_TURN, turn: entry.turn };
  if (entry.type === "turn_end") return NO_TURN;
  if (was.turn === null) return was;
  if (entry.type === "message") return { ...NO_TURN, turn: was.turn };
  if (entry.type === "attempt" || entry.type === "attempt_end") return { ...NO_TURN, turn: was.turn };
  if (entry.type === "tool_intent") {
    const { call, name, input } = entry;
    const known = was.calls.some((one) => one.call === call);
    return known ? was : { ...was, calls: [...was.calls, { call, name, input, state: "started" }] };
  }
  if (entry.type !== "update") return was;
  let next = was;
  for (const event of eventsIn(entry.data)) next = withEvent(next, event);
  return next;
}
