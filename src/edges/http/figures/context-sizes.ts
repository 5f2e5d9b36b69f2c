import { knownModel } from "#agent/models/model-table";
import { messagesTokens } from "#agent/compaction/token-estimate";
import type { Context } from "#log/projections/context";

/** What one message of a context takes of it. */
export interface MessageSize {
  /** The entry that it is; null for one that only the context has. */
  readonly entry: string | null;
  readonly role: string;
  /** Of its content as JSON. */
  readonly chars: number;
  /** By estimate: an exact count belongs to one model. */
  readonly tokens: number;
}

export interface ContextSizes {
  readonly conversation: string;
  readonly leaf: string;
  readonly model: string | null;
  /** How many tokens the model takes, where that is known. */
  readonly window: number | null;
  readonly compaction: string | null;
  readonly messages: readonly MessageSize[];
  readonly tokens: number;
}

export function contextSizes(conversation: string, context: Context): ContextSizes {
  const { leaf, model, compaction } = context;
  const messages = context.messages.map((message): MessageSize => {
    const { entryId, role, content } = message;
    const chars = JSON.stringify(content).length;
    return { entry: entryId, role, chars, tokens: messagesTokens([message]) };
  });
  return {
    conversation,
    leaf,
    model,
    window: model === null ? null : knownModel(model).window,
    compaction,
    messages,
    tokens: messages.reduce((sum, { tokens }) => sum + tokens, 0),
  };
}
