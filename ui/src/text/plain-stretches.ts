/** A stretch of a text: written in Markdown, or to be shown as it is. */
export interface Stretch {
  readonly isPlain: boolean;
  readonly text: string;
}

const DEPTH_MAX = 12; // lists and quotes within each other; a lexer works on every line once for each of them
const MARKS_MAX = 2_000; // of emphasis in a row of lines; a lexer pairs each with all others
const LINES_MAX = 4_000; // that go on without opening anything; a lexer joins them to a list one by one

// What may open a list or a quote at the beginning of a line.
const OPENING = /[ \t]*(?:>|[-*+](?=[ \t]|$)|\d{1,9}[.)](?=[ \t]|$))/y;

/** How deep a line can be nested: by what it opens itself, and by how far it is indented before that. */
function depthOf(line: string): number {
  let [opened, at] = [0, 0];
  OPENING.lastIndex = 0;
  while (opened <= DEPTH_MAX && OPENING.test(line)) {
    opened++;
    at = OPENING.lastIndex;
  }
  if (opened === 0) return 0;
  const indent = /^[ \t]*/.exec(line.slice(0, at))?.[0] ?? "";
  return opened + indent.replaceAll("\t", "    ").length / 2;
}

const marksIn = (line: string): number => line.replaceAll(/[^*_~]/g, "").length;

/**
 * A text in stretches, so that a lexer takes about as long as the text is long: what is nested too deep to be read, and what has
 * more marks of emphasis, or more lines in a row, than anybody means, is not given to it.
 */
export function plainStretches(text: string): readonly Stretch[] {
  const stretches: { readonly isPlain: boolean; readonly lines: string[] }[] = [];
  let [marks, inRow] = [0, 0];
  for (const line of text.split("\n")) {
    const [isBlank, depth] = [line.trim() === "", depthOf(line)];
    marks = isBlank ? 0 : marks + marksIn(line);
    inRow = isBlank || depth > 0 ? 0 : inRow + 1;
    const isPlain = depth > DEPTH_MAX || marks > MARKS_MAX || inRow > LINES_MAX;
    const last = stretches.at(-1);
    if (last !== undefined && last.isPlain === isPlain) last.lines.push(line);
    else stretches.push({ isPlain, lines: [line] });
  }
  return stretches.map(({ isPlain, lines }) => ({ isPlain, text: lines.join("\n") }));
}
