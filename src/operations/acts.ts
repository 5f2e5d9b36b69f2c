import type { Conversation } from "#conversation/conversation";
import type { AppendResult } from "#log/batch";
import type { EntryBody } from "#log/entry";
import { isLogError } from "#log/errors";
import { parseConversationId } from "#log/ids";
import { releaseDead } from "#turn/one-at-a-time";
import { isDeadProcess } from "#turn/running-process";
import type { OperationContext } from "./operation.ts";
import type { Written } from "./schemas.ts";
import { Views } from "./views/views.ts";

const RELEASE = { isDead: isDeadProcess, leaseMs: 1_000 };

/** Does what only the owner of a conversation may do; a process of this machine that died keeps nobody waiting. */
export async function afterDeadOwner<T>(conversation: Conversation, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!isLogError(error, "busy") || !(await releaseDead(conversation, RELEASE))) throw error;
    return act();
  }
}

export async function ownerAct(
  conversation: Conversation,
  act: () => Promise<AppendResult>,
): Promise<Written> {
  return writtenOf(conversation, await afterDeadOwner(conversation, act));
}

/** An act on an entry that the conversation does not have says so, as a read of it does. */
export async function ofEntry(
  conversation: Conversation,
  entry: string,
  act: () => Promise<Written>,
): Promise<Written> {
  try {
    return await act();
  } catch (error) {
    if (isLogError(error, "unknown_target")) await conversation.entry(entry);
    throw error;
  }
}

export function writtenOf(conversation: Conversation, { ownerLink: _, ...result }: AppendResult): Written {
  return { conversation: conversation.id, ...result };
}

/** The key of an act that other acts may have too in the same conversation. */
export function keyed(name: string, { key }: OperationContext): { readonly key?: string } {
  return key === undefined ? {} : { key: `${name}/${key}` };
}

/** A handle: the first read or write says whether the conversation exists. */
export function conversationOf(
  { conversation }: { readonly conversation: string },
  { holdfast }: Pick<OperationContext, "holdfast">,
): Conversation {
  return holdfast.handle(parseConversationId(conversation));
}

/** The caches of the process; without any, those of one call. */
export function viewsOf({ views = new Views() }: OperationContext): Views {
  return views;
}

/** Appends an annotation, which disturbs no turn. */
export async function appendFact(
  name: string,
  body: EntryBody,
  input: { readonly conversation: string },
  context: OperationContext,
): Promise<Written> {
  const conversation = conversationOf(input, context);
  return writtenOf(conversation, await conversation.appendOutside(body, keyed(name, context)));
}
