import type { ContentBlock, MediaBlock } from "./message.ts";

const DIGEST_RUN = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g;

/** Whether a block has bytes, in it or as a blob. */
export function isMedia(block: ContentBlock): block is MediaBlock {
  return block.type === "image" || block.type === "audio" || block.type === "file";
}

/** The blobs that the content of a body names: the log counts on them. */
export function contentBlobs(body: object): readonly string[] {
  const { message, content } = body as { message?: { content?: unknown }; content?: unknown };
  return [message?.content, content].flatMap((blocks) =>
    Array.isArray(blocks) ? blocks.flatMap((block: unknown) => mediaBlob(block)) : [],
  );
}

function mediaBlob(input: unknown): readonly string[] {
  const block = (input ?? {}) as ContentBlock;
  return isMedia(block) && typeof block.blob === "string" ? [block.blob] : [];
}

/** Everything in a payload that has the shape of a digest: what a program keeps in `details` may name blobs, too. */
export function possibleBlobs(payload: string): readonly string[] {
  return payload.match(DIGEST_RUN) ?? [];
}

/** The payload in which blobs go by other names. */
export function withBlobNames(payload: string, names: ReadonlyMap<string, string>): string {
  return payload.replaceAll(DIGEST_RUN, (digest) => names.get(digest) ?? digest);
}
