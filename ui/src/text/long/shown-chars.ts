const CHARS_MAX = 50_000;
const LINES_MAX = 800;

/** How long a text is, in words. */
export function sizeText(chars: number): string {
  return chars < 1_000_000 ? `${Math.ceil(chars / 1_000)} kB` : `${(chars / 1_000_000).toFixed(1)} MB`;
}

/** How much of a text is shown at once: nothing that is longer is coloured. */
export function shownChars(text: string): number {
  let end = -1;
  for (let lines = 0; lines < LINES_MAX; lines++) {
    end = text.indexOf("\n", end + 1);
    if (end === -1 || end >= CHARS_MAX) return Math.min(text.length, CHARS_MAX);
  }
  return Math.min(end, CHARS_MAX);
}
