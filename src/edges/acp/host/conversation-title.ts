import type { ConversationId } from "#log/ids";
import { decodeEntry } from "#log/codec";
import type { BridgeParts } from "./bridge-parts.ts";

export interface StoredTitle {
  readonly title: string | null;
  /** A person gave it, or the fork: no agent gives another. */
  readonly given: boolean;
}

export async function readTitle(
  { holdfast }: BridgeParts,
  conversation: ConversationId,
): Promise<StoredTitle> {
  const types = ["title", "conversation"] as const; // a fork begins with a title
  const [stored] = await holdfast.space.read({ conversation, limit: 1, newestFirst: true, types });
  const entry = stored === undefined ? null : decodeEntry(stored);
  if (entry?.type === "title") return { title: entry.title, given: !("by" in entry) };
  const title = entry?.type === "conversation" ? entry.title : undefined;
  return { title: title ?? null, given: title !== undefined };
}
