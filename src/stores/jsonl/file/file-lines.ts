import type { DiskFile } from "#stores/jsonl/disk/disk";
import { LINE_BYTES_MAX } from "./framing.ts";

export const CHUNK_BYTES = 1_048_576; // one read while scanning: large enough that reads cost little beside hashing
const LF = 10;

/** The lines of a stretch of a file, one after the other, in memory bounded by the longest line. */
export class Lines {
  readonly #file: DiskFile;
  readonly #end: number;
  #chunk: Buffer = Buffer.alloc(0);
  #chunkAt: number;
  #used: number = 0;

  constructor(file: DiskFile, offset: number, end: number) {
    this.#file = file;
    this.#chunkAt = offset;
    this.#end = end;
  }

  /** Where the next line begins. */
  get offset(): number {
    return this.#chunkAt + this.#used;
  }

  /** The next line without its line break, if it is in memory already: the fast path while scanning. */
  next(): Buffer | null {
    const lf = this.#chunk.indexOf(LF, this.#used);
    if (lf === -1) return null;
    const line = this.#chunk.subarray(this.#used, lf);
    this.#used = lf + 1;
    return line;
  }

  /** The next line, read from the disk; null when the stretch ends first or the line is longer than any line may be. */
  async read(): Promise<Buffer | null> {
    let length = CHUNK_BYTES;
    for (;;) {
      const offset = this.offset;
      const wanted = Math.min(length, this.#end - offset);
      const bytes = await this.#file.read(offset, wanted);
      this.#chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      this.#chunkAt = offset;
      this.#used = 0;
      const line = this.next();
      if (line !== null) return line;
      if (wanted < length || bytes.length < wanted || length > LINE_BYTES_MAX) return null;
      length *= 2;
    }
  }
}
