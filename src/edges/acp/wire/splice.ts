import { BACKSLASH, nextString, stringEnd } from "./json-scan.ts";
import { type Message, type Paths, type Span, spanAt, spansIn, stringAt, textAt } from "./spans.ts";
import type { Fields } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";

/** Text, mostly JSON text, to stand in place of the span; an empty span inserts. */
export interface Edit {
  readonly span: Span;
  readonly text: string;
}

/**
 * The bytes with the edits made; all others are as they were. Edits come in any order and must not overlap; inserts at one
 * offset keep their order. Without an edit the same object comes back.
 */
export function splice(bytes: Uint8Array, edits: readonly Edit[]): Uint8Array {
  if (edits.length === 0) return bytes;
  const ordered = edits.toSorted((a, b) => a.span.start - b.span.start || a.span.end - b.span.end);
  const length = ordered.reduce((sum, edit) => sum + sizeChange(edit), bytes.length);
  const out = Buffer.allocUnsafe(length);
  let read = 0;
  let written = 0;
  for (const { span, text } of ordered) {
    if (span.start < read || span.end < span.start || span.end > bytes.length)
      throw new RangeError(`The edit of bytes ${span.start} to ${span.end} overlaps another or the end`);
    out.set(bytes.subarray(read, span.start), written);
    written += span.start - read;
    written += out.write(text, written);
    read = span.end;
  }
  out.set(bytes.subarray(read), written);
  return out;
}

function sizeChange({ span, text }: Edit): number {
  return Buffer.byteLength(text) - (span.end - span.start);
}

/**
 * Edits that replace every occurrence of `from` inside the JSON strings of the span, names included, by `to`. Strings are
 * matched on what they decode to; only the matched characters change, and the rest of a string keeps its exact bytes. A
 * `from` that is empty or has half a surrogate pair is found nowhere.
 */
export function replaceInStrings(bytes: Uint8Array, within: Span, from: string, to: string): readonly Edit[] {
  const edits: Edit[] = [];
  if (from === "" || !from.isWellFormed()) return edits;
  const needle = needleOf(from);
  const text = JSON.stringify(to).slice(1, -1);
  for (let offset = within.start; ;) {
    const open = nextString(bytes, offset, within.end);
    if (open === -1) return edits;
    const end = stringEnd(bytes, open, within.end);
    if (end === -1) return edits;
    const inside = { start: open + 1, end: end - 1 };
    for (const span of matchesIn(bytes, inside, needle)) edits.push({ span, text });
    offset = end;
  }
}

/** The searched text, as UTF-8 to compare with raw bytes and as code points to compare with escapes. */
interface Needle {
  readonly bytes: Uint8Array;
  /** The code point whose first byte stands here; -1 at its other bytes. */
  readonly codes: Int32Array;
}

function needleOf(text: string): Needle {
  const bytes = Buffer.from(text);
  const codes = new Int32Array(bytes.length).fill(-1);
  let offset = 0;
  for (const char of text) {
    codes[offset] = char.codePointAt(0) ?? -1;
    offset += Buffer.byteLength(char);
  }
  return { bytes, codes };
}

function matchesIn(bytes: Uint8Array, inside: Span, needle: Needle): readonly Span[] {
  const spans: Span[] = [];
  const first = needle.bytes[0];
  let offset = inside.start;
  while (offset < inside.end) {
    const byte = bytes[offset];
    const end = byte === BACKSLASH || byte === first ? matchEnd(bytes, offset, inside.end, needle) : -1;
    if (end !== -1) {
      spans.push({ start: offset, end });
      offset = end;
    } else offset += byte === BACKSLASH ? escapeSize(bytes, offset, escapedCode(bytes, offset)) : 1;
  }
  return spans;
}

/** Where a match that starts at `start` ends; -1 if none does. UTF-8 needs no decoding: no character hides in another. */
function matchEnd(bytes: Uint8Array, start: number, end: number, needle: Needle): number {
  let offset = start;
  let matched = 0;
  while (matched < needle.bytes.length) {
    if (offset >= end) return -1;
    if (bytes[offset] === BACKSLASH) {
      const code = escapedCode(bytes, offset);
      if (code === -1 || code !== needle.codes[matched]) return -1;
      offset += escapeSize(bytes, offset, code);
      matched += utf8Size(code);
    } else {
      if (bytes[offset] !== needle.bytes[matched]) return -1;
      offset++;
      matched++;
    }
  }
  return offset;
}

const ESCAPES: { readonly [letter: string]: string } = {
  '"': '"',
  "\\": "\\",
  "/": "/",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};
/** The code of the escape with this letter; -1 for an unknown escape. */
const ESCAPED: Int32Array = Int32Array.from({ length: 256 }, (_, byte) => {
  return ESCAPES[String.fromCharCode(byte)]?.charCodeAt(0) ?? -1;
});
const LETTER_U = 117;

/** The code point that the escape at `offset` stands for, two escapes if they are a surrogate pair; -1 if it is malformed. */
function escapedCode(bytes: Uint8Array, offset: number): number {
  const letter = bytes[offset + 1] ?? 0;
  if (letter !== LETTER_U) return ESCAPED[letter] ?? -1;
  const unit = hexAt(bytes, offset + 2);
  if (unit < 0xd800 || unit > 0xdbff) return unit;
  if (bytes[offset + 6] !== BACKSLASH || bytes[offset + 7] !== LETTER_U) return unit;
  const low = hexAt(bytes, offset + 8);
  return low < 0xdc00 || low > 0xdfff ? unit : 0x10000 + (unit - 0xd800) * 0x400 + (low - 0xdc00);
}

function escapeSize(bytes: Uint8Array, offset: number, code: number): number {
  if (code > 0xffff) return 12;
  return code !== -1 && bytes[offset + 1] === LETTER_U ? 6 : 2;
}

function hexAt(bytes: Uint8Array, start: number): number {
  let value = 0;
  for (let offset = start; offset < start + 4; offset++) {
    const byte = bytes[offset] ?? 0;
    const letter = byte | 32;
    if (byte >= 48 && byte <= 57) value = value * 16 + byte - 48;
    else if (letter >= 97 && letter <= 102) value = value * 16 + letter - 87;
    else return -1;
  }
  return value;
}

function utf8Size(code: number): number {
  if (code < 0x80) return 1;
  if (code < 0x800) return 2;
  return code < 0x10000 ? 3 : 4;
}

/** The bytes of a part of a message, edited by spans of the whole. */
export function spliceWithin(bytes: Uint8Array, part: Span, edits: readonly Edit[]): string {
  const moved = edits.map(({ span, text }) => ({
    span: { start: span.start - part.start, end: span.end - part.start },
    text,
  }));
  return new TextDecoder().decode(splice(bytes.subarray(part.start, part.end), moved));
}

const FAILURE: Paths = { jetbrains: { air: { sessionFailure: { id: null } } } };
const UPDATE_IDS: Paths = { sessionId: null, senderSessionId: null, _meta: FAILURE };
/** Where a session's id may stand. */
const IDS: Paths = {
  params: { sessionId: null, update: UPDATE_IDS },
  error: { data: { sessionId: null } },
  result: { sessionId: null, sessions: { "*": { sessionId: null } }, _meta: FAILURE },
};

const ID_CHARS_MIN = 8; // a shorter one is a word like any other, and may mean nothing in a sentence

/**
 * Puts one id in place of another wherever a session's id may stand. Content, output and paths are not searched. `update` is the
 * update in the message, where a caller has parsed it: one without an id is not walked again.
 */
export function rewriteIds(
  message: Message,
  from: string,
  to: string,
  update: Fields | null = null,
): readonly Edit[] {
  const { bytes, whole, result, error } = message;
  const text = JSON.stringify(to);
  // In an error an id stands in sentences, too.
  if (error !== null && from.length >= ID_CHARS_MIN) return replaceInStrings(bytes, error, from, to);
  const spans =
    message.isRepeated || result !== null ? spansIn(bytes, whole, IDS) : idsInParams(message, update);
  return spans.filter((span) => stringAt(bytes, span) === from).map((span) => ({ span, text }));
}

function idsInParams(message: Message, update: Fields | null): readonly Span[] {
  const updates = message.paramsNamed("update");
  const hasNone =
    update !== null && updates.length === 1 && Object.keys(UPDATE_IDS).every((name) => !(name in update));
  const inUpdates = hasNone ? [] : updates.flatMap((span) => spansIn(message.bytes, span, UPDATE_IDS));
  return [...message.paramsNamed("sessionId"), ...inUpdates];
}

/** Puts what we have to say into an object: `_meta.holdfast` of a result, `data.holdfast` of an error. */
export function withMeta(
  bytes: Uint8Array,
  object: Span,
  parent: "_meta" | "data",
  meta: Json,
): readonly Edit[] {
  const holdfast = JSON.stringify(meta);
  const there = spanAt(bytes, object, [parent]);
  if (there === null || textAt(bytes, there) === "null") {
    const edit = there === null ? insertMember(bytes, object, parent, `{"holdfast":${holdfast}}`) : null;
    return [edit ?? { span: there ?? object, text: `{"holdfast":${holdfast}}` }];
  }
  // Something else than an object stands there: it is the agent's, and stays.
  return bytes[there.start] === OPEN_BRACE ? [insertMember(bytes, there, "holdfast", holdfast)] : [];
}

const OPEN_BRACE = 123;

/** Members go in front: what the object holds keeps its place and its bytes. */
function insertMember(bytes: Uint8Array, object: Span, name: string, text: string): Edit {
  const start = object.start + 1;
  const isEmpty = /^\{\s*\}$/.test(textAt(bytes, object));
  return { span: { start, end: start }, text: `${JSON.stringify(name)}:${text}${isEmpty ? "" : ","}` };
}

const OPEN_BRACKET = 91;

/** Adds an element at the end of an array; anything else stays as it is. */
export function appendElement(bytes: Uint8Array, array: Span, text: string): readonly Edit[] {
  if (bytes[array.start] !== OPEN_BRACKET) return [];
  const end = array.end - 1;
  const isEmpty = /^\[\s*\]$/.test(textAt(bytes, array));
  return [{ span: { start: end, end }, text: isEmpty ? text : `,${text}` }];
}
