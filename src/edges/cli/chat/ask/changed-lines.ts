const AROUND = 2; // lines that stay, before and behind

/** A stretch of a text, and what takes its place. */
interface Change {
  readonly at: number;
  readonly length: number;
  readonly by: string;
}

/** The lines a change is about, as a diff, and the first of them that changes. */
export function changedLines(
  text: string,
  { at, length, by }: Change,
): { readonly line: number; readonly rows: readonly string[] } {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const next = text.indexOf("\n", at + length);
  const end = next === -1 ? text.length : next;
  const old = text.slice(start, end).split("\n");
  const fresh = (text.slice(start, at) + by + text.slice(at + length, end)).split("\n");
  let same = 0;
  while (same < Math.min(old.length, fresh.length) && old[same] === fresh[same]) same++;
  let tail = 0;
  const least = Math.min(old.length, fresh.length) - same;
  while (tail < least && old[old.length - 1 - tail] === fresh[fresh.length - 1 - tail]) tail++;
  const [before, behind] = [
    text.slice(0, start).split("\n").slice(0, -1),
    text
      .slice(end + 1)
      .replace(/\n$/, "")
      .split("\n"),
  ];
  const kept = old.slice(old.length - tail);
  const marked = (mark: string, lines: readonly string[]): readonly string[] =>
    lines.map((line) => `${mark} ${line}`);
  return {
    line: before.length + same + 1,
    rows: [
      ...marked(" ", [...before, ...old.slice(0, same)].slice(-AROUND)),
      ...marked("-", old.slice(same, old.length - tail)),
      ...marked("+", fresh.slice(same, fresh.length - tail)),
      ...marked(" ", (end >= text.length - 1 ? kept : [...kept, ...behind]).slice(0, AROUND)),
    ],
  };
}
