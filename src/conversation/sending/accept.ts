import type { ContentBlock, Entry, EntryBody } from "../../log/entry.ts";
import type { Leaf } from "../../log/head.ts";
import type { EntryId } from "../../log/ids.ts";
import type { Json } from "../../log/json-text.ts";
import { queueOf } from "../../log/projections/queue.ts";

export interface Prompt {
  readonly content: string | readonly ContentBlock[];
  /** Kept with the message and never sent to a model. */
  readonly details?: Json;
  /** The prompt that is in the log already and goes out once more. */
  readonly again?: { readonly prompt: EntryId; readonly before: Leaf };
}

export interface Accepted {
  readonly bodies: readonly EntryBody[];
  readonly content: readonly ContentBlock[];
  readonly prompt: string;
  readonly turn: string;
  /** Words that were typed before and go out in front of it. */
  readonly steered: boolean;
}

/** The prompt, what was typed before it, and the turn's start: durable before anything leaves. */
export function accept(given: Prompt, facts: readonly Entry[], newId: () => string): Accepted {
  const words: readonly ContentBlock[] =
    typeof given.content === "string" ? [{ type: "text", text: given.content }] : given.content;
  const [prompt, turn] = [given.again?.prompt ?? newId(), newId()];
  const start: EntryBody = { type: "turn_start", turn, prompt };
  if (given.again !== undefined) return { bodies: [start], content: words, prompt, turn, steered: false };
  const waiting = queueOf(facts);
  const delivered = waiting.flatMap((queued): EntryBody[] => [
    { type: "message", message: { role: "user", content: queued.content } },
    { type: "steer", steer: queued.steer, state: "delivered" },
  ]);
  const details = given.details === undefined ? {} : { details: given.details };
  const message: EntryBody = {
    type: "message",
    id: prompt,
    message: { role: "user", content: words, ...details },
  };
  const content = [...waiting.flatMap((queued) => queued.content), ...words];
  return { bodies: [...delivered, message, start], content, prompt, turn, steered: waiting.length > 0 };
}
