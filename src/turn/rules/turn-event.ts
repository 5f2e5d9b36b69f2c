import type { Json } from "#log/json/json-text";
import type { ContentBlock, Usage } from "#log/message";
import type { WireMessage } from "#turn/wire-message";

/** What whoever carries a turn says while at work on it, in the order it came. */
export type TurnEvent = (
  | {
      readonly type: "text" | "thinking";
      readonly text: string;
      /** The agent's own id of the message the text belongs to, where it has one. */
      readonly message?: string;
      /** Said by the agent's program, not by its model. */
      readonly adapterText?: true;
    }
  | {
      readonly type: "tool";
      readonly call: string;
      /** Which of the agent's answers in this turn the call belongs to, where ids come again in each. */
      readonly step?: number;
      readonly name: string;
      readonly input: Json;
      readonly state: "started" | "done" | "failed";
      readonly output?: string;
      /** The whole output of a tool of ours, where it is more than its words, and what is kept with it. */
      readonly content?: readonly ContentBlock[];
      readonly details?: Json;
      /** What else the agent said of the call this time: its title, places, changes to files. */
      readonly detail?: { readonly [name: string]: Json };
    }
  /** A message is finished, and this is what the agent keeps of its words; text that has no such end was given up. */
  | { readonly type: "final_text"; readonly message: string; readonly text: string }
  /** The agent waits by itself, before it tries again. */
  | { readonly type: "waiting"; readonly text: string; readonly delayMs: number }
  | { readonly type: "plan"; readonly data: Json }
  /** A person was asked whether a call may go on, or answered; `request` names what waits for an answer in the log. */
  | {
      readonly type: "permission";
      readonly call?: string;
      readonly data: Json;
      readonly request?: string;
      readonly options?: readonly { readonly id: string; readonly name: string; readonly kind: string }[];
    }
  /** Words of a person that were handed to the agent while it worked. */
  | { readonly type: "steered"; readonly steer: string; readonly content: readonly ContentBlock[] }
  /** Anything else it said that is worth keeping. */
  | { readonly type: "other"; readonly data: Json }
  /** Something the host is handed that is no part of the conversation. */
  | { readonly type: "forward_only"; readonly expectsAnswer?: true }
  /**
   * The agent continues in a session with another id. Holdfast assumes that this session is new and holds nothing of the
   * conversation, so the next prompt carries prior context. `renamed`: it is the same session and holds all it held.
   */
  | { readonly type: "session"; readonly id: string; readonly renamed?: true }
  | { readonly type: "usage"; readonly usage: Usage }
) & {
  /** The message as it came, for an edge that passes it on; never recorded. */
  readonly wire?: WireMessage;
};

/** What an attempt used: as it said while it worked, else as it said at its end. */
export function usedBy(events: readonly TurnEvent[], atEnd: Usage | null): Usage | null {
  const last = events.findLast((event) => event.type === "usage");
  return last?.type === "usage" ? last.usage : atEnd;
}

/** The words of a turn, as one text. */
export function turnText(events: Iterable<TurnEvent>): string {
  let text = "";
  for (const event of events) if (event.type === "text") text += event.text;
  return text;
}

export function toolStarted(events: Iterable<TurnEvent>): boolean {
  for (const event of events) if (event.type === "tool") return true;
  return false;
}

/** Whether a tool was started of which nothing says how it ended. */
export function hasOpenCall(events: Iterable<TurnEvent>): boolean {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type !== "tool") continue;
    if (event.state === "started") open.add(event.call);
    else open.delete(event.call);
  }
  return open.size > 0;
}
