import type { TurnOutcome, EntryBody } from "#log/entry";
import type { EndingClass } from "#log/ending-class";
import { parseConversationId, parseKey, type EntryId } from "#log/ids";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { checkContent, type PromptContent } from "./accept.ts";
import type { Host, TurnResult } from "./host.ts";
import type { CloseOptions, Note, Owned } from "./one-at-a-time.ts";
import type { Steered, SteerOptions } from "./steering.ts";

/** Options of one turn, whoever runs it. */
export interface RunTurnOptions extends Host {
  /** The same key is the same turn. */
  readonly key?: string;
  /** The model to ask, where turns are not run by an agent with a model of its own. */
  readonly model?: string;
}

/** What became of a turn, whoever ran it. `waiting`: it is open until its questions are answered. */
export interface EndedTurn extends Omit<TurnResult, "outcome" | "class" | "upstream"> {
  readonly outcome: TurnOutcome | "waiting";
  readonly class: EndingClass | null;
}

/** Runs turns in the conversations of a space: an `Agent` with its own model calls, or a `Runtime` with agent sessions. */
export interface Turns {
  /** Sends a prompt; resolves when its turn has ended or waits for an answer. */
  send(to: Conversation | string, content: PromptContent, options?: RunTurnOptions): Promise<EndedTurn>;
  /** Sends a prompt in place of an earlier one. What followed that one leaves the branch and stays in the log. */
  edit(
    to: Conversation | string,
    entry: string,
    content: PromptContent,
    options?: RunTurnOptions,
  ): Promise<EndedTurn>;
  /** Finishes the last turn without a new prompt. */
  continue(to: Conversation | string, options?: RunTurnOptions): Promise<EndedTurn>;
  /** Sends the last prompt again when nothing has answered it. */
  retry(to: Conversation | string, options?: RunTurnOptions): Promise<EndedTurn>;
  /** Adds a message while a turn runs. */
  steer(to: Conversation | string, content: PromptContent, options?: SteerOptions): Promise<Steered>;
  /** Goes back before a user's message in the same conversation. */
  goBackTo(to: Conversation | string, entry: string): Promise<unknown>;
  /** Writes entries that belong to no turn: at once, or when the running turn ends. */
  note(to: Conversation | string, note: Note): Promise<void>;
  /** Stops the running turn; false when none runs here. */
  cancel(of: Conversation | string): boolean;
  /** Stops every turn and releases what is held of conversations. */
  close(options?: CloseOptions): Promise<void>;
}

/** The key of a turn in the log. */
export function turnKey(verb: "send" | "retry" | "continue", key: string): string {
  return parseKey(`${verb}/${key}`);
}

/** `edit` by its two steps. A prompt that is known under its key has taken the place of the other one before. */
export async function editTurn<R>(
  holdfast: Holdfast,
  edit: { readonly conversation: string; readonly content: PromptContent; readonly key: string | undefined },
  steps: { goBack(): Promise<unknown>; send(): Promise<R> },
): Promise<R> {
  const { conversation, content, key } = edit;
  checkContent(content);
  const handle = holdfast.handle(parseConversationId(conversation));
  const isKnown = key !== undefined && (await handle.findAppend(turnKey("send", key))) !== null;
  if (!isKnown) await steps.goBack();
  return steps.send();
}

/**
 * Moves the branch's end to a node. Whoever goes back in what was said has not changed their mind about the model or the
 * mode: settings stay.
 */
export async function moveBranch(
  { conversation, owner }: Pick<Owned, "conversation" | "owner">,
  node: EntryId,
): Promise<void> {
  const now = await conversation.settings();
  await owner.append({ type: "leaf", target: node });
  const then = await conversation.settings();
  const bodies: EntryBody[] = [];
  if (JSON.stringify(now.config) !== JSON.stringify(then.config))
    bodies.push({ type: "config_change", config: now.config });
  const { model, modelProvider: provider } = now;
  if (model !== null && (model !== then.model || provider !== then.modelProvider))
    bodies.push({ type: "model_change", model, ...(provider === undefined ? {} : { provider }) });
  if (bodies.length > 0) await owner.append(bodies);
}
