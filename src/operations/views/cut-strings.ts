import { entryLine } from "#log/codec";
import type { StoredEntry } from "#log/entry";
import type { Json } from "#log/json/json-text";
import { readJson } from "#log/json/read-json";

const DEPTH_MAX = 64;

/** A value in which no string is longer than this; null: none was. What is nested deeper than anybody looks is left as it is. */
export function cutStrings(value: Json, max: number): Json | null {
  let isCut = false;
  const walk = (part: Json, depth: number): Json => {
    if (typeof part === "string") {
      if (part.length <= max) return part;
      isCut = true;
      return part.slice(0, max).toWellFormed();
    }
    if (typeof part !== "object" || part === null || depth === DEPTH_MAX) return part;
    if (Array.isArray(part)) return part.map((one) => walk(one, depth + 1));
    return Object.fromEntries(Object.entries(part).map(([name, one]) => [name, walk(one, depth + 1)]));
  };
  const shorter = walk(value, 0);
  return isCut ? shorter : null;
}

/** An entry as it was written, or where a text in it is longer than wanted, with that text cut; and then how long it is. */
export function shortLine(
  entry: StoredEntry,
  textMax: number | null,
): { readonly line: string; readonly cut: number | null } {
  const { payload } = entry;
  const isLong = textMax !== null && payload.length > textMax;
  const shorter = isLong ? cutStrings(readJson(payload), textMax) : null;
  if (shorter === null) return { line: entryLine(entry), cut: null };
  return { line: entryLine({ ...entry, payload: JSON.stringify(shorter) }), cut: payload.length };
}
