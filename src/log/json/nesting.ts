import type { Json } from "./json-text.ts";

/** Looked at level by level: a function that calls itself would run out of stack where this only counts. */
export function isNestedDeeper(value: Json, levels: number): boolean {
  let level: readonly Json[] = [value];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > levels) return true;
    level = level.flatMap((one): readonly Json[] =>
      typeof one === "object" && one !== null ? Object.values(one) : [],
    );
  }
  return false;
}
