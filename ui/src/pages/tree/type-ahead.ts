import type { TreeRow } from "./tree-rows.ts";

const PAUSE_MS = 1_000; // what is typed after it begins another word

/** What a row is found by. */
function wordsOf(row: TreeRow): string {
  if (row.kind === "fold") return "";
  const words = row.kind === "fork" ? row.fork.title : row.node.preview;
  return words.trimStart().toLowerCase();
}

/** The next row that begins with what was typed; one letter looks behind the current row. Null: none does. */
export function rowTyped(rows: readonly TreeRow[], now: number, typed: string): number | null {
  const wanted = typed.toLowerCase();
  const from = typed.length === 1 ? now + 1 : now;
  for (let step = 0; step < rows.length; step++) {
    const at = (from + step) % rows.length;
    const row = rows[at];
    if (row !== undefined && wordsOf(row).startsWith(wanted)) return at;
  }
  return null;
}

/** Letters that are typed one after the other. */
export class TypedAhead {
  #typed = "";
  #atMs = 0;

  /** With one more; null: it is none, or the first letter is a key of the page. */
  add(key: string, nowMs: number, isKey: (key: string) => boolean): string | null {
    const before = nowMs - this.#atMs < PAUSE_MS ? this.#typed : "";
    const isLetter = key.length === 1 && (before !== "" || (key !== " " && !isKey(key)));
    this.#typed = isLetter ? before + key : "";
    this.#atMs = nowMs;
    return isLetter ? this.#typed : null;
  }

  /** Something else was done: the next letter begins another word. */
  end(): void {
    this.#typed = "";
  }
}
