import type { HostEvent } from "#turn/host";
import { safeLine } from "#edges/cli/terminal";
import { reasonWords } from "#edges/cli/view/reasons";
import { clockOf } from "#edges/cli/view/time";

const ENDINGS: Readonly<Record<string, string>> = {
  empty: "The agent answered nothing, twice. The prompt is kept: ask again.",
  overloaded: "The agent stayed overloaded. The prompt is kept: ask again later.",
  auth: "The agent wants a login. The prompt is kept.",
  crashed: "The agent died in the middle. What it had said and done is kept; nothing was run again.",
  cancelled: "Cancelled. What had been said is kept.",
  lost: "The session was lost in the middle. What it had said and done is kept; nothing was run again.",
};

/** What a person is told about an event, in plain words; null when there is nothing to tell. */
export function noticeOf(event: HostEvent): string | null {
  switch (event.type) {
    case "session":
      return event.silent ? null : sessionNotice(event);
    case "lost":
      return `The attempt failed: ${quoted(event.message)}`;
    case "backing_off":
      return `The agent is overloaded; the same session is asked again in ${Math.ceil(event.delayMs / 1000)} s`;
    case "parked":
      return event.resetAtMs === null
        ? `Parked: ${quoted(event.message)}. The prompt is kept.`
        : `Parked until ${clockOf(new Date(event.resetAtMs).toISOString())}: the agent is at its limit. The prompt is kept.`;
    case "ended":
      if (event.outcome === "completed" || event.class === "limit" || event.class === "credit") return null;
      return ENDINGS[event.class] ?? `The turn ${event.outcome}: ${event.class}. What had been said is kept.`;
    case "update":
      return event.event.type === "session" ? "The agent changed its own session id in mid-answer" : null;
    case "switched":
      return `${safeLine(event.to)} goes on in place of ${safeLine(event.from)}`;
    case "poisoned":
      return `${event.isPrompt ? "The prompt" : "An image in the history"} made the request fail${event.hidden ? " and is hidden now" : ""}: ${quoted(event.message)}`;
    case "silent":
      return `The agent has said nothing for ${Math.round(event.forMs / 1000)} s; it may be at work`;
    case "adopted":
      return `${event.messages} messages were found in the agent's own record and are in the log now`;
    case "continued":
      return "The conversation goes on from there. Files and other effects outside of it are not undone.";
    case "accepted":
    case "forked":
      return null;
  }
}

function sessionNotice(event: Extract<HostEvent, { type: "session" }>): string {
  const told = `restored ${event.restored} ${event.restored === 1 ? "message" : "messages"} from the log`;
  if (event.reason === "resumed")
    return `The same session goes on; whether it remembers is not certain, so: ${told}`;
  const why = reasonWords(event.reason);
  if (event.fidelity === "native") return `A new session (${safeLine(why)}), with its whole history`;
  return `A new session (${safeLine(why)}): ${told}`;
}

function quoted(message: string): string {
  return `“${safeLine(message)}”`;
}
