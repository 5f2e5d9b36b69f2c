import { type TurnEvent, turnText } from "./turn-event.ts";

const ERROR_CHARS_MIN = 12; // a word or two of a partial answer may stand in any error

/**
 * What is left of an attempt that failed: some agents say their error as if it were an answer before they report it,
 * and such words must not stand in the history as one.
 */
export function withoutErrorText(events: readonly TurnEvent[], message: string): readonly TurnEvent[] {
  const last = events.findLastIndex((event) => event.type === "text" && event.text.trim() !== "");
  const end = events[last];
  if (end?.type !== "text") return events;
  const first = lastMessage(events, last);
  const said = turnText(events.slice(first)).trim();
  const error = message.trim();
  const same =
    error !== "" && (said.includes(error) || (said.length >= ERROR_CHARS_MIN && error.includes(said)));
  if (!same && end.adapterText !== true) return events;
  // Without ids a partial answer and the error are one stretch of text: only the error is not an answer.
  const from =
    end.message === undefined && error !== "" && said.includes(error)
      ? errorStart(events, first, error)
      : first;
  return events.filter((event, at) => at < from || event.type !== "text");
}

/** Where the message begins whose words stand last; one without an id reaches back no further than a tool. */
function lastMessage(events: readonly TurnEvent[], last: number): number {
  const end = events[last];
  let first = last;
  for (let at = last - 1; at >= 0; at--) {
    const event = events[at];
    if (event?.type === "tool" && end?.type === "text" && end.message === undefined) break;
    if (event?.type !== "text") continue;
    if (end?.type !== "text" || event.message !== end.message || event.adapterText !== end.adapterText) break;
    first = at;
  }
  return first;
}

/** The piece of text in which the error begins. */
function errorStart(events: readonly TurnEvent[], first: number, error: string): number {
  let at = events.length;
  for (let text = ""; at > first && !text.includes(error);) {
    const event = events[--at];
    if (event?.type === "text") text = event.text + text;
  }
  return at;
}
