import { isMedia } from "#log/blob-names";
import type { ContentBlock } from "#log/message";
import type { Conversation } from "./conversation.ts";

type Blobs = Pick<Conversation, "putBlob" | "getBlob">;

/** The blob that holds the bytes of a base64 text; null for a text that could not be made again from them. */
export async function keepBase64(conversation: Blobs, text: string): Promise<string | null> {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? conversation.putBlob(bytes) : null;
}

/** The text again. Fails when the blob is not there. */
export async function readBase64(conversation: Blobs, digest: string): Promise<string> {
  return Buffer.from(await conversation.getBlob(digest)).toString("base64");
}

/** The same content with its images, audio and files kept as blobs: in the log they would weigh on every read. */
export async function keepImages(
  conversation: Blobs,
  content: readonly ContentBlock[],
): Promise<readonly ContentBlock[]>;
export async function keepImages(
  conversation: Blobs,
  content: string | readonly ContentBlock[],
): Promise<string | readonly ContentBlock[]>;
export async function keepImages(
  conversation: Blobs,
  content: string | readonly ContentBlock[],
): Promise<string | readonly ContentBlock[]> {
  if (typeof content === "string") return content;
  const blocks: ContentBlock[] = [];
  for (const block of content) {
    const { data, ...rest } = isMedia(block) ? block : { data: undefined };
    const blob = data === undefined ? null : await keepBase64(conversation, data);
    blocks.push("type" in rest && blob !== null ? { ...rest, blob } : block);
  }
  return blocks;
}

/** The same content with those bytes in it, for whoever is to see them. One that is missing stays a name. */
export async function withImages(
  conversation: Blobs,
  content: readonly ContentBlock[],
): Promise<readonly ContentBlock[]> {
  const whole: ContentBlock[] = [];
  for (const block of content) {
    const { blob, ...rest } = isMedia(block) && block.data === undefined ? block : { blob: undefined };
    const data = blob === undefined ? null : await readBase64(conversation, blob).catch(() => null);
    whole.push("type" in rest && data !== null ? { ...rest, data } : block);
  }
  return whole;
}
