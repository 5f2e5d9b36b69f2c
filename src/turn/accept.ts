import type { Entry, EntryBody, TurnHolder } from "#log/entry";
import type { ContentBlock } from "#log/message";
import type { Leaf } from "#log/lineage/head";
import type { EntryId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import { LogError } from "#log/errors";
import { isBlank } from "#log/projections/context";
import { type Queued, queueOf } from "#log/projections/queue";

/** A prompt as it is given: as words, or as blocks. */
export type PromptContent = string | readonly ContentBlock[];

export interface Prompt {
  readonly content: PromptContent;
  /** Kept with the message and never sent to a model. */
  readonly details?: Json;
  /** Said by the host, not by a person: in the log, and not in people's history. */
  readonly internal?: boolean;
  /** The run its turn belongs to. */
  readonly run?: string;
  /** Who holds the conversation from then on; nobody says so unless given. */
  readonly holder?: TurnHolder | null;
  /** The prompt that is in the log already and goes out once more; `aside`: it is not on the branch. */
  readonly again?: { readonly prompt: EntryId; readonly before: Leaf; readonly aside: boolean };
}

export function checkContent(content: unknown): void {
  if (typeof content !== "string" && !Array.isArray(content))
    throw new LogError("invalid_request", "prompt must be a string or an array of content blocks");
  const blocks = asContent(content as PromptContent) as readonly (ContentBlock | null)[];
  if (!blocks.every((block) => block !== null && isBlank(block))) return;
  throw new LogError("invalid_request", "The prompt is empty. Write some text, or add a file.");
}

export function asContent(content: PromptContent): readonly ContentBlock[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

export interface Accepted {
  readonly bodies: readonly EntryBody[];
  readonly content: readonly ContentBlock[];
  readonly prompt: string;
  readonly turn: string;
  /** Words that were typed before and go out in front of it. */
  readonly steered: boolean;
  /** The same, to wait on under other names should nothing be sent after all. */
  readonly waiting: readonly EntryBody[];
}

/** Words that waited, as messages of their own; each is delivered once. */
export function deliveredBodies(waiting: readonly Queued[]): readonly EntryBody[] {
  return waiting.flatMap((queued): EntryBody[] => [
    { type: "message", message: { role: "user", content: queued.content } },
    { type: "steer", steer: queued.steer, state: "delivered" },
  ]);
}

/** `steers`: all words that were found waiting are delivered with it. */
export function turnStart(
  begun: {
    readonly turn: string;
    readonly prompt: string;
    readonly run?: string | undefined;
    readonly steers?: "delivered";
  },
  holder: TurnHolder | null,
): EntryBody {
  const { turn, prompt, run, steers } = begun;
  return {
    type: "turn_start",
    turn,
    prompt,
    ...(run === undefined ? {} : { run }),
    ...(steers === undefined ? {} : { steers }),
    ...(holder === null ? {} : { holder }),
  };
}

/**
 * The prompt, what was typed before it, and the turn's start: durable before anything leaves. `facts`: all of steers that
 * may wait, and some where there are any, or none of them.
 */
export function accept(input: Prompt, facts: readonly Entry[], newId: () => string): Accepted {
  const blocks = asContent(input.content);
  const { holder = null, run } = input;
  const [prompt, turn] = [input.again?.prompt ?? newId(), newId()];
  if (input.again !== undefined) {
    const back: readonly EntryBody[] = input.again.aside ? [{ type: "leaf", target: prompt }] : [];
    const start = turnStart({ turn, prompt, run }, holder);
    return { bodies: [...back, start], content: blocks, prompt, turn, steered: false, waiting: [] };
  }
  const waiting = queueOf(facts);
  const delivered = deliveredBodies(waiting);
  const details = input.details === undefined ? {} : { details: input.details };
  const internal = input.internal === true ? { internal: true } : {};
  const message: EntryBody = {
    type: "message",
    id: prompt,
    message: { role: "user", content: blocks, ...details, ...internal },
  };
  const content = [...waiting.flatMap((queued) => queued.content), ...blocks];
  const onwards = waiting.map((queued): EntryBody => ({
    type: "steer",
    steer: newId(),
    state: "accepted",
    content: queued.content,
  }));
  // Whoever looks for words that wait need not look behind it; in most conversations there are none.
  const steers = facts.some(({ type }) => type === "steer") ? ({ steers: "delivered" } as const) : {};
  const bodies: EntryBody[] = [...delivered, message, turnStart({ turn, prompt, run, ...steers }, holder)];
  return { bodies, content, prompt, turn, steered: waiting.length > 0, waiting: onwards };
}
