import { isLogError, LogError } from "#log/errors";
import { readJson, stringEnd } from "./read-json.ts";

/** A value as JSON.parse gives it. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [name: string]: Json };

export const ENTRY_CHARS_MAX = 33_554_432; // 32 Mi characters: twice the largest tool output seen in the field
const NESTING_MAX = 5_000; // deeper text is an attack, not a payload
const FIELDS_MAX = 100_000; // of one object: a reader keeps a table of them
const PLAIN_LEVELS = 100; // deeper values take the slower way

/** One member of a JSON object, its value as the text it had in the source. */
export interface Member {
  readonly name: string;
  readonly text: string;
}

const QUOTE = 34;
const COMMA = 44;
const OPEN_BRACE = 123;
const CLOSE_BRACE = 125;
const OPEN_BRACKET = 91;
const CLOSE_BRACKET = 93;

/** JSON.parse decides what is valid; this only bounds size and depth. */
function checkJson(source: string): Json {
  checkLength(source);
  checkStructure(source);
  try {
    return readJson(source);
  } catch (cause) {
    throw new LogError("invalid_entry", `Invalid JSON: ${(cause as Error).message}`, {}, { cause });
  }
}

/** Keeps valid JSON storable: line breaks become spaces (one entry is one line), a raw lone surrogate its escape. */
function storable(json: string): string {
  // Valid JSON has raw line breaks between tokens only.
  const line = /[\n\r]/.test(json) ? json.replaceAll(/[\n\r]/g, " ") : json;
  const text = line.isWellFormed() ? line : line.replaceAll(/\p{Surrogate}/gu, escapeSurrogate);
  return text.trim();
}

export interface JsonObject {
  readonly text: string;
  readonly value: { readonly [name: string]: Json };
}

/** Takes text from anyone that must hold an object. */
export function checkJsonObject(source: string): JsonObject {
  const value = checkObject(checkJson(source));
  return { text: storable(source), value };
}

/** Takes a value from our own side; what JSON.stringify writes is one line and storable as it is. */
export function writeJsonObject(value: unknown): JsonObject {
  const { text, copy } = write(value);
  if (copy === undefined) return { text, value: checkObject(checkJson(text)) };
  checkLength(text);
  return { text, value: checkObject(copy) };
}

/**
 * The value with nothing but data in it, each part read once, for a fifth of what parsing its text would cost. Undefined
 * where JSON would not write it as it is: then only the text tells what it means.
 */
function plainCopy(value: unknown, above: object[]): Json | undefined {
  if (typeof value === "string" || typeof value === "boolean" || value === null) return value;
  if (typeof value === "number") return Number.isFinite(value) ? value + 0 : undefined; // -0 is written as 0
  if (typeof value !== "object" || "toJSON" in value) return undefined;
  // What holds itself is found at once, not after it has been copied for every level.
  if (above.length === PLAIN_LEVELS || above.includes(value)) return undefined;
  above.push(value);
  const copy = Array.isArray(value) ? plainItems(value, above) : plainMembers(value, above);
  above.pop();
  return copy;
}

function plainMembers(object: object, above: object[]): Json | undefined {
  const prototype: unknown = Object.getPrototypeOf(object);
  if (prototype !== Object.prototype && prototype !== null) return undefined;
  if (prototype === null && "rawJSON" in object) return undefined; // made by JSON.rawJSON, it is written as its text
  const copy: { [name: string]: Json } = {};
  const names = Object.keys(object);
  checkFields(names.length);
  for (const name of names) {
    const member: unknown = object[name as keyof typeof object];
    if (member === undefined) continue;
    const plain = name === "__proto__" ? undefined : plainCopy(member, above);
    if (plain === undefined) return undefined;
    copy[name] = plain;
  }
  return copy;
}

function plainItems(array: readonly unknown[], above: object[]): Json[] | undefined {
  const items: Json[] = [];
  const { length } = array;
  // By number, as JSON does: an array may have its own idea of what it iterates over, and grow while it is read.
  for (let index = 0; index < length; index++) {
    const plain = plainCopy(array[index], above);
    if (plain === undefined) return undefined;
    items.push(plain);
  }
  return items;
}

/** The text of a value, and its copy where there is one. A value may refuse to be read, when copied as when written. */
function write(value: unknown): { readonly text: string; readonly copy: Json | undefined } {
  let copy: Json | undefined;
  let text: string | undefined;
  try {
    copy = plainCopy(value, []);
    text = copy === undefined ? JSON.stringify(value, refuseAltered()) : JSON.stringify(copy);
  } catch (cause) {
    if (isLogError(cause)) throw cause;
    const message = cause instanceof Error ? cause.message : String(cause);
    throw new LogError("invalid_entry", `The entry cannot be serialized as JSON: ${message}`, {}, { cause });
  }
  if (text === undefined) throw new LogError("invalid_entry", "An entry must be a JSON object");
  return { text, copy };
}

/**
 * What JSON.stringify would drop or replace without a word is refused, by the path to it. A member that is undefined is
 * left out, as everywhere in JavaScript, and an object that has a `toJSON` means what that gives.
 */
function refuseAltered(): (this: unknown, name: string, value: unknown) => unknown {
  const paths = new Map<unknown, string>();
  return function check(name, value) {
    const holder = paths.get(this);
    const path = holder === undefined ? "" : `${holder}${step(this, name)}`;
    const what = alteredKind(value, Array.isArray(this));
    if (what !== null)
      throw new LogError(
        "invalid_entry",
        `${path === "" ? "The entry" : path.replace(/^\./, "")} is ${what}, which JSON cannot represent`,
        {
          path: path.replace(/^\./, ""),
        },
      );
    if (typeof value === "object" && value !== null) paths.set(value, path);
    return value;
  };
}

function step(holder: unknown, name: string): string {
  if (Array.isArray(holder)) return `[${name}]`;
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`;
}

/** What kind of value would not come back as it was given; null when it does. */
function alteredKind(value: unknown, inArray: boolean): string | null {
  if (value === undefined) return inArray ? "undefined" : null;
  if (typeof value === "number") return Number.isFinite(value) ? null : String(value);
  if (typeof value === "function" || typeof value === "symbol") return `a ${typeof value}`;
  if (typeof value === "bigint") return "a BigInt";
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  // What keeps its data elsewhere than in its members would be written as an empty object, or as a list of numbers.
  const kind = Object.prototype.toString.call(value).slice(8, -1);
  return kind === "Object" ? null : `a ${kind}`;
}

function checkObject(value: Json): JsonObject["value"] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new LogError("invalid_entry", "Expected a JSON object");
  }
  return value as JsonObject["value"];
}

function escapeSurrogate(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16)}`;
}

function checkLength(source: string): void {
  if (source.length <= ENTRY_CHARS_MAX) return;
  throw new LogError(
    "too_large",
    `The entry has ${source.length} characters. The limit is ${ENTRY_CHARS_MAX}.`,
    { limit: ENTRY_CHARS_MAX, actual: source.length },
  );
}

/** Bounds what a reader of the value would pay for: levels, and the fields of one object. */
function checkStructure(source: string): void {
  if (source.length <= NESTING_MAX) return; // every level, and every field, takes a character
  const fields: number[] = []; // of each object that is open; of a list it stays far below
  for (let index = 0; index < source.length; index++) {
    const unit = source.charCodeAt(index);
    if (unit === QUOTE) index = stringEnd(source, index);
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) {
      fields.push(unit === OPEN_BRACE ? 1 : Number.NEGATIVE_INFINITY);
      if (fields.length > NESTING_MAX)
        throw tooLarge(`The JSON is nested more than ${NESTING_MAX} levels deep`, NESTING_MAX);
    } else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) fields.pop();
    else if (unit === COMMA) {
      const count = (fields.pop() ?? 0) + 1;
      checkFields(count);
      fields.push(count);
    }
  }
}

function checkFields(count: number): void {
  if (count > FIELDS_MAX) throw tooLarge(`A JSON object has more than ${FIELDS_MAX} fields`, FIELDS_MAX);
}

function tooLarge(message: string, limit: number): LogError {
  return new LogError("too_large", message, { limit });
}

/** The members of a JSON object's text in order, duplicates included, each value exactly as written. */
export function membersOf(object: string): readonly Member[] {
  const members: Member[] = [];
  let index = object.indexOf("{") + 1;
  for (;;) {
    const open = nameStart(object, index);
    if (open === -1) return members;
    const nameEnd = stringEnd(object, open);
    const colon = object.indexOf(":", nameEnd);
    const end = valueEnd(object, colon + 1);
    const name = object.slice(open + 1, nameEnd);
    members.push({
      name: name.includes("\\") ? (readJson(`"${name}"`) as string) : name,
      text: object.slice(colon + 1, end).trim(),
    });
    if (object.charCodeAt(end) !== COMMA) return members;
    index = end + 1;
  }
}

/** Where the next name of an object opens; -1 where the object ends first. It reads no further than that. */
function nameStart(object: string, from: number): number {
  for (let index = from; index < object.length; index++) {
    const unit = object.charCodeAt(index);
    if (unit === QUOTE) return index;
    if (unit === CLOSE_BRACE) return -1;
  }
  return -1;
}

/** The items of a JSON array's text in order, each exactly as written. */
export function itemsOf(array: string): readonly string[] {
  const items: string[] = [];
  let index = array.indexOf("[") + 1;
  for (;;) {
    const end = valueEnd(array, index);
    const text = array.slice(index, end).trim();
    if (text !== "") items.push(text);
    if (array.charCodeAt(end) !== COMMA) return items;
    index = end + 1;
  }
}

/** The index of the comma or bracket that ends the value which starts at or after `start`. */
function valueEnd(text: string, start: number): number {
  let depth = 0;
  for (let index = start; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    if (unit === QUOTE) index = stringEnd(text, index);
    else if (unit === OPEN_BRACE || unit === OPEN_BRACKET) depth++;
    else if (unit === CLOSE_BRACE || unit === CLOSE_BRACKET) {
      if (depth === 0) return index;
      depth--;
    } else if (unit === COMMA && depth === 0) return index;
  }
  return text.length;
}

/** The object with a value put at a path; where something stands there, or on the way, it stays as it was. */
export function withMember(object: string, path: readonly string[], text: string): string {
  const [name, ...rest] = path;
  if (name === undefined) return object;
  const members = membersOf(object);
  const there = members.findLastIndex((member) => member.name === name);
  const earlier = members[there];
  if (earlier === undefined) {
    const value = rest.reduceRight((inner, part) => `{${JSON.stringify(part)}:${inner}}`, text);
    return objectText([...members, { name, text: value }]);
  }
  const isObject = earlier.text.startsWith("{");
  const inner = isObject && rest.length > 0 ? withMember(earlier.text, rest, text) : earlier.text;
  return inner === earlier.text ? object : objectText(members.with(there, { name, text: inner }));
}

/** The text of an object made of these members, values untouched. */
export function objectText(members: readonly Member[]): string {
  return `{${members.map((member) => `${JSON.stringify(member.name)}:${member.text}`).join(",")}}`;
}
