import type { HostEvent } from "#turn/host";
import type { Json } from "#log/json/json-text";
import { FORKED_TEXT, type NoticeText, noticeText, resetText, waitingText } from "#operations/notices";
import { NOT_UNDONE } from "#operations/text";

/** Something a host and its person are told besides what the agent says. */
export interface Notice extends NoticeText {
  /** For programs: goes into `_meta.holdfast`. */
  readonly meta: { readonly [name: string]: Json };
}

interface About {
  readonly agent: string;
  /** There are other agents to go on with. */
  readonly others: boolean;
}

/** What there is to tell about an event; null when there is nothing. */
export function noticeOf(event: HostEvent, { agent, others }: About): Notice | null {
  const meta = metaOf(event);
  const text = noticeText(event, {
    agent,
    otherAgent: others || event.type === "switched" ? "/agent NAME" : null,
    timeText: isoTime,
  });
  return text === null || meta === null ? null : { ...text, meta: { event: event.type, agent, ...meta } };
}

/** A fork is another conversation over the same files. */
export function forkedNotice(source: string): Notice {
  return { ...FORKED_TEXT, meta: { event: "forked", source, notUndone: NOT_UNDONE } };
}

/** The agent starts with an empty context. */
export function resetNotice(reason: string, agent: string): Notice {
  return { ...resetText(agent, reason), meta: { event: "reset", agent, reason } };
}

/** The agent says that it waits before it tries again by itself. */
export function waitingNotice(
  waiting: { readonly text: string; readonly delayMs: number },
  agent: string,
): Notice {
  const { text, delayMs } = waiting;
  return { ...waitingText(agent, waiting), meta: { event: "waiting", agent, delayMs, message: text } };
}

/** An event for programs; null for what the host learns in another way. */
function metaOf(event: HostEvent): { readonly [name: string]: Json } | null {
  switch (event.type) {
    case "session": {
      const { reason, fidelity, restored, priorContext } = event;
      return {
        reason,
        fidelity,
        restored,
        ...(priorContext === null ? {} : { priorContext: { ...priorContext } }),
      };
    }
    case "lost":
      return { class: event.class, message: event.message };
    case "poisoned": {
      const { entry, isPrompt, hidden, message } = event;
      return { entry, isPrompt, hidden, message };
    }
    case "backing_off":
      return { delayMs: event.delayMs, message: event.message };
    case "parked": {
      const { class: known, message, resetAtMs } = event;
      return { class: known, message, resetAt: resetAtMs === null ? null : isoTime(resetAtMs) };
    }
    case "switched":
      return { from: event.from, agent: event.to };
    case "silent":
      return { forMs: event.forMs };
    case "adopted":
      return { messages: event.messages, aside: event.aside };
    case "continued":
      return { how: event.how, at: event.at, fidelity: event.fidelity, notUndone: NOT_UNDONE };
    case "ended":
      // Any other ending is the answer to the prompt.
      return event.class === "empty" ? { event: "empty" } : null;
    case "compacted":
      return { entry: event.entry, tokensBefore: event.tokensBefore };
    case "waiting":
      return { requests: event.requests };
    case "accepted":
    case "forked":
    case "update":
    case "step":
    case "asked":
    case "answered":
      return null;
  }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
