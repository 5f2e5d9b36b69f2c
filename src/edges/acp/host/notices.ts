import type { HostEvent } from "#turn/host";
import type { Json } from "#log/json/json-text";
import { toldInWords } from "#sending/rules/told";

/** Something a host and its person are told besides what the agent says. */
export interface Notice {
  readonly severity: "info" | "warning" | "error";
  readonly title: string;
  readonly description: string;
  /** For programs: goes into `_meta.holdfast`. */
  readonly word: { readonly [name: string]: Json };
}

const REASONS: Readonly<Record<string, string>> = {
  expired: "its session had expired",
  lost: "it had lost its session",
  crashed: "its process had died",
  empty: "it had answered nothing",
  too_long: "the history had become too long for it",
  poisoned: "something in its history made every request fail",
  stale_replay: "it had repeated an old answer",
  branch_left: "its session knew words that are no longer part of the conversation",
  agent_switch: "it has not carried this conversation before",
  cwd_changed: "the project has moved",
  never_used: "the one before was never used",
  resumed: "whether it remembers everything is not certain",
};

interface About {
  readonly agent: string;
  /** There are other agents to go on with. */
  readonly others: boolean;
}

/** What there is to tell about an event; null when there is nothing. */
export function noticeOf(event: HostEvent, about: About): Notice | null {
  const { agent } = about;
  switch (event.type) {
    case "session":
      return event.silent ? null : sessionNotice(event, agent);
    case "lost":
      return {
        severity: "warning",
        title: "The attempt failed and is made once more",
        description: event.message,
        word: { event: "lost", agent, class: event.class, message: event.message },
      };
    case "poisoned":
      return poisonedNotice(event, agent);
    case "backing_off":
      return {
        severity: "info",
        title: `${agent} could not answer just now`,
        description: `${event.message}. The same session is asked again in ${Math.ceil(event.delayMs / 1_000)} s.`,
        word: { event: "backing_off", agent, delayMs: event.delayMs, message: event.message },
      };
    case "parked":
      return parkedNotice(event, about);
    case "switched":
      return {
        severity: "info",
        title: `${event.to} goes on in place of ${event.from}`,
        description: "It is told what was said and done. Say /agent NAME to choose again.",
        word: { event: "switched", from: event.from, agent: event.to },
      };
    case "silent":
      return {
        severity: "warning",
        title: `${agent} has said nothing for ${Math.round(event.forMs / 1_000)} s`,
        description: "It may be at work, or wait for a limit to pass. Cancel if you do not want to wait.",
        word: { event: "silent", agent, forMs: event.forMs },
      };
    case "adopted":
      return {
        severity: "info",
        title: `${event.messages} messages were found in ${agent}'s own history`,
        description: event.aside
          ? "The conversation had gone on elsewhere, so they are kept on a branch of their own."
          : "Someone went on there; the conversation continues from them.",
        word: { event: "adopted", agent, messages: event.messages, aside: event.aside },
      };
    case "continued":
      return continuedNotice(event, agent);
    case "ended":
      return event.class === "empty" ? emptyNotice(agent) : null;
    case "accepted":
    case "forked":
    case "update":
      return null;
  }
}

/** Said wherever people fork, edit and go back. */
export const NOT_UNDONE = "Files and other effects outside of the conversation are not undone.";

const CONTINUED = {
  edited: "The conversation goes on from before that message",
  forked: "The conversation goes on in a fork of the agent's session",
  resumed: "The conversation goes on where that session stood",
};

function continuedNotice(event: Extract<HostEvent, { type: "continued" }>, agent: string): Notice {
  const { how, at, fidelity } = event;
  return {
    severity: "info",
    title: CONTINUED[how],
    description: `What is left that way is kept and can be come back to. ${NOT_UNDONE}`,
    word: { event: "continued", agent, how, at, fidelity, notUndone: NOT_UNDONE },
  };
}

/** A fork is another conversation over the same files. */
export function forkedNotice(source: string): Notice {
  return {
    severity: "info",
    title: "This is a fork",
    description: `Its source goes on as it is. ${NOT_UNDONE}`,
    word: { event: "forked", source, notUndone: NOT_UNDONE },
  };
}

/** The agent says that it waits before it tries again by itself. */
export function waitingNotice(
  { text, delayMs }: { readonly text: string; readonly delayMs: number },
  agent: string,
): Notice {
  return {
    severity: "info",
    title: `${agent} tries again in ${Math.ceil(delayMs / 1_000)} s`,
    description: text,
    word: { event: "waiting", agent, delayMs, message: text },
  };
}

function sessionNotice(event: Extract<HostEvent, { type: "session" }>, agent: string): Notice {
  const { reason, fidelity, restored, told } = event;
  const how = {
    native: "It goes on with its whole history.",
    transcript: "Its history was written anew from the log, tools included.",
    preamble: told === null ? "" : `It ${restored === 0 ? "will be" : "was"} told ${toldInWords(told)}.`,
  }[fidelity];
  return {
    severity: "info",
    title: reason === "resumed" ? `${agent} goes on` : `${agent} goes on in a new session`,
    description: `Because ${REASONS[reason] ?? reason.replaceAll("_", " ")}. ${how}`,
    word: {
      event: "session",
      agent,
      reason,
      fidelity,
      restored,
      ...(told === null ? {} : { told: { ...told } }),
    },
  };
}

function poisonedNotice(event: Extract<HostEvent, { type: "poisoned" }>, agent: string): Notice {
  const { entry, isPrompt, hidden, message } = event;
  const what = isPrompt ? "this prompt" : "an image in the history";
  const kept = hidden ? "is hidden from every model from now on" : "stays, and no other session is given it";
  return {
    severity: "warning",
    title: `${agent} cannot take ${what}`,
    description: `It ${kept}; the log keeps it.${isPrompt ? " Send it again without the image." : ""}`,
    word: { event: "poisoned", agent, entry, isPrompt, hidden, message },
  };
}

function emptyNotice(agent: string): Notice {
  return {
    severity: "warning",
    title: `${agent} answered nothing, twice`,
    description: "The prompt is kept; ask again, perhaps in other words.",
    word: { event: "empty", agent },
  };
}

function parkedNotice(event: Extract<HostEvent, { type: "parked" }>, { agent, others }: About): Notice {
  const resetAt = event.resetAtMs === null ? null : new Date(event.resetAtMs).toISOString();
  const what = event.class === "credit" ? `${agent} has no credit left` : `${agent} is at its limit`;
  const until = resetAt === null ? "" : ` until ${resetAt}`;
  const unasked = event.upstream === null ? "It was not asked; send again to try anyway" : "Send again later";
  const more = others ? `${unasked}, or say /agent NAME to go on with another agent.` : `${unasked}.`;
  return {
    severity: "error",
    title: `${what}${until}`,
    // What the agent said of it is in the answer to the prompt, and often among its own words, too.
    description: `The conversation and this prompt are kept; nothing is sent by itself. ${more}`,
    word: { event: "parked", agent, class: event.class, message: event.message, resetAt },
  };
}
