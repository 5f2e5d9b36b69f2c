import { LogError } from "#log/errors";

const PIECE_BYTES = 786_432; // a line of 1 Mi characters: far below what a line may have
const OPENING = '{"type":"blob",';

/** A piece of a blob; those of one blob follow each other, from its first byte to its last. */
export interface BlobPiece {
  readonly digest: string;
  readonly size: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

/** A blob as lines of an export, none of them too long to be read. */
export function* blobLines(digest: string, bytes: Uint8Array): Generator<string> {
  for (let offset = 0; offset === 0 || offset < bytes.length; offset += PIECE_BYTES) {
    const piece = bytes.subarray(offset, offset + PIECE_BYTES);
    const data = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("base64");
    yield `${OPENING}${JSON.stringify({ digest, size: bytes.length, offset, data }).slice(1)}`;
  }
}

/** The piece a line holds; null when it is a line of another kind. */
export function blobPiece(line: string): BlobPiece | null {
  if (!line.startsWith(OPENING)) return null;
  const { digest, size, offset, data } = read(line);
  if (typeof digest !== "string" || typeof size !== "number" || typeof offset !== "number")
    throw new LogError("damaged", "This line of a blob does not say which one it belongs to, or where");
  return { digest, size, offset, bytes: Buffer.from(typeof data === "string" ? data : "", "base64") };
}

function read(line: string): { readonly [name: string]: unknown } {
  try {
    return JSON.parse(line) as { readonly [name: string]: unknown };
  } catch (cause) {
    throw new LogError("damaged", "This line of a blob is not valid JSON", {}, { cause });
  }
}
