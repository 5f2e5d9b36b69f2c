import type { KeyPiece } from "./key-pieces.ts";

const [ESCAPE, ESCAPED] = ["\u001B", /^(?:\[[0-9;?]*[@-~]|O.|.)?/u];
const [INTERRUPT, END, SUSPEND, ERASE_WORD, ERASE_LINE] = ["\u0003", "\u0004", "\u001A", "\u0017", "\u0015"];
const ERASE: ReadonlySet<string> = new Set(["\u007F", "\b"]);

/** What the keys of a line that is not shown come to. */
export type BlindEvent =
  | { readonly type: "line"; readonly text: string }
  | { readonly type: "interrupt" | "end" | "suspend" };

/** A line that is typed while something else is printed: kept, and not shown until it is whole or asked for. */
export class BlindLine {
  #text: string = "";

  /** What was typed so far; it is given out once. */
  giveOut(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }

  *add(piece: KeyPiece): Generator<BlindEvent> {
    if ("pasted" in piece) {
      this.#text += piece.pasted;
      return;
    }
    for (const key of withoutEscapes(piece.keys)) {
      if (key === "\r") yield { type: "line", text: this.giveOut() };
      else if (key === INTERRUPT) yield { type: "interrupt" };
      else if (key === SUSPEND) yield { type: "suspend" };
      else if (key === END && this.#text === "") yield { type: "end" };
      else this.#text = edited(this.#text, key);
    }
  }
}

function edited(text: string, key: string): string {
  if (ERASE.has(key)) return Array.from(text).slice(0, -1).join("");
  if (key === ERASE_LINE) return "";
  if (key === ERASE_WORD) return /^[^]*\s/.exec(text.trimEnd())?.[0] ?? "";
  return key >= " " || key === "\t" ? text + key : text;
}

/** Arrow keys and their like mean nothing in a line that is not seen. */
function withoutEscapes(keys: string): string {
  const [start = "", ...rest] = keys.split(ESCAPE);
  return start + rest.map((part) => part.replace(ESCAPED, "")).join("");
}
