import type { Json } from "./json-text.ts";
import { readJson } from "./read-json.ts";

/** An object from outside, a message or a record of a transcript: every field is looked at before it is believed. */
export type Fields = { readonly [name: string]: Json };

export function fieldsIn(value: Json | undefined): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;
}

/** The same where a value that is not an object counts as an empty one. */
export function fieldsOf(value: Json | undefined): Fields {
  return fieldsIn(value) ?? {};
}

export function textIn(value: Json | undefined): string | null {
  return typeof value === "string" ? value : null;
}

/** The text if it is one. */
export function wordsIn(value: Json | undefined): string {
  return textIn(value) ?? "";
}

export function countIn(value: Json | undefined): number | null {
  return typeof value === "number" && Number.isFinite(value) ? value : null;
}

/** The objects in a list; anything else in it, or anything but a list, is passed over. */
export function listIn(value: Json | undefined): readonly Fields[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly Json[]).map(fieldsIn).filter((item) => item !== null);
}

/** A record from its line, or null when the line is torn, damaged or no object. */
export function parseFields(line: string): Fields | null {
  if (!line.trimStart().startsWith("{")) return null;
  try {
    return fieldsIn(readJson(line));
  } catch {
    return null;
  }
}

/** The value as text that does not depend on the order of members: the same input is the same text. */
export function canonicalText(value: Json): string {
  return JSON.stringify(value, (_name, inner: unknown) =>
    typeof inner === "object" && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([one], [other]) => (one < other ? -1 : 1)))
      : inner,
  );
}

export function isSameJson(one: Json | undefined, other: Json | undefined): boolean {
  if (one === other) return true;
  if (one === undefined || other === undefined) return false;
  return canonicalText(one) === canonicalText(other);
}
