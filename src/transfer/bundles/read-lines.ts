import { isAscii } from "node:buffer";
import { LogError } from "#log/errors";
import { ENTRY_CHARS_MAX } from "#log/json/json-text";

interface LinePlace {
  /** Counted from 1. */
  readonly number: number;
  /** The byte the line starts at. */
  readonly offset: number;
  /** Ended by a line break; only the last line may not be. */
  readonly whole: boolean;
}

/** One line of a stream of bytes: its text, or why it has none. */
export type Line = LinePlace & ({ readonly text: string } | { readonly error: LogError });

const LINE_FEED = 10;
const BYTE_ORDER_MARK = "\uFEFF";

/** Splits bytes into lines. A line above the entry limit is skipped as it passes by and never held whole. */
export async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  const line = new LineBuffer();
  let [number, offset, index] = [1, 0, 0];
  for await (const chunk of chunks) {
    let from = 0;
    for (let to = chunk.indexOf(LINE_FEED); to !== -1; to = chunk.indexOf(LINE_FEED, from)) {
      line.add(chunk.subarray(from, to));
      yield { number, offset, whole: true, ...line.end(number === 1) };
      from = to + 1;
      number++;
      offset = index + from;
    }
    if (from < chunk.length) line.add(chunk.subarray(from));
    index += chunk.length;
  }
  if (index > offset) yield { number, offset, whole: false, ...line.end(number === 1) };
}

/** The bytes of a line as they come in, for as long as they can still be an entry. */
class LineBuffer {
  readonly #decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  #pieces: Uint8Array[] = [];
  #bytes: number = 0;
  /** Counted only once there are more bytes than an entry may have characters. */
  #units: number | null = null;

  add(piece: Uint8Array): void {
    this.#bytes += piece.length;
    if (this.#bytes > ENTRY_CHARS_MAX) {
      this.#units ??= this.#pieces.reduce((units, earlier) => units + utf16Units(earlier), 0);
      this.#units += utf16Units(piece);
    }
    if (this.#isTooLarge()) this.#pieces = [];
    else this.#pieces.push(piece);
  }

  #isTooLarge(): boolean {
    return this.#units !== null && this.#units > ENTRY_CHARS_MAX;
  }

  end(first: boolean): { readonly text: string } | { readonly error: LogError } {
    const line = this.#isTooLarge() ? { error: tooLarge() } : this.#decode(first);
    [this.#pieces, this.#bytes, this.#units] = [[], 0, null];
    return line;
  }

  #decode(first: boolean): { readonly text: string } | { readonly error: LogError } {
    const [only] = this.#pieces;
    try {
      const text = this.#decoder.decode(this.#pieces.length === 1 ? only : Buffer.concat(this.#pieces));
      return { text: first && text.startsWith(BYTE_ORDER_MARK) ? text.slice(1) : text };
    } catch (cause) {
      return { error: new LogError("invalid_entry", "The line is not valid UTF-8", {}, { cause }) };
    }
  }
}

/** How long the bytes are as a string: every character is one unit, those of four bytes are two. */
function utf16Units(bytes: Uint8Array): number {
  if (isAscii(bytes)) return bytes.length;
  let units = 0;
  for (const byte of bytes) {
    if ((byte & 0xc0) !== 0x80) units += byte >= 0xf0 ? 2 : 1;
  }
  return units;
}

function tooLarge(): LogError {
  return new LogError(
    "too_large",
    `The line has more than ${ENTRY_CHARS_MAX} characters, the limit of an entry`,
    { limit: ENTRY_CHARS_MAX },
  );
}

/** The same error, naming the line it is about. */
export function atLine(
  error: LogError,
  line: { readonly number: number; readonly offset: number },
): LogError {
  const details = { ...error.details, line: line.number, byte: line.offset };
  return new LogError(error.code, `Line ${line.number}: ${error.message}`, details, { cause: error });
}
