import { isMedia } from "#log/blob-names";
import { decodeEntry } from "#log/codec";
import type { ContentBlock } from "#log/message";
import type { ContextMessage } from "#log/projections/pairs";
import { withImages } from "#conversation/image-blobs";
import type { Conversation } from "#conversation/conversation";
import { labelOf } from "#agent/models/parts/media-parts";

const ENDS_LOOKED_AT = 256;
const MESSAGES_MAX = 100_000;

/** What a model is shown, and whether files are among it. */
export interface ShownMessages {
  readonly messages: readonly ContextMessage[];
  readonly hasMedia: boolean;
}

/**
 * The messages with the bytes of their files in them. What was there when this model's service refused a request for what it was shown
 * is named in words from then on: one broken image must not fail every request to come.
 */
export async function shownMessages(
  conversation: Conversation,
  messages: readonly ContextMessage[],
  model: string,
): Promise<ShownMessages> {
  if (!messages.some(({ content }) => content.some(isMedia))) return { messages, hasMedia: false };
  const isLeftOut = await refusedBefore(conversation, model);
  const shown: ContextMessage[] = [];
  let hasMedia = false;
  for (const message of messages) {
    if (!message.content.some(isMedia)) shown.push(message);
    else if (isLeftOut(message)) shown.push({ ...message, content: message.content.map(named) });
    else {
      hasMedia = true;
      const content = await withImages(conversation.space, conversation.id, message.content);
      shown.push({ ...message, content });
    }
  }
  return { messages: shown, hasMedia };
}

function named(block: ContentBlock): ContentBlock {
  if (!isMedia(block)) return block;
  return { type: "text", text: `[${labelOf(block)}: left out, for a request with it was refused]` };
}

/** Which messages were there when a request was refused; none where that never happened. */
async function refusedBefore(
  { space, id: conversation }: Conversation,
  model: string,
): Promise<(message: ContextMessage) => boolean> {
  const types = ["attempt_end"] as const;
  const ends = await space.read({ conversation, types, newestFirst: true, limit: ENDS_LOOKED_AT });
  const refused = ends
    .map((stored) => decodeEntry(stored))
    .find((end) => end.type === "attempt_end" && end.class === "poisoned" && end.model === model);
  if (refused === undefined) return () => false;
  const after = refused.seq;
  const later = await space.read({ conversation, after, limit: MESSAGES_MAX, types: ["message"] });
  const newer = new Set<string>(later.map(({ id }) => id));
  return ({ entryId }) => entryId === null || !newer.has(entryId);
}
