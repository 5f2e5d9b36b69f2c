const NEWLINE = 10;
const BUFFER_BYTES_MIN = 1024; // a line cut by a chunk's end is rarely shorter, and growing from less only copies more
const NOTHING = new Uint8Array(0);

/** A line was longer than allowed and is dropped. The other lines of the same chunk are here, so none is lost. */
export class LineTooLong extends Error {
  override readonly name = "LineTooLong";
  readonly bytesMax: number;
  readonly lines: readonly Uint8Array[];
  constructor(bytesMax: number, lines: readonly Uint8Array[]) {
    super(`Dropped a line of more than ${bytesMax} bytes, the limit`);
    this.bytesMax = bytesMax;
    this.lines = lines;
  }
}

/**
 * Splits a byte stream into lines without copying more than it must: a line that came in one chunk is a view of it, so a
 * chunk must not be written to after it was pushed. A line over several chunks is gathered in a buffer that doubles, so a
 * writer of single bytes costs no more than one of large chunks.
 */
export class LineSplitter {
  readonly #bytesMax: number;
  #buffered: Uint8Array = NOTHING;
  #size: number = 0;
  #skipping: boolean = false;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  /**
   * The complete lines without "\n"; empty ones are dropped. Throws LineTooLong once for a chunk in which a line grew too
   * long; the whole chunk is taken by then, and the rest of that line is skipped as it comes.
   */
  push(chunk: Uint8Array): readonly Uint8Array[] {
    const lines: Uint8Array[] = [];
    let tooLong = false;
    for (let start = 0; start < chunk.length;) {
      const newline = chunk.indexOf(NEWLINE, start);
      const end = newline === -1 ? chunk.length : newline;
      if (!this.#skipping && this.#size + end - start > this.#bytesMax) {
        tooLong = true;
        this.#skipping = true;
        this.#empty();
      }
      if (newline === -1) {
        if (!this.#skipping) this.#append(chunk.subarray(start));
        break;
      }
      if (this.#skipping) this.#skipping = false;
      else {
        const line = this.#finish(chunk.subarray(start, end));
        if (line.length > 0) lines.push(line);
      }
      start = end + 1;
    }
    if (tooLong) throw new LineTooLong(this.#bytesMax, lines);
    return lines;
  }

  /** The unfinished rest at the end of the stream. */
  end(): Uint8Array | null {
    this.#skipping = false;
    const rest = this.#empty();
    return rest.length === 0 ? null : rest;
  }

  #finish(tail: Uint8Array): Uint8Array {
    if (this.#size === 0) return tail;
    this.#append(tail);
    return this.#empty();
  }

  #append(part: Uint8Array): void {
    const size = this.#size + part.length;
    if (size > this.#buffered.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(size, 2 * this.#buffered.length, BUFFER_BYTES_MIN));
      grown.set(this.#buffered.subarray(0, this.#size));
      this.#buffered = grown;
    }
    this.#buffered.set(part, this.#size);
    this.#size = size;
  }

  /** The buffer goes out with the line: the next one may not write over it. */
  #empty(): Uint8Array {
    const line = this.#buffered.subarray(0, this.#size);
    this.#buffered = NOTHING;
    this.#size = 0;
    return line;
  }
}
