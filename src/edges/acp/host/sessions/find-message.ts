import type { Conversation } from "#conversation/conversation";
import type { Json } from "#log/json/json-text";
import { detailsOf, isInternal } from "#log/message-extras";
import type { Link } from "#log/projections/chain";
import { fieldsOf } from "#log/json/json-fields";

/** The entry a host means: by our id of it, or by the id the agent gave the message. */
export async function findMessage(conversation: Conversation, id: string): Promise<string | null> {
  const branch = await conversation.branch();
  const found = branch.findLast((entry) => {
    if (entry.id === id) return true;
    if (entry.type !== "message") return false;
    const { messages } = fieldsOf(detailsOf(entry));
    return Array.isArray(messages) && (messages as readonly unknown[]).includes(id);
  });
  return found?.id ?? null;
}

/** A message of the user's by its id, or counted from the end of the branch: 1 is the last. */
export async function findPrompt(conversation: Conversation, which: Json): Promise<string | null> {
  if (typeof which === "string") return findMessage(conversation, which);
  const branch = await conversation.branch();
  const prompts = branch.filter(
    (entry) => entry.type === "message" && entry.message.role === "user" && !isInternal(entry),
  );
  return typeof which === "number" && which >= 1 ? (prompts.at(-which)?.id ?? null) : null;
}

/** A session of the chain by its id, or by its place in it: 1 is the first. */
export async function findLink(conversation: Conversation, which: Json): Promise<Link | null> {
  const chain = (await conversation.chain()).filter((link) => !link.inherited);
  if (typeof which === "number") return chain[which - 1] ?? null;
  return chain.findLast((link) => link.id === which) ?? null;
}
