import { isMedia } from "#log/blob-names";
import type { ContentBlock, MediaBlock } from "#log/message";
import { LogError } from "#log/errors";
import { toBase64 } from "./shape.ts";

/** Where images are kept beside the log: a conversation. */
export interface BlobPlace {
  getBlob(digest: string): Promise<Uint8Array>;
  putBlob(bytes: Uint8Array): Promise<string>;
}

type WithContent = { readonly content: readonly ContentBlock[] };

/** The same messages with the bytes of their images, audio and files in them, as a model is sent them. */
export function loadImages<M extends WithContent>(
  messages: readonly M[],
  place: Pick<BlobPlace, "getBlob">,
): Promise<M[]> {
  return mapMedia(messages, async (block) => {
    const { blob, ...rest } = block;
    return blob === undefined ? block : { ...rest, data: toBase64(await place.getBlob(blob)) };
  });
}

/** The same messages with those bytes kept as blobs, which is how a log should have them. */
export function storeImages<M extends WithContent>(
  messages: readonly M[],
  place: Pick<BlobPlace, "putBlob">,
): Promise<M[]> {
  return mapMedia(messages, async (block) => {
    const { data, ...rest } = block;
    return data === undefined ? block : { ...rest, blob: await place.putBlob(Buffer.from(data, "base64")) };
  });
}

async function mapMedia<M extends WithContent>(
  messages: readonly M[],
  change: (block: MediaBlock) => Promise<MediaBlock>,
): Promise<M[]> {
  const changed: M[] = [];
  for (const message of messages) {
    const content: ContentBlock[] = [];
    for (const block of message.content) content.push(isMedia(block) ? await change(block) : block);
    changed.push({ ...message, content });
  }
  return changed;
}

/** The bytes of an image, a sound or a file in base64. One that is only named must be loaded first: it would be lost. */
export function mediaData({ type, data, blob }: MediaBlock): string {
  if (data !== undefined) return data;
  throw new LogError(
    "invalid_request",
    `The data of a block of type ${type} is in a blob. Call loadImages(messages, conversation) first.`,
    blob === undefined ? {} : { blob },
  );
}
