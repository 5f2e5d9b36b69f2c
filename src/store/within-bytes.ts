import type { StoredEntry } from "#log/entry";

/** The first members of a sequence, as many as a number of bytes holds: at least one, however large it is. */
export function firstWithin<T>(
  members: Iterable<T>,
  bytes: number = Number.POSITIVE_INFINITY,
  sizeOf: (member: T) => number,
): readonly T[] {
  const items: T[] = [];
  let sum = 0;
  for (const member of members) {
    sum += sizeOf(member);
    if (items.length > 0 && sum > bytes) break;
    items.push(member);
  }
  return items;
}

/** The same of entries, by their payloads. */
export function withinBytes(entries: Iterable<StoredEntry>, bytes?: number): readonly StoredEntry[] {
  return firstWithin(entries, bytes, ({ payload }) => payload.length);
}
