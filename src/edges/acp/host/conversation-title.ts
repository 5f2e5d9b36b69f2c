import type { ConversationId } from "#log/ids";
import { decodeEntry } from "#log/codec";
import type { BridgeParts } from "./bridge-parts.ts";

/** What the conversation is called, and whether a person called it that. */
export async function readTitle(
  { holdfast }: BridgeParts,
  conversation: ConversationId,
): Promise<{ readonly title: string | null; readonly given: boolean }> {
  const [stored] = await holdfast.space.read({ conversation, limit: 1, newestFirst: true, types: ["title"] });
  const entry = stored === undefined ? null : decodeEntry(stored);
  if (entry?.type !== "title") return { title: null, given: false };
  return { title: entry.title, given: !("by" in entry) };
}
