/** The first members of a sequence, as many as a number of bytes holds: at least one, however large it is. */
export function withinBytes<T>(
  members: Iterable<T>,
  bytes: number = Number.POSITIVE_INFINITY,
  sizeOf: (member: T) => number,
): readonly T[] {
  const found: T[] = [];
  let sum = 0;
  for (const member of members) {
    sum += sizeOf(member);
    if (found.length > 0 && sum > bytes) break;
    found.push(member);
  }
  return found;
}
