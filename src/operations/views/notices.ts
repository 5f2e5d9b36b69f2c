import type { HostEvent } from "#turn/host";
import { priorContextText } from "#upstream/rules/preamble";
import { endingSentence, NOT_UNDONE, reasonText } from "#operations/text";

/** What you see of an event, the same at every edge. */
export interface NoticeText {
  readonly severity: "info" | "warning" | "error";
  readonly title: string;
  readonly description: string;
}

export interface NoticeInput {
  /** An agent's name, or "The agent". */
  readonly agent: string;
  /** What you type to choose another agent; null if there is only one. */
  readonly otherAgent: string | null;
  /** A time as the edge shows it. */
  timeText(ms: number): string;
}

type Of<T extends HostEvent["type"]> = Extract<HostEvent, { type: T }>;

/** The text for an event; null for one that is not shown. */
export function noticeText(event: HostEvent, input: NoticeInput): NoticeText | null {
  const { agent } = input;
  switch (event.type) {
    case "session":
      return event.silent ? null : sessionText(event, agent);
    case "lost":
      return warning("The attempt failed. Holdfast tries again", event.message);
    case "poisoned":
      return poisonedText(event, agent);
    case "backing_off":
      return info(
        `${agent} could not answer`,
        `${event.message}. Holdfast retries ${event.upstream === null ? "" : "in the same session "}in ${Math.ceil(event.delayMs / 1_000)} s.`,
      );
    case "parked":
      return parkedText(event, input);
    case "switched":
      return info(
        `${event.to} continues in place of ${event.from}`,
        `Holdfast sends it the conversation.${input.otherAgent === null ? "" : ` Use ${input.otherAgent} to choose again.`}`,
      );
    case "silent":
      return warning(
        `No output from ${agent} for ${Math.round(event.forMs / 1_000)} s`,
        "It may be working, or waiting for a limit to reset. Cancel to stop waiting.",
      );
    case "adopted":
      return info(
        `${event.messages} messages were found in ${agent}'s own history`,
        event.aside
          ? "The conversation has newer messages, so these are on a separate branch."
          : "The conversation continues from them.",
      );
    case "continued":
      return info(
        CONTINUED[event.how],
        `The messages after that point stay on their own branch. ${NOT_UNDONE}`,
      );
    case "ended":
      return endedText(event, agent);
    case "update":
      return event.event.type === "session"
        ? info(`${agent} changed its session id`, "The conversation keeps both ids.")
        : null;
    case "compacted":
      return info(
        "The conversation was summarized for the model",
        "The model gets a summary of earlier messages; the log keeps all of them.",
      );
    case "waiting":
      return warning(
        "The turn waits for an answer",
        "A tool needs your approval. You can answer from any process.",
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
export const FORKED_TEXT: NoticeText = info("This is a fork", `The source does not change. ${NOT_UNDONE}`);

/** The next prompt starts with an empty context. */
export function resetText(agent: string, reason: string): NoticeText {
  return info(
    `${agent} starts with an empty context`,
    `Your next message is sent without earlier messages, because ${reasonText(reason)}. The history keeps every message.`,
  );
}

/** The agent reported that it waits and then tries again. */
export function waitingText(agent: string, { text, delayMs }: { text: string; delayMs: number }): NoticeText {
  return info(`${agent} tries again in ${Math.ceil(delayMs / 1_000)} s`, text);
}

const CONTINUED = {
  edited: "The conversation continues from before that message",
  forked: "The conversation continues in a fork of the agent session",
  resumed: "The conversation continues from the end of that session",
};

function info(title: string, description: string): NoticeText {
  return { severity: "info", title, description };
}

function warning(title: string, description: string): NoticeText {
  return { severity: "warning", title, description };
}

function sessionText({ reason, fidelity, restored, priorContext }: Of<"session">, agent: string): NoticeText {
  const how = {
    native: "It has its whole history.",
    transcript: "Its history was rebuilt from the log, tools included.",
    preamble:
      priorContext === null
        ? ""
        : `It ${restored === 0 ? "will be" : "was"} sent ${priorContextText(priorContext)}.`,
  }[fidelity];
  return info(
    reason === "resumed" ? `${agent} continues` : `${agent} continues in a new session`,
    `Because ${reasonText(reason)}. ${how}`.trimEnd(),
  );
}

function poisonedText({ isPrompt, hidden }: Of<"poisoned">, agent: string): NoticeText {
  const what = isPrompt ? "this prompt" : "an image in the history";
  const visibility = hidden ? "is now hidden from every model" : "stays, but no other session receives it";
  return warning(
    `${agent} rejects ${what}`,
    `It ${visibility}; the log keeps it.${isPrompt ? " Send it again without the image." : ""}`,
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
  const what = event.class === "credit" ? `${agent} has no credit left` : `${agent} reached its limit`;
  const until = event.resetAtMs === null ? "" : ` until ${input.timeText(event.resetAtMs)}`;
  const next =
    event.upstream === null ? "The prompt was not sent. Send again to try anyway" : "Send again later";
  const more = otherAgent === null ? "." : `, or use ${otherAgent} to switch to another agent.`;
  return {
    severity: "error",
    title: `Paused${until}: ${what}`,
    // The agent's own message is in the answer to the prompt, and often in its output, too.
    description: `The conversation and this prompt are saved. Holdfast does not send it again automatically. ${next}${more}`,
  };
}
