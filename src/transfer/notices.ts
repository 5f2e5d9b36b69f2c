import type { HostEvent } from "#turn/host";
import { priorContextText } from "#upstream/rules/preamble";
import { endingSentence, NOT_UNDONE, reasonWords } from "./words.ts";

/** What a person is told of an event, in the same words at every edge. */
export interface NoticeText {
  readonly severity: "info" | "warning" | "error";
  readonly title: string;
  readonly description: string;
}

export interface NoticeInput {
  /** Who is spoken of: an agent's name, or "The agent". */
  readonly agent: string;
  /** How a person asks for another agent to go on with; null where there is none. */
  readonly otherAgent: string | null;
  /** A time as the edge shows it. */
  timeText(ms: number): string;
}

type Of<T extends HostEvent["type"]> = Extract<HostEvent, { type: T }>;

/** The words for an event; null when there is nothing to tell. */
export function noticeText(event: HostEvent, input: NoticeInput): NoticeText | null {
  const { agent } = input;
  switch (event.type) {
    case "session":
      return event.silent ? null : sessionText(event, agent);
    case "lost":
      return warning("The attempt failed and is made once more", event.message);
    case "poisoned":
      return poisonedText(event, agent);
    case "backing_off":
      return info(
        `${agent} could not answer just now`,
        `${event.message}. ${event.upstream === null ? "It" : "The same session"} is asked again in ${Math.ceil(event.delayMs / 1_000)} s.`,
      );
    case "parked":
      return parkedText(event, input);
    case "switched":
      return info(
        `${event.to} goes on in place of ${event.from}`,
        `It is told what was said and done.${input.otherAgent === null ? "" : ` Say ${input.otherAgent} to choose again.`}`,
      );
    case "silent":
      return warning(
        `${agent} has said nothing for ${Math.round(event.forMs / 1_000)} s`,
        "It may be at work, or wait for a limit to pass. Cancel if you do not want to wait.",
      );
    case "adopted":
      return info(
        `${event.messages} messages were found in ${agent}'s own history`,
        event.aside
          ? "The conversation had gone on elsewhere, so they are kept on a branch of their own."
          : "Someone went on there; the conversation continues from them.",
      );
    case "continued":
      return info(
        CONTINUED[event.how],
        `What is left that way is kept and can be come back to. ${NOT_UNDONE}`,
      );
    case "ended":
      return endedText(event, agent);
    case "update":
      return event.event.type === "session"
        ? info(`${agent} changed its own session id`, "The conversation keeps both.")
        : null;
    case "compacted":
      return info(
        "The conversation was summarised for the model",
        "What came before is told in short from here on; the log keeps every word of it.",
      );
    case "waiting":
      return warning(
        "The turn waits for an answer",
        "A tool may only run when a person allows it. The answer may come from anywhere; nothing is lost meanwhile.",
      );
    case "accepted":
    case "forked":
    case "step":
    case "asked":
    case "answered":
      return null;
  }
}

/** A fork is another conversation over the same files. */
export const FORKED_TEXT: NoticeText = info("This is a fork", `Its source goes on as it is. ${NOT_UNDONE}`);

/** The next prompt starts with an empty context. */
export function resetText(agent: string, reason: string): NoticeText {
  return info(
    `${agent} starts empty`,
    `Your next message is sent without what was said before, because ${reasonWords(reason)}. The history keeps every message.`,
  );
}

/** The agent says that it waits before it tries again by itself. */
export function waitingText(agent: string, { text, delayMs }: { text: string; delayMs: number }): NoticeText {
  return info(`${agent} tries again in ${Math.ceil(delayMs / 1_000)} s`, text);
}

const CONTINUED = {
  edited: "The conversation goes on from before that message",
  forked: "The conversation goes on in a fork of the agent's session",
  resumed: "The conversation goes on where that session stood",
};

function info(title: string, description: string): NoticeText {
  return { severity: "info", title, description };
}

function warning(title: string, description: string): NoticeText {
  return { severity: "warning", title, description };
}

function sessionText({ reason, fidelity, restored, priorContext }: Of<"session">, agent: string): NoticeText {
  const how = {
    native: "It goes on with its whole history.",
    transcript: "Its history was written anew from the log, tools included.",
    preamble:
      priorContext === null
        ? ""
        : `It ${restored === 0 ? "will be" : "was"} sent ${priorContextText(priorContext)}.`,
  }[fidelity];
  return info(
    reason === "resumed" ? `${agent} goes on` : `${agent} goes on in a new session`,
    `Because ${reasonWords(reason)}. ${how}`.trimEnd(),
  );
}

function poisonedText({ isPrompt, hidden }: Of<"poisoned">, agent: string): NoticeText {
  const what = isPrompt ? "this prompt" : "an image in the history";
  const kept = hidden ? "is hidden from every model from now on" : "stays, and no other session is given it";
  return warning(
    `${agent} cannot take ${what}`,
    `It ${kept}; the log keeps it.${isPrompt ? " Send it again without the image." : ""}`,
  );
}

function endedText({ outcome, class: known }: Of<"ended">, agent: string): NoticeText | null {
  // The "parked" notice covers a limit of the agent; the loop says in the conversation how to continue after one of its own.
  if (known === "limit" || known === "credit" || known === "turn_limit") return null;
  if (outcome === "completed" && known !== "empty") return null;
  const [title = "", ...rest] = endingSentence({ outcome, class: known })
    .replace(/^The agent/, () => agent)
    .split(/(?<=\.) /);
  return warning(title.replace(/\.$/, ""), rest.join(" "));
}

function parkedText(event: Of<"parked">, input: NoticeInput): NoticeText {
  const { agent, otherAgent } = input;
  const what = event.class === "credit" ? `${agent} has no credit left` : `${agent} is at its limit`;
  const until = event.resetAtMs === null ? "" : ` until ${input.timeText(event.resetAtMs)}`;
  const unasked = event.upstream === null ? "It was not asked; send again to try anyway" : "Send again later";
  const more = otherAgent === null ? "." : `, or say ${otherAgent} to go on with another agent.`;
  return {
    severity: "error",
    title: `Parked${until}: ${what}`,
    // What the agent said of it is in the answer to the prompt, and often among its own words, too.
    description: `The conversation and this prompt are kept; nothing is sent by itself. ${unasked}${more}`,
  };
}
