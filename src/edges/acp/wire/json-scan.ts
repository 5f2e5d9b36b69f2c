/**
 * The scanner under spans and splices. It follows brackets, strings, commas and colons, and judges nothing else: on valid
 * JSON it is exact; on anything else it says -1 where it notices, and the reader of the line will say the rest. Nothing
 * recurses, and no byte is looked at more than a few times.
 */
export const QUOTE = 34;
const COMMA = 44;
const COLON = 58;
const OPEN_BRACKET = 91;
export const BACKSLASH = 92;
const CLOSE_BRACKET = 93;
export const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;

const STEPS_MAX = 32; // up to here a loop finds the quote sooner than a call of indexOf does

/** The first offset at or after `start` that is not white space, or `end`. */
export function skipSpace(bytes: Uint8Array, start: number, end: number): number {
  let offset = start;
  while (offset < end) {
    const byte = bytes[offset];
    if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) break;
    offset++;
  }
  return offset;
}

/** The offset after the quote that closes the string opened at `open`; -1 if none does before `end`. */
export function stringEnd(bytes: Uint8Array, open: number, end: number): number {
  let offset = open + 1;
  while (offset < end) {
    // Names and ids are short; text with many escaped quotes stays in this loop too.
    const near = Math.min(offset + STEPS_MAX, end);
    while (offset < near) {
      const byte = bytes[offset];
      if (byte === QUOTE) return offset + 1;
      offset += byte === BACKSLASH ? 2 : 1;
    }
    const quote = bytes.indexOf(QUOTE, offset);
    if (quote === -1 || quote >= end) return -1;
    // `offset` begins a character, so backslashes before it escape nothing behind it.
    let slash = quote;
    while (slash > offset && bytes[slash - 1] === BACKSLASH) slash--;
    if ((quote - slash) % 2 === 0) return quote + 1;
    offset = quote + 1;
  }
  return -1;
}

/** The offset of the next string's opening quote at or after `start`, outside of strings; -1 if there is none. */
export function nextString(bytes: Uint8Array, start: number, end: number): number {
  const quote = bytes.indexOf(QUOTE, start);
  return quote < end ? quote : -1;
}

/** The offset after the value that starts at `start`; -1 if no value does or it does not end. */
function valueEnd(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start];
  if (first === QUOTE) return stringEnd(bytes, start, end);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return containerEnd(bytes, start, end);
  let offset = start;
  while (offset < end && isScalar(bytes[offset])) offset++;
  return offset === start ? -1 : offset;
}

/** Brackets are counted, not paired: a text that closes "[" with "}" is invalid JSON for every reader. */
function containerEnd(bytes: Uint8Array, start: number, end: number): number {
  let depth = 0;
  let offset = start;
  while (offset < end) {
    const byte = bytes[offset];
    if (byte === QUOTE) {
      offset = stringEnd(bytes, offset, end);
      if (offset === -1) return -1;
      continue;
    }
    offset++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return offset;
  }
  return -1;
}

/** Whether brackets open more than `levels` deep in these bytes. */
export function isDeeperThan(levels: number, bytes: Uint8Array, start: number, end: number): boolean {
  let depth = 0;
  for (let offset = start; offset < end; offset++) {
    const byte = bytes[offset];
    if (byte === QUOTE) {
      offset = stringEnd(bytes, offset, end) - 1;
      if (offset < 0) return false;
    } else if (byte === OPEN_BRACE || byte === OPEN_BRACKET) {
      if (++depth > levels) return true;
    } else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) depth--;
  }
  return false;
}

/** What numbers, true, false and null are made of; which of them are well spelt is for others to say. */
function isScalar(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  return (
    (byte >= 97 && byte <= 122) ||
    (byte >= 48 && byte <= 57) ||
    byte === 45 ||
    byte === 46 ||
    byte === 43 ||
    byte === 69
  );
}

/** Steps through the members of an object or the elements of an array; the offsets are those of the current one. */
export class Walk {
  /** The name's string, quotes included; equal in an array. */
  nameStart: number = 0;
  nameEnd: number = 0;
  start: number = 0;
  end: number = 0;
  /** After the closing bracket once next() has said false; -1 if the text broke off or was not one of these. */
  after: number = -1;
  readonly #bytes: Uint8Array;
  readonly #limit: number;
  readonly #close: number;
  #offset: number;

  /** `start` is where the opening bracket should stand. */
  constructor(bytes: Uint8Array, start: number, limit: number) {
    const open = start < limit ? bytes[start] : undefined;
    this.#bytes = bytes;
    this.#limit = open === OPEN_BRACE || open === OPEN_BRACKET ? limit : 0;
    this.#close = open === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
    this.#offset = start + 1;
  }

  next(): boolean {
    const bytes = this.#bytes;
    const limit = this.#limit;
    let offset = skipSpace(bytes, this.#offset, limit);
    if (offset >= limit) return false;
    if (bytes[offset] === this.#close) {
      this.after = offset + 1;
      return this.#stop();
    }
    if (this.end > 0) {
      if (bytes[offset] !== COMMA) return this.#stop();
      offset = skipSpace(bytes, offset + 1, limit);
    }
    if (this.#close === CLOSE_BRACE) {
      if (offset >= limit || bytes[offset] !== QUOTE) return this.#stop();
      this.nameStart = offset;
      this.nameEnd = stringEnd(bytes, offset, limit);
      if (this.nameEnd === -1) return this.#stop();
      offset = skipSpace(bytes, this.nameEnd, limit);
      if (offset >= limit || bytes[offset] !== COLON) return this.#stop();
      offset = skipSpace(bytes, offset + 1, limit);
    }
    const end = valueEnd(bytes, offset, limit);
    if (end === -1) return this.#stop();
    this.start = offset;
    this.end = end;
    this.#offset = end;
    return true;
  }

  #stop(): false {
    this.#offset = this.#limit;
    return false;
  }
}
