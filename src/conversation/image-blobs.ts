import { isMedia } from "#log/blob-names";
import type { ContentBlock } from "#log/message";
import { type ConversationId, parseDigest } from "#log/ids";
import type { SpaceStore } from "#store/facets";

/** The blob that holds the bytes of a base64 text; null for a text that could not be made again from them. */
export async function keepBase64(
  space: SpaceStore,
  conversation: ConversationId,
  text: string,
): Promise<string | null> {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? space.putBlob(conversation, bytes) : null;
}

/** The text again. Fails when the blob is not there. */
export async function readBase64(
  space: SpaceStore,
  conversation: ConversationId,
  digest: string,
): Promise<string> {
  return Buffer.from(await space.getBlob(conversation, parseDigest(digest))).toString("base64");
}

/** The same content with its images, audio and files kept as blobs: in the log they would weigh on every read. */
export async function keepImages(
  space: SpaceStore,
  conversation: ConversationId,
  content: readonly ContentBlock[],
): Promise<readonly ContentBlock[]>;
export async function keepImages(
  space: SpaceStore,
  conversation: ConversationId,
  content: string | readonly ContentBlock[],
): Promise<string | readonly ContentBlock[]>;
export async function keepImages(
  space: SpaceStore,
  conversation: ConversationId,
  content: string | readonly ContentBlock[],
): Promise<string | readonly ContentBlock[]> {
  if (typeof content === "string") return content;
  const blocks: ContentBlock[] = [];
  for (const block of content) {
    const { data, ...rest } = isMedia(block) ? block : { data: undefined };
    const blob = data === undefined ? null : await keepBase64(space, conversation, data);
    blocks.push("type" in rest && blob !== null ? { ...rest, blob } : block);
  }
  return blocks;
}

/** The same content with those bytes in it, for whoever is to see them. One that is missing stays a name. */
export async function withImages(
  space: SpaceStore,
  conversation: ConversationId,
  content: readonly ContentBlock[],
): Promise<readonly ContentBlock[]> {
  const whole: ContentBlock[] = [];
  for (const block of content) {
    const { blob, ...rest } = isMedia(block) && block.data === undefined ? block : { blob: undefined };
    const data = blob === undefined ? null : await readBase64(space, conversation, blob).catch(() => null);
    whole.push("type" in rest && data !== null ? { ...rest, data } : block);
  }
  return whole;
}
