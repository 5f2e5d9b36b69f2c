import { diffLines, diffWordsWithSpace } from "diff";

/** A line of a change; where a line took the place of another, which words of it are other. */
export interface ChangedLine {
  readonly sign: "" | "+" | "-";
  readonly oldLine: number | null;
  readonly newLine: number | null;
  readonly parts: readonly { readonly text: string; readonly isChanged: boolean }[];
}

const CHARS_MAX = 200_000;
const EDITS_MAX = 4_000;

function linesIn(text: string): readonly string[] {
  return text.replace(/\n$/, "").split("\n");
}

/** Where as many lines come as go, each is compared with the one it replaces. */
function worded(gone: string, come: string): readonly [ChangedLine["parts"], ChangedLine["parts"]] {
  const words = diffWordsWithSpace(gone, come);
  const side = (skip: "added" | "removed"): ChangedLine["parts"] =>
    words.flatMap((word) =>
      word[skip] ? [] : [{ text: word.value, isChanged: word.added || word.removed }],
    );
  return [side("added"), side("removed")];
}

const whole = (text: string): ChangedLine["parts"] => [{ text, isChanged: false }];

/** Two texts as one list of lines; null: they are too long, or have too little in common. */
export function changedLines(before: string, after: string): readonly ChangedLine[] | null {
  if (before.length + after.length > CHARS_MAX) return null;
  const changes = diffLines(before, after, { maxEditLength: EDITS_MAX });
  if (changes === undefined) return null;
  const lines: ChangedLine[] = [];
  let [oldLine, newLine] = [1, 1];
  for (const [at, change] of changes.entries()) {
    const [next, previous] = [changes[at + 1], changes[at - 1]];
    for (const [place, text] of linesIn(change.value).entries()) {
      if (change.removed) {
        const other = next?.added === true ? linesIn(next.value)[place] : undefined;
        const parts = other === undefined ? whole(text) : worded(text, other)[0];
        lines.push({ sign: "-", oldLine: oldLine++, newLine: null, parts });
      } else if (change.added) {
        const other = previous?.removed === true ? linesIn(previous.value)[place] : undefined;
        const parts = other === undefined ? whole(text) : worded(other, text)[1];
        lines.push({ sign: "+", oldLine: null, newLine: newLine++, parts });
      } else lines.push({ sign: "", oldLine: oldLine++, newLine: newLine++, parts: whole(text) });
    }
  }
  return lines;
}
