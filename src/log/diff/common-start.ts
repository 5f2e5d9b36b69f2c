import type { Entry } from "#log/entry";
import { isNestedDeeper } from "#log/json/read-json";
import { canonicalText } from "#log/json/json-fields";
import { LEVELS_MAX } from "./diff-item.ts";

/** From where on two branches are compared. */
export interface CommonStart {
  /** The last node both have, the last of a part that was copied, seeds of the same words, or the start of each. */
  readonly kind: "ancestor" | "copy" | "seeds" | "starts";
  /** How many nodes of each lie before it. */
  readonly a: number;
  readonly b: number;
}

/** Of two whole branches that share no node, oldest first. */
export function commonStart(a: readonly Entry[], b: readonly Entry[]): CommonStart {
  const copied = copiedNodes(a, b);
  if (copied > 1) return { kind: "copy", a: copied, b: copied };
  return commonSeeds(a, b) ?? { kind: "starts", a: 0, b: 0 };
}

/** An import keeps its entries as they were: only the root is its own. */
function copiedNodes(a: readonly Entry[], b: readonly Entry[]): number {
  let length = 1;
  while (length < a.length && length < b.length && isCopy(a[length], b[length])) length++;
  return length;
}

function isCopy(one: Entry | undefined, other: Entry | undefined): boolean {
  return (
    one !== undefined &&
    one.id === other?.id &&
    one.time === other.time &&
    one.type === other.type &&
    one.payload === other.payload
  );
}

/** The last seeds that say the same on both sides. */
function commonSeeds(a: readonly Entry[], b: readonly Entry[]): CommonStart | null {
  const places = new Map<string, number>();
  for (const [y, entry] of b.entries()) for (const text of seedText(entry)) places.set(text, y);
  for (const [x, entry] of [...a.entries()].toReversed())
    for (const text of seedText(entry)) {
      const y = places.get(text);
      if (y !== undefined) return { kind: "seeds", a: x + 1, b: y + 1 };
    }
  return null;
}

function seedText(entry: Entry): readonly string[] {
  return entry.type !== "seed" || isNestedDeeper(entry.messages, LEVELS_MAX)
    ? []
    : [canonicalText(entry.messages)];
}
