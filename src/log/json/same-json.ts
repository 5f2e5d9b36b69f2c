import type { Json } from "./json-text.ts";

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
