import { decodeEntry } from "#log/codec";
import type { AssistantMessage } from "#log/message";
import type { Conversation } from "#conversation/conversation";

/** The last answer of a turn that has ended; null when it gave none. */
export async function readAnswer(
  { space, id }: Conversation,
  turn: string,
): Promise<AssistantMessage | null> {
  const [stored] = await space.read({ conversation: id, limit: 1, newestFirst: true, types: ["turn_end"] });
  const end = stored === undefined ? null : decodeEntry(stored);
  if (end?.type !== "turn_end" || end.turn !== turn || end.node === undefined) return null;
  const last = decodeEntry(await space.entry(id, end.node));
  return last.type === "message" && last.message.role === "assistant" ? last.message : null;
}
