import type { HostEvent } from "../../../conversation/sending/host.ts";
import { safeLine } from "../terminal.ts";
import { clockOf } from "../view/time.ts";

/** Why a session is not the one before, for people. A reason that is not here is shown as it stands. */
const REASONS: Readonly<Record<string, string>> = {
  first: "the first one",
  never_used: "the one before was never used",
  empty: "the one before answered nothing",
  expired: "the one before had expired",
  lost: "the agent had lost the one before",
  crashed: "the agent's process had died",
  too_long: "the history had become too long for the one before",
  poisoned: "something in the one before made every request fail",
  stale_replay: "the one before repeated an old answer",
  branch_left: "the one before knows words that are no longer part of the conversation",
  agent_switch: "another agent goes on",
  new_chat: "a new chat was begun",
  sign_out: "the account was signed out",
};

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
    case "silent":
      return `The agent has said nothing for ${Math.round(event.forMs / 1000)} s; it may be at work`;
    case "adopted":
      return `${event.messages} messages were found in the agent's own record and are in the log now`;
    case "accepted":
    case "forked":
      return null;
  }
}

function sessionNotice(event: Extract<HostEvent, { type: "session" }>): string {
  const told = `restored ${event.restored} ${event.restored === 1 ? "message" : "messages"} from the log`;
  if (event.reason === "resumed")
    return `The same session goes on; whether it remembers is not certain, so: ${told}`;
  const why = REASONS[event.reason] ?? event.reason.replaceAll("_", " ");
  if (event.fidelity === "native") return `A new session (${safeLine(why)}), with its whole history`;
  return `A new session (${safeLine(why)}): ${told}`;
}

function quoted(message: string): string {
  return `“${safeLine(message)}”`;
}
