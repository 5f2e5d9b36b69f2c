const DIGEST_RUN = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/g;

/** The blobs that the images of a body name: content the log counts on. */
export function imageBlobs(body: object): readonly string[] {
  const { message, content } = body as { message?: { content?: unknown }; content?: unknown };
  return [message?.content, content].flatMap((blocks) =>
    Array.isArray(blocks) ? blocks.flatMap((block: unknown) => imageBlob(block)) : [],
  );
}

function imageBlob(block: unknown): readonly string[] {
  const { type, blob } = (block ?? {}) as { type?: unknown; blob?: unknown };
  return type === "image" && typeof blob === "string" ? [blob] : [];
}

/** Everything in a payload that has the shape of a digest: what a program keeps in `details` may name blobs, too. */
export function possibleBlobs(payload: string): readonly string[] {
  return payload.match(DIGEST_RUN) ?? [];
}
