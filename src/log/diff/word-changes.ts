import { matchKeys } from "./match-keys.ts";

const COMPARED_CHARS = 4_000; // of each side, from where they part: more than anyone reads in a line
const WORD = /\s+|[\p{L}\p{N}_]+|[^\s\p{L}\p{N}_]/gu;

export interface WordChange {
  readonly op: "same" | "removed" | "added";
  readonly text: string;
}

/** What changed between two texts, word by word. Texts that are long are compared around their first difference. */
export function wordChanges(a: string, b: string): readonly WordChange[] {
  const start = sharedStart(a, b);
  const [one, other] = [a, b].map((text) => text.slice(start, start + COMPARED_CHARS).match(WORD) ?? []);
  const changes: WordChange[] = [];
  add(changes, "same", a.slice(0, start));
  let [x, y] = [0, 0];
  const [left = [], right = []] = [one, other];
  for (const [nextX, nextY] of [...matchKeys(left, right), [left.length, right.length] as const]) {
    for (; x < nextX; x++) add(changes, "removed", left[x]);
    for (; y < nextY; y++) add(changes, "added", right[y]);
    if (x < left.length && y < right.length) add(changes, "same", left[x]);
    [x, y] = [x + 1, y + 1];
  }
  return changes;
}

/** Up to the beginning of the word in which they part. */
function sharedStart(a: string, b: string): number {
  let index = 0;
  while (index < a.length && index < b.length && a[index] === b[index]) index++;
  if (index === a.length && index === b.length) return index;
  while (index > 0 && /[\p{L}\p{N}_\p{Surrogate}]/u.test(a[index - 1] ?? "")) index--;
  return index;
}

function add(changes: WordChange[], op: WordChange["op"], text: string | undefined): void {
  const last = changes.at(-1);
  if (text === undefined || text === "") return;
  if (last?.op === op) changes[changes.length - 1] = { op, text: last.text + text };
  else changes.push({ op, text });
}
