import type { Json } from "#log/json/json-text";

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
