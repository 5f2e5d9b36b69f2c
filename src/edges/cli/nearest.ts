const DISTANCE_MAX = 2;

/** The known word that was probably meant; null when none is close. */
export function nearest(word: string, known: readonly string[]): string | null {
  const starts = word.length >= 2 ? known.filter((other) => other.startsWith(word)) : [];
  if (starts.length === 1) return starts[0] ?? null;
  const scored = known
    .map((other) => ({ other, distance: editDistance(word, other) }))
    .toSorted((a, b) => a.distance - b.distance);
  const best = scored[0];
  return best !== undefined && best.distance <= Math.min(DISTANCE_MAX, word.length - 1) ? best.other : null;
}

/** Insertions, deletions, changes and swaps of neighbours that lead from one word to the other. */
function editDistance(left: string, right: string): number {
  const rows: number[][] = [Array.from({ length: right.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= left.length; row++) {
    const line = [row];
    for (let column = 1; column <= right.length; column++) {
      const same = left[row - 1] === right[column - 1];
      const change = (rows[row - 1]?.[column - 1] ?? 0) + (same ? 0 : 1);
      const insert = (line[column - 1] ?? 0) + 1;
      const remove = (rows[row - 1]?.[column] ?? 0) + 1;
      const swapped =
        row > 1 && column > 1 && left[row - 1] === right[column - 2] && left[row - 2] === right[column - 1];
      const swap = swapped ? (rows[row - 2]?.[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY;
      line.push(Math.min(change, insert, remove, swap));
    }
    rows.push(line);
  }
  return rows[left.length]?.[right.length] ?? 0;
}
