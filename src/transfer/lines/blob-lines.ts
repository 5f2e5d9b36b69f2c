import { LogError } from "#log/errors";
import { bareLine } from "./file-end.ts";

const PIECE_BYTES = 786_432; // a line of 1 Mi characters: far below what a line may have
const OPENING = '{"type":"blob",';
const PIECE = /^\{"type":"blob","digest":"([0-9a-f]{64})","size":(\d{1,15}),"offset":(\d{1,15}),"data":"/;
const CLOSING = '"}';
const BLOB_BYTES_MAX = 1_073_741_824; // 1 GiB: a blob is put together in memory

/** A piece of a blob; those of one blob follow each other, from its first byte to its last. */
export interface BlobPiece {
  readonly digest: string;
  readonly size: number;
  readonly offset: number;
  readonly bytes: Uint8Array;
}

export interface BlobLine {
  readonly text: string;
  /** It is the first of its blob. */
  readonly first: boolean;
}

/** A blob as lines of an export, none of them too long to be read. */
export function* blobLines(digest: string, bytes: Uint8Array): Generator<BlobLine> {
  for (let offset = 0; offset === 0 || offset < bytes.length; offset += PIECE_BYTES) {
    const piece = bytes.subarray(offset, offset + PIECE_BYTES);
    const data = Buffer.from(piece.buffer, piece.byteOffset, piece.length).toString("base64");
    const text = `${OPENING}${JSON.stringify({ digest, size: bytes.length, offset, data }).slice(1)}`;
    yield { text, first: offset === 0 };
  }
}

/** The piece a line holds; null when it is a line of another kind. */
export function blobPiece(line: string): BlobPiece | null {
  if (!line.startsWith(OPENING)) return null;
  const bare = bareLine(line);
  const [opening = "", digest = "", size, offset] = PIECE.exec(bare) ?? [];
  if (opening === "" || !bare.endsWith(CLOSING))
    throw new LogError("damaged", "This line of a blob does not say which one it belongs to, or where");
  if (Number(size) > BLOB_BYTES_MAX)
    throw new LogError("too_large", `A blob may have ${BLOB_BYTES_MAX} bytes, this one says ${size}`, {
      limit: BLOB_BYTES_MAX,
    });
  const bytes = Buffer.from(bare.slice(opening.length, -CLOSING.length), "base64");
  return { digest, size: Number(size), offset: Number(offset), bytes };
}
