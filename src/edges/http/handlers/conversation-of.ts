import type { Conversation } from "#conversation/conversation";
import type { AppendResult } from "#log/batch";
import type { EntryBody } from "#log/entry";
import { isLogError } from "#log/errors";
import { parseConversationId } from "#log/ids";
import { releaseDead } from "#turn/one-at-a-time";
import { isDeadProcess } from "#turn/running-process";
import type { Written } from "#edges/http/routes/shared-schemas";
import { type Asked, keyed } from "./asked.ts";

const FOR_THE_DEAD = { isDead: isDeadProcess, leaseMs: 1_000 };

type OfOne = { readonly params: { readonly conversation: string }; readonly response: unknown };

/** The conversation that a request is about. The first read or write says whether it exists. */
export function conversationOf({
  holdfast,
  params,
}: Pick<Asked<OfOne>, "holdfast" | "params">): Conversation {
  return holdfast.handle(parseConversationId(params.conversation));
}

export function writtenOf(conversation: Conversation, { ownerLink: _, ...result }: AppendResult): Written {
  return { conversation: conversation.id, ...result };
}

/** What only one may do at a time: nobody waits for the lease of a process of this machine that died. */
export async function ownAct<T>(conversation: Conversation, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!isLogError(error, "busy") || !(await releaseDead(conversation, FOR_THE_DEAD))) throw error;
    return act();
  }
}

/** Appends a fact from outside the turns. */
export async function appendFact(
  asked: Pick<Asked<OfOne>, "holdfast" | "params" | "key">,
  operation: string,
  body: EntryBody,
): Promise<Written> {
  const conversation = conversationOf(asked);
  return writtenOf(conversation, await conversation.appendOutside(body, keyed(operation, asked.key)));
}
