import type { Json } from "#log/json/json-text";
import { WireMessage } from "#turn/wire-message";
import { BACKSLASH, isDeeperThan, OPEN_BRACE, QUOTE, skipSpace, Walk } from "./json-scan.ts";
import { readJson } from "#log/json/read-json";

/** Byte offsets [start, end) of a JSON value in its line, without white space around it. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Where the parts of a JSON-RPC message stand. Of members with one name the last counts, as for JSON.parse. */
export class Message extends WireMessage {
  readonly bytes: Uint8Array;
  /** The whole object: walking from here also finds what stands in an earlier duplicate of `params`. */
  readonly whole: Span;
  readonly id: Span | null;
  readonly method: string | null;
  readonly params: Span | null;
  readonly result: Span | null;
  readonly error: Span | null;
  /** `params` occurs more than once: the spans name the last one alone. */
  readonly isRepeated: boolean;
  /** The members of `params`, once they were asked for. */
  #members: readonly Member[] | null = null;

  constructor(bytes: Uint8Array, whole: Span, parts: MessageParts) {
    super();
    this.bytes = bytes;
    this.whole = whole;
    this.id = parts.id;
    this.method = parts.method;
    this.params = parts.params;
    this.result = parts.result;
    this.error = parts.error;
    this.isRepeated = parts.isRepeated;
  }

  override get size(): number {
    return this.bytes.length;
  }

  /** A member of `params`, the last of that name: all readers of a line share one walk over it. */
  param(name: string): Span | null {
    return this.paramsNamed(name).at(-1) ?? null;
  }

  /** The members of `params` with this name, duplicates too. */
  paramsNamed(name: string): readonly Span[] {
    this.#members ??= this.params === null ? [] : membersAt(this.bytes, this.params);
    return this.#members.filter((member) => isNamed(this.bytes, member, name));
  }
}

type MessageParts = Pick<Message, "id" | "method" | "params" | "result" | "error" | "isRepeated">;

/** A member of an object: its value, and its name's string with the quotes. */
interface Member extends Span {
  readonly nameStart: number;
  readonly nameEnd: number;
}

function membersAt(bytes: Uint8Array, object: Span): readonly Member[] {
  const members: Member[] = [];
  const walk = walkFor(bytes, object, "");
  while (walk?.next()) {
    const { nameStart, nameEnd, start, end } = walk;
    members.push({ nameStart, nameEnd, start, end });
  }
  return members;
}

/**
 * Null when the line is not a JSON object: it is nobody's message. Only the structure is looked at: a line that is
 * broken deeper down may give a message, which its reader will refuse. Never throws, whatever the bytes.
 */
export function readMessage(line: Uint8Array): Message | null {
  const open = skipSpace(line, 0, line.length);
  if (line[open] !== OPEN_BRACE) return null;
  const walk = new Walk(line, open, line.length);
  let id: Span | null = null;
  let method: Span | null = null;
  let params: Span | null = null;
  let isRepeated = false;
  let result: Span | null = null;
  let error: Span | null = null;
  while (walk.next()) {
    if (isNamed(line, walk, "id")) id = spanOf(walk);
    else if (isNamed(line, walk, "method")) method = spanOf(walk);
    else if (isNamed(line, walk, "params")) {
      isRepeated = params !== null;
      params = spanOf(walk);
    } else if (isNamed(line, walk, "result")) result = spanOf(walk);
    else if (isNamed(line, walk, "error")) error = spanOf(walk);
  }
  if (walk.after === -1 || skipSpace(line, walk.after, line.length) < line.length) return null;
  const whole = { start: open, end: walk.after };
  return new Message(line, whole, { id, method: stringAt(line, method), params, result, error, isRepeated });
}

/**
 * The spans of every value found by walking `path` from the value at `within`, in order and with all duplicates, so that
 * all can be rewritten. "*" walks every element of an array, a name the members of an object. Where the text is broken the
 * walk ends with what was found before.
 */
export function spansAt(bytes: Uint8Array, within: Span, path: readonly string[]): readonly Span[] {
  let spans: Span[] = [within];
  for (const step of path) {
    const inner: Span[] = [];
    for (const span of spans) {
      const walk = walkFor(bytes, span, step);
      while (walk?.next()) if (step === "*" || isNamed(bytes, walk, step)) inner.push(spanOf(walk));
    }
    spans = inner;
  }
  return spans;
}

/** Several paths at once, as a tree of names and "*"; null is where a path ends. */
export interface Paths {
  readonly [step: string]: Paths | null;
}

/** What `spansAt` finds for each of the paths, in one walk: where they begin alike, the text is read once. */
export function spansIn(bytes: Uint8Array, within: Span, paths: Paths): readonly Span[] {
  const spans: Span[] = [];
  gather(bytes, within, paths, spans);
  return spans;
}

function gather(bytes: Uint8Array, within: Span, paths: Paths, spans: Span[]): void {
  const every = paths["*"] !== undefined;
  const walk = walkFor(bytes, within, every ? "*" : "");
  while (walk?.next())
    for (const step in paths)
      if (every || isNamed(bytes, walk, step)) {
        const inner = paths[step] ?? null;
        if (inner === null) spans.push(spanOf(walk));
        else gather(bytes, spanOf(walk), inner, spans);
      }
}

/** The value that JSON.parse would see there: at each step the last of the duplicates. */
export function spanAt(bytes: Uint8Array, within: Span, path: readonly string[]): Span | null {
  let span: Span = within;
  for (const step of path) {
    const walk = walkFor(bytes, span, step);
    let last: Span | null = null;
    while (walk?.next()) if (step === "*" || isNamed(bytes, walk, step)) last = spanOf(walk);
    if (last === null) return null;
    span = last;
  }
  return span;
}

function walkFor(bytes: Uint8Array, span: Span, step: string): Walk | null {
  const isObject = bytes[span.start] === OPEN_BRACE;
  return isObject === (step === "*") ? null : new Walk(bytes, span.start, span.end);
}

function spanOf(walk: Walk): Span {
  return { start: walk.start, end: walk.end };
}

/** Compares byte by byte and decodes only a name that has an escape or a character outside of ASCII. */
function isNamed(
  bytes: Uint8Array,
  { nameStart, nameEnd }: Pick<Member, "nameStart" | "nameEnd">,
  name: string,
): boolean {
  const first = nameStart + 1;
  const length = nameEnd - 1 - first;
  for (let index = 0; index < name.length; index++) {
    if (index >= length) return false;
    const byte = bytes[first + index] ?? 0;
    if (byte === BACKSLASH || byte > 127) return stringAt(bytes, { start: nameStart, end: nameEnd }) === name;
    if (byte !== name.charCodeAt(index)) return false;
  }
  return length === name.length;
}

/** The exact JSON text; bytes that are not UTF-8 become U+FFFD. */
export function textAt(bytes: Uint8Array, span: Span): string {
  return viewOf(bytes).toString("utf8", span.start, span.end);
}

/** The string's value; null if it is not a JSON string, or one that JSON.parse would refuse. */
export function stringAt(bytes: Uint8Array, span: Span | null): string | null {
  if (span === null || bytes[span.start] !== QUOTE) return null;
  const end = span.end - 1;
  for (let offset = span.start + 1; offset < end; offset++) {
    const byte = bytes[offset] ?? 0;
    if (byte < 32 || byte > 126 || byte === BACKSLASH) return decoded(textAt(bytes, span));
  }
  return viewOf(bytes).toString("latin1", span.start + 1, end);
}

function decoded(text: string): string | null {
  try {
    return readJson(text) as string;
  } catch {
    return null;
  }
}

function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const { rawJSON } = JSON as unknown as {
  readonly rawJSON: (text: string) => Json; // TypeScript's library does not have it yet
};

/** A double keeps 15 digits; a text in which no number has more of them or an exponent needs no second look. */
const MAY_LOSE = /(?:^|[[:,\s])-?(?:[\d.]{16}|[\d.]+[eE])/;

/**
 * As JSON.parse, and throws as it does; but a number that a double would change comes as a JSON.rawJSON object, which
 * JSON.stringify gives back unchanged. 1.0 and 1e3 are plain numbers: only their spelling is lost.
 */
export function valueAt(bytes: Uint8Array, span: Span): Json {
  const text = textAt(bytes, span);
  return MAY_LOSE.test(text) ? readJson(text, keepNumber) : readJson(text);
}

const LEVELS_MAX = 1_000; // deeper text is an attack, not a payload, and would exhaust the stack of whoever prints it

/** As above for text of a stranger: null when it is broken inside, or so deep that it could not be written again. */
export function readableAt(bytes: Uint8Array, span: Span): Json {
  const { start, end } = span;
  if (end - start > 2 * LEVELS_MAX && isDeeperThan(LEVELS_MAX, bytes, start, end)) return null;
  try {
    return valueAt(bytes, span);
  } catch {
    return null;
  }
}

function keepNumber(_name: string, value: Json, context: { readonly source?: string }): Json {
  if (typeof value !== "number" || context.source === undefined) return value;
  return isSameNumber(context.source, String(value)) ? value : rawJSON(context.source);
}

function isSameNumber(one: string, other: string): boolean {
  return one === other || canonical(one) === canonical(other);
}

/** One spelling for each number: sign, digits without zeros around them, power of ten of the last digit. */
function canonical(number: string): string {
  const [, sign = "", whole = "", fraction = "", exponent = "0"] =
    /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([-+]?\d+))?$/.exec(number) ?? [];
  const digits = (whole + fraction).replace(/^0+/, "");
  const significant = digits.replace(/(?<!0)0+$/, "");
  if (significant === "") return whole === "" ? number : "0";
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}
