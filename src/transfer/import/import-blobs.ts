import { createHash, type Hash } from "node:crypto";
import { LogError } from "#log/errors";
import type { BlobPiece } from "#transfer/lines/blob-lines";

/** Judges the blobs of a file piece by piece, without holding one. */
export class BlobCheck {
  /** The digests of those that are there, whole and unaltered. */
  readonly whole: Set<string> = new Set();
  /** What the entries count on. */
  readonly named: Set<string> = new Set();
  #open: { readonly digest: string; readonly size: number; readonly hash: Hash; at: number } | null = null;

  /** The next piece; what is wrong with it or with the one before is thrown. */
  add(piece: BlobPiece): void {
    const { digest, size, offset, bytes } = piece;
    const before = this.#open;
    if (offset === 0) this.#open = { digest, size, hash: createHash("sha256"), at: 0 };
    const open = this.#open;
    if (before !== null && offset === 0) throw cutOff(before.digest);
    if (open === null || open.digest !== digest || open.at !== offset || open.size !== size) {
      this.#open = null;
      throw new LogError("damaged", `A piece of the blob ${digest} is missing before this line`);
    }
    open.hash.update(bytes);
    open.at += bytes.length;
    if (open.at < size) return;
    this.#open = null;
    if (open.at > size || open.hash.digest("hex") !== digest)
      throw new LogError("damaged", `The blob ${digest} was altered: its bytes have another digest`);
    this.whole.add(digest);
  }

  /** Whether the file ended in the middle of one. */
  end(): void {
    if (this.#open !== null) throw cutOff(this.#open.digest);
  }
}

function cutOff(digest: string): LogError {
  return new LogError("damaged", `The blob ${digest} was cut off`);
}

/** Puts blobs together again, one at a time. */
export class BlobAssembly {
  #pieces: Uint8Array[] = [];
  #bytes: number = 0;

  /** The whole blob with its last piece, else null. */
  add({ size, offset, bytes }: BlobPiece): Uint8Array | null {
    if (offset === 0) [this.#pieces, this.#bytes] = [[], 0];
    this.#pieces.push(bytes);
    this.#bytes += bytes.length;
    if (this.#bytes < size) return null;
    const whole = Buffer.concat(this.#pieces);
    this.#pieces = [];
    return whole;
  }
}
