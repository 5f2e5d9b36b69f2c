// What a terminal obeys and what nobody sees: a key that is coloured in the middle is still a key.
const HIDDEN =
  // oxlint-disable-next-line no-control-regex -- escapes of terminals are what is looked for
  /\u001B(?:\[[0-?]{0,64}[ -/]{0,8}[@-~]|\][^\u0007\u001B]{0,4096}(?:\u0007|\u001B\\)|[@-Z\\^_])|[\u0000-\u0008\u000E-\u001A\u001C-\u001F\u007F]|\p{Default_Ignorable_Code_Point}/gu;

/** A text as it is seen, and where each of its characters stands in the text that was original. */
export interface VisibleText {
  readonly text: string;
  /** The place in the original text of the character that is seen at this one. */
  at(index: number): number;
}

/** The text without what nobody sees of it. */
export function visibleTextOf(input: string): VisibleText {
  if (input.search(HIDDEN) === -1) return { text: input, at: (index) => index };
  let text = "";
  let from = 0;
  const pieces: { readonly seen: number; readonly original: number }[] = [];
  for (const { 0: match, index } of input.matchAll(HIDDEN)) {
    if (index > from) pieces.push({ seen: text.length, original: from });
    text += input.slice(from, index);
    from = index + match.length;
  }
  pieces.push({ seen: text.length, original: from });
  text += input.slice(from);
  return { text, at: (index) => placeIn(pieces, index) };
}

function placeIn(
  pieces: readonly { readonly seen: number; readonly original: number }[],
  index: number,
): number {
  let [low, high] = [0, pieces.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((pieces[middle]?.seen ?? 0) <= index) low = middle;
    else high = middle - 1;
  }
  const piece = pieces[low];
  return piece === undefined ? index : piece.original + index - piece.seen;
}
