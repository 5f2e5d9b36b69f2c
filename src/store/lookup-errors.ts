import { LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";

export function conversationNotFound(conversation: string): LogError {
  return new LogError("conversation_not_found", `Conversation ${conversation} not found`, {
    conversation,
  });
}

/** For a place that may never have been on a branch of the conversation. */
export function nodeNotFound(conversation: ConversationId): LogError {
  return new LogError(
    "entry_not_found",
    `The branch position does not exist in conversation ${conversation}`,
    {
      conversation,
    },
  );
}

/** For a node that a branch passes through, so that it was there once. */
export function nodeMissing(conversation: ConversationId, depth: number): LogError {
  return new LogError(
    "damaged",
    `Conversation ${conversation} is damaged: the entry at depth ${depth} of a branch is missing`,
    { conversation, depth },
  );
}
