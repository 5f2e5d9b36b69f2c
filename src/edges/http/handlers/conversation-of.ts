import type { Conversation } from "#conversation/conversation";
import type { AppendResult } from "#log/batch";
import type { EntryBody } from "#log/entry";
import type { Written } from "#edges/http/routes/shared-schemas";
import { type Asked, keyed } from "./asked.ts";

type OfOne = { readonly params: { readonly conversation: string }; readonly response: unknown };

/** The conversation that a request is about. */
export function conversationOf({
  holdfast,
  params,
}: Pick<Asked<OfOne>, "holdfast" | "params">): Promise<Conversation> {
  return holdfast.conversation(params.conversation);
}

export function writtenOf(conversation: Conversation, { ownerLink: _, ...result }: AppendResult): Written {
  return { conversation: conversation.id, ...result };
}

/** Appends a fact from outside the turns. */
export async function appendFact(
  asked: Pick<Asked<OfOne>, "holdfast" | "params" | "key">,
  operation: string,
  body: EntryBody,
): Promise<Written> {
  const conversation = await conversationOf(asked);
  return writtenOf(conversation, await conversation.appendOutside(body, keyed(operation, asked.key)));
}
