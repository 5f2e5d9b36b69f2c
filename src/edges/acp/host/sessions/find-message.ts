import type { Conversation } from "../../../../conversation/conversation.ts";
import { fieldsOf } from "../../fields.ts";

/** The entry a host means: by our id of it, or by the id the agent gave the message. */
export async function findMessage(conversation: Conversation, id: string): Promise<string | null> {
  const branch = await conversation.branch();
  const found = branch.findLast(({ id: own, ...entry }) => {
    if (own === id) return true;
    if (entry.type !== "message") return false;
    const { messages } = fieldsOf(entry.message.details);
    return Array.isArray(messages) && (messages as readonly unknown[]).includes(id);
  });
  return found?.id ?? null;
}
