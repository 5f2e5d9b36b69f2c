import type { Json } from "#log/json/json-text";
import { isSameJson } from "#log/json/json-fields";

const LEVELS_SHOWN = 8; // deeper differences are shown as a whole
const CHANGES_MAX = 100;

/** A part of a value that is not the same on both sides. */
export interface ValueChange {
  /** Names of members and places in lists, from the outside in; empty: the value itself. */
  readonly path: readonly (string | number)[];
  /** Absent: that side has no such part. */
  readonly a?: Json;
  readonly b?: Json;
}

/** The changes between two values, part by part, in the order of A's members. The order of members is ignored. */
export function valueChanges(a: Json, b: Json): readonly ValueChange[] {
  const changes: ValueChange[] = [];
  compare({ path: [], a, b }, changes);
  return changes;
}

function compare({ path, a, b }: ValueChange, changes: ValueChange[]): void {
  if (changes.length >= CHANGES_MAX || isSameJson(a, b)) return;
  const names = path.length < LEVELS_SHOWN ? partsOf(a, b) : null;
  if (names === null) {
    changes.push({ path, ...(a === undefined ? {} : { a }), ...(b === undefined ? {} : { b }) });
    return;
  }
  for (const name of names)
    compare({ path: [...path, name], ...partAt("a", a, name), ...partAt("b", b, name) }, changes);
}

/** Null: they are not both lists or both objects. */
function partsOf(a: Json | undefined, b: Json | undefined): Iterable<string | number> | null {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return null;
  if (Array.isArray(a) && Array.isArray(b)) return Array(Math.max(a.length, b.length)).keys();
  return Array.isArray(a) || Array.isArray(b) ? null : new Set([...Object.keys(a), ...Object.keys(b)]);
}

function partAt<Side extends "a" | "b">(
  side: Side,
  value: Json | undefined,
  name: string | number,
): { readonly [S in Side]?: Json } {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return {};
  const part = (value as { readonly [name: string]: Json })[name];
  return (part === undefined ? {} : { [side]: part }) as { readonly [S in Side]?: Json };
}
