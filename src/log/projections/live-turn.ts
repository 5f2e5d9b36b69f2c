import type { Entry } from "#log/entry";
import type { Json } from "#log/json/json-text";

/** Text of a turn that the log does not have yet. */
export interface HeardText {
  readonly turn: string;
  readonly kind: "text" | "thinking";
  /** How many characters of the same message were before it. */
  readonly at: number;
  readonly text: string;
}

/** A call of a tool that runs. */
interface LiveCall {
  readonly call: string;
  readonly name: string;
  readonly input: Json;
  readonly state: "started" | "done" | "failed";
}

interface Said {
  readonly text: string;
  readonly thinking: string;
}

const NOTHING: Said = { text: "", thinking: "" };

/** What the turn that runs has said since the last message of it in the log. */
export interface LiveTurn {
  readonly turn: string | null;
  readonly words: string;
  readonly thinking: string;
  readonly calls: readonly LiveCall[];
  /** Why the agent waits on its own. */
  readonly waiting: string | null;
  /** How many characters of each are in the log. */
  readonly logged: { readonly text: number; readonly thinking: number };
  /** Heard, and not in the log yet: it follows on the words and thoughts. */
  readonly heard: Said;
  /** The streamed text after the message that the log already has. */
  readonly next: Said & { readonly turn: string | null };
}

export const NO_TURN: LiveTurn = {
  turn: null,
  words: "",
  thinking: "",
  calls: [],
  waiting: null,
  logged: { text: 0, thinking: 0 },
  heard: NOTHING,
  next: { ...NOTHING, turn: null },
};

/** The text so far, whether or not it is in the log. */
export function saidBy({ words, thinking, heard }: LiveTurn): Said {
  return { text: words + heard.text, thinking: thinking + heard.thinking };
}

/**
 * With words that are not in the log yet. They say where they stand: what does not follow on what is known is left to the log. Those that begin
 * anew belong behind a message that the log has yet to tell of.
 */
export function liveTurnHearing(was: LiveTurn, { turn, kind, at, text }: HeardText): LiveTurn {
  const next = was.next.turn === turn ? was.next : { ...NOTHING, turn };
  if (next[kind] !== "" && next[kind].length === at)
    return { ...was, next: { ...next, [kind]: next[kind] + text } };
  const [since, stream] = [was.logged[kind], was.heard[kind]];
  if (turn === was.turn && since <= at && at <= since + stream.length)
    return { ...was, waiting: null, heard: { ...was.heard, [kind]: stream.slice(0, at - since) + text } };
  return at === 0 ? { ...was, next: { ...next, [kind]: text } } : was;
}

/** A turn whose agent is asked, or asked again: text streamed before counts now. */
function begun({ next }: LiveTurn, turn: string): LiveTurn {
  const heard = next.turn === turn ? { text: next.text, thinking: next.thinking } : NOTHING;
  return { ...NO_TURN, turn, heard };
}

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

const WORDS_MAX = 30_000; // while text streams, only its end is shown; afterwards all of it is in the log

const withMore = (text: string, more: string): string => (text + more).slice(-WORDS_MAX).toWellFormed();

function withEvent(was: LiveTurn, event: Event): LiveTurn {
  const text = textIn(event["text"]);
  const { heard, logged } = was;
  if (event.type === "text" || event.type === "thinking") {
    const kind = event.type;
    const rest = { ...heard, [kind]: heard[kind].slice(text.length) };
    const counted = { ...logged, [kind]: logged[kind] + text.length };
    const more = { heard: rest, logged: counted };
    return kind === "text"
      ? { ...was, ...more, words: withMore(was.words, text), waiting: null }
      : { ...was, ...more, thinking: withMore(was.thinking, text) };
  }
  if (event.type === "waiting") return { ...was, waiting: text };
  if (event.type !== "tool") return was;
  const call: LiveCall = {
    call: textIn(event["call"]),
    name: textIn(event["name"]),
    input: (event["input"] as Json | undefined) ?? null,
    state: event["state"] === "done" || event["state"] === "failed" ? event["state"] : "started",
  };
  return { ...was, calls: [...was.calls.filter((one) => one.call !== call.call), call] };
}

/** With one more entry: a message replaces the text streamed for it. */
export function liveTurnAfter(was: LiveTurn, entry: Entry): LiveTurn {
  if (entry.type === "turn_start") return begun(was, entry.turn);
  if (entry.type === "turn_end") return { ...NO_TURN, next: was.next };
  if (was.turn === null) return was;
  if (entry.type === "message" || entry.type === "attempt" || entry.type === "attempt_end")
    return begun(was, was.turn);
  if (entry.type === "tool_intent") {
    const { call, name, input = null } = entry;
    const isKnown = was.calls.some((one) => one.call === call);
    return isKnown ? was : { ...was, calls: [...was.calls, { call, name, input, state: "started" }] };
  }
  if (entry.type !== "update") return was;
  let next = was;
  for (const event of eventsIn(entry.data)) next = withEvent(next, event);
  return next;
}

/** A turn from the entries since it was last sent something. */
export function liveTurnSince(turn: string, entries: readonly Entry[]): LiveTurn {
  return entries.reduce(liveTurnAfter, begun(NO_TURN, turn));
}
