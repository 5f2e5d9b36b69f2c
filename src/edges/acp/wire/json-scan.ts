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

/** The first offset at or after `at` that is not white space, or `end`. */
export function skipSpace(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  while (at < end) {
    const byte = bytes[at];
    if (byte !== 32 && byte !== 10 && byte !== 13 && byte !== 9) break;
    at++;
  }
  return at;
}

/** The offset after the quote that closes the string opened at `open`; -1 if none does before `end`. */
export function stringEnd(bytes: Uint8Array, open: number, end: number): number {
  let at = open + 1;
  while (at < end) {
    // Names and ids are short; text with many escaped quotes stays in this loop too.
    const near = Math.min(at + STEPS_MAX, end);
    while (at < near) {
      const byte = bytes[at];
      if (byte === QUOTE) return at + 1;
      at += byte === BACKSLASH ? 2 : 1;
    }
    const quote = bytes.indexOf(QUOTE, at);
    if (quote === -1 || quote >= end) return -1;
    // `at` begins a character, so backslashes before it escape nothing behind it.
    let slash = quote;
    while (slash > at && bytes[slash - 1] === BACKSLASH) slash--;
    if ((quote - slash) % 2 === 0) return quote + 1;
    at = quote + 1;
  }
  return -1;
}

/** The offset of the next string's opening quote at or after `at`, outside of strings; -1 if there is none. */
export function nextString(bytes: Uint8Array, at: number, end: number): number {
  const quote = bytes.indexOf(QUOTE, at);
  return quote < end ? quote : -1;
}

/** The offset after the value that starts at `start`; -1 if no value does or it does not end. */
function valueEnd(bytes: Uint8Array, start: number, end: number): number {
  const first = bytes[start];
  if (first === QUOTE) return stringEnd(bytes, start, end);
  if (first === OPEN_BRACE || first === OPEN_BRACKET) return containerEnd(bytes, start, end);
  let at = start;
  while (at < end && isScalar(bytes[at])) at++;
  return at === start ? -1 : at;
}

/** Brackets are counted, not paired: a text that closes "[" with "}" is no JSON, whoever reads it. */
function containerEnd(bytes: Uint8Array, start: number, end: number): number {
  let depth = 0;
  let at = start;
  while (at < end) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, at, end);
      if (at === -1) return -1;
      continue;
    }
    at++;
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) depth++;
    else if ((byte === CLOSE_BRACE || byte === CLOSE_BRACKET) && --depth === 0) return at;
  }
  return -1;
}

/** Whether brackets open more than `levels` deep in these bytes. */
export function isDeeperThan(levels: number, bytes: Uint8Array, start: number, end: number): boolean {
  let depth = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      at = stringEnd(bytes, at, end) - 1;
      if (at < 0) return false;
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
  #at: number;

  /** `start` is where the opening bracket should stand. */
  constructor(bytes: Uint8Array, start: number, limit: number) {
    const open = start < limit ? bytes[start] : undefined;
    this.#bytes = bytes;
    this.#limit = open === OPEN_BRACE || open === OPEN_BRACKET ? limit : 0;
    this.#close = open === OPEN_BRACE ? CLOSE_BRACE : CLOSE_BRACKET;
    this.#at = start + 1;
  }

  next(): boolean {
    const bytes = this.#bytes;
    const limit = this.#limit;
    let at = skipSpace(bytes, this.#at, limit);
    if (at >= limit) return false;
    if (bytes[at] === this.#close) {
      this.after = at + 1;
      return this.#stop();
    }
    if (this.end > 0) {
      if (bytes[at] !== COMMA) return this.#stop();
      at = skipSpace(bytes, at + 1, limit);
    }
    if (this.#close === CLOSE_BRACE) {
      if (at >= limit || bytes[at] !== QUOTE) return this.#stop();
      this.nameStart = at;
      this.nameEnd = stringEnd(bytes, at, limit);
      if (this.nameEnd === -1) return this.#stop();
      at = skipSpace(bytes, this.nameEnd, limit);
      if (at >= limit || bytes[at] !== COLON) return this.#stop();
      at = skipSpace(bytes, at + 1, limit);
    }
    const end = valueEnd(bytes, at, limit);
    if (end === -1) return this.#stop();
    this.start = at;
    this.end = end;
    this.#at = end;
    return true;
  }

  #stop(): false {
    this.#at = this.#limit;
    return false;
  }
}
