/** What stands for a line break inside a line that is edited: readline knows lines only. */
const BREAK_SIGN = "\u2424";

const [PASTE_START, PASTE_END] = ["\u001B[200~", "\u001B[201~"];
export const PASTE_ON = "\u001B[?2004h";
export const PASTE_OFF = "\u001B[?2004l";

// Alt-Enter, as terminals send it, and Ctrl-J: a line break that sends nothing.
const BREAK_KEYS: readonly string[] = ["\u001B\r", "\u001B\n", "\n"];

/** What came from a keyboard: keys, of which only the last may end a line, or text that was pasted whole. */
export type KeyPiece = { readonly keys: string } | { readonly pasted: string };

/** Parts what a terminal sends into keys and pasted text; a mark may come in two halves. */
export class KeyPieces {
  #rest: string = "";
  #pasted: string | null = null;

  *split(chunk: string): Generator<KeyPiece> {
    let text = this.#rest + chunk;
    this.#rest = "";
    while (text !== "") {
      const mark = this.#pasted === null ? PASTE_START : PASTE_END;
      const at = text.indexOf(mark);
      if (at === -1) {
        const half = halfMark(text, mark);
        this.#rest = text.slice(text.length - half);
        yield* this.#give(text.slice(0, text.length - half));
        return;
      }
      yield* this.#give(text.slice(0, at));
      if (this.#pasted !== null) yield { pasted: withSigns(this.#pasted) };
      this.#pasted = this.#pasted === null ? "" : null;
      text = text.slice(at + mark.length);
    }
  }

  *#give(text: string): Generator<KeyPiece> {
    if (text === "") return;
    if (this.#pasted !== null) this.#pasted += text;
    else
      for (const keys of BREAK_KEYS.reduce((all, key) => all.replaceAll(key, BREAK_SIGN), text).split(
        /(?<=\r)/,
      ))
        if (keys !== "") yield { keys };
  }
}

/** How many characters at the end may be the beginning of a mark. An Escape alone is a key, unless it was pasted. */
function halfMark(text: string, mark: string): number {
  for (let length = mark.length - 1; length > (mark === PASTE_START ? 1 : 0); length--)
    if (text.endsWith(mark.slice(0, length))) return length;
  return 0;
}

export function withSigns(text: string): string {
  return text.replaceAll(/\r\n?|\n/g, BREAK_SIGN);
}

export function withBreaks(text: string): string {
  return text.replaceAll(BREAK_SIGN, "\n");
}
