import { type Interface, createInterface } from "node:readline";
import { PassThrough } from "node:stream";
import { StringDecoder } from "node:string_decoder";

/** A terminal that lines are edited at. */
export interface Keyboard {
  readonly input: NodeJS.ReadableStream & { setRawMode(isRaw: boolean): unknown };
  readonly output: NodeJS.WritableStream;
}

interface EditorListener {
  line(text: string): void;
  /** Ctrl-C. `had`: something was typed, which is gone now. */
  interrupt(hadText: boolean): void;
  /** Ctrl-D on an empty line, or the terminal is gone. */
  end(): void;
}

const HISTORY_MAX = 500;
const RUN_MIN = 64; // faster than anybody types
const ESCAPE_MS = 50; // a terminal sends the rest of a key at once

/**
 * Lines as a person edits them: with arrow keys, the history of earlier lines, several lines in one (a backslash at the end,
 * Alt-Enter, Ctrl-J, or pasted). What is typed while no line is asked for is kept for the next one.
 */
export class LineEditor {
  readonly #keyboard: Keyboard;
  readonly #listener: EditorListener;
  readonly #pieces = new KeyPieces();
  readonly #typeahead = new TypeaheadBuffer();
  readonly #decoder = new StringDecoder("utf8");
  /** What readline takes for its input: told at once, so that pasted text stays in its place. */
  readonly #keys = new PassThrough();
  readonly #history: string[] = [];
  readonly #onData = (chunk: Uint8Array | string): void => this.#receive(chunk);
  readonly #onEnd = (): void => this.#end();
  #readline: Interface | null = null;
  #isOpen: boolean = true;
  /** Lines that ended in a backslash. */
  #unfinished: string = "";

  constructor(keyboard: Keyboard, listener: EditorListener) {
    this.#keyboard = keyboard;
    this.#listener = listener;
    this.#mode(true);
    keyboard.input.on("data", this.#onData).once("end", this.#onEnd);
  }

  /** Lines of before, oldest first, to be had again with the arrow keys. */
  remember(lines: readonly string[]): void {
    for (const line of lines) {
      const index = this.#history.indexOf(withSigns(line));
      if (index !== -1) this.#history.splice(index, 1);
      this.#history.unshift(withSigns(line));
    }
    this.#history.splice(HISTORY_MAX);
  }

  /** Asks for a line, with what was typed ahead of it; or for an answer to a question, with nothing. */
  show(prompt: string, kind: "line" | "answer" = "line"): void {
    this.#drop();
    if (!this.#isOpen) return;
    const line = createInterface({
      input: this.#keys,
      output: this.#keyboard.output,
      terminal: true,
      prompt,
      history: kind === "line" ? [...this.#history] : [],
      historySize: HISTORY_MAX,
      escapeCodeTimeout: ESCAPE_MS,
    });
    this.#readline = line;
    line.on("line", (text) => this.#enterLine(text, kind));
    line.on("SIGINT", () => this.#interrupt(line));
    line.on("SIGTSTP", () => this.#suspend());
    // Closed by us, it is not the current one any more.
    line.on("close", () => void (this.#readline === line && this.#end()));
    line.prompt();
    if (kind === "line") line.write(this.#typeahead.drain());
  }

  /** No line is asked for: keys are kept, and not shown. */
  hide(): void {
    if (this.#readline === null) return;
    this.#drop();
    this.#keyboard.output.write("\r\n");
  }

  #drop(): void {
    const line = this.#readline;
    this.#readline = null;
    line?.close();
  }

  close(): void {
    if (!this.#isOpen) return;
    this.#isOpen = false;
    this.hide();
    this.#keyboard.input.off("data", this.#onData).off("end", this.#onEnd);
    this.#keyboard.input.pause();
    this.#mode(false);
  }

  #receive(chunk: Uint8Array | string): void {
    const text = typeof chunk === "string" ? chunk : this.#decoder.write(Buffer.from(chunk));
    for (const piece of this.#pieces.split(text)) if (this.#isOpen) this.#pass(piece);
  }

  #pass(piece: KeyPiece): void {
    if (this.#readline === null) return this.#bufferKeys(piece);
    if ("pastedText" in piece) return this.#readline.write(piece.pastedText);
    // Letter by letter readline draws a long text over and over.
    const [run = ""] = /^\P{Cc}*/u.exec(piece.keys) ?? [];
    const many = run.length < RUN_MIN ? "" : run;
    if (many !== "") this.#readline.write(many);
    this.#keys.emit("data", piece.keys.slice(many.length));
  }

  #bufferKeys(piece: KeyPiece): void {
    for (const event of this.#typeahead.add(piece)) {
      if (event.type === "line") this.#enterLine(event.text, "line");
      else if (event.type === "interrupt") this.#listener.interrupt(this.#typeahead.drain() !== "");
      else if (event.type === "suspend") this.#suspend();
      else this.#end();
    }
  }

  #enterLine(text: string, kind: "line" | "answer"): void {
    if (kind === "line" && /(?:^|[^\\])\\$/.test(text)) {
      this.#unfinished += `${withBreaks(text.slice(0, -1))}\n`;
      this.#readline?.setPrompt("… ");
      this.#readline?.prompt();
      return;
    }
    this.#drop();
    const whole = kind === "line" ? this.#unfinished + withBreaks(text) : withBreaks(text);
    if (kind === "line") this.#unfinished = "";
    if (kind === "line" && whole.trim() !== "") this.remember([whole]);
    this.#listener.line(whole);
  }

  #interrupt(line: Interface): void {
    const hadText = line.line !== "" || this.#unfinished !== "";
    this.#unfinished = "";
    this.hide();
    this.#listener.interrupt(hadText);
  }

  #suspend(): void {
    this.#mode(false);
    process.once("SIGCONT", () => {
      if (!this.#isOpen) return;
      this.#mode(true);
      this.#readline?.prompt(true);
    });
    process.kill(process.pid, "SIGTSTP");
  }

  #end(): void {
    this.close();
    this.#listener.end();
  }

  #mode(isRaw: boolean): void {
    this.#keyboard.input.setRawMode(isRaw);
    this.#keyboard.output.write(isRaw ? PASTE_ON : PASTE_OFF);
  }
}

const [ESCAPE, ESCAPED] = ["\u001B", /^(?:\[[0-9;?]*[@-~]|O.|.)?/u];
const [INTERRUPT, END, SUSPEND, ERASE_WORD, ERASE_LINE] = ["\u0003", "\u0004", "\u001A", "\u0017", "\u0015"];
const ERASE: ReadonlySet<string> = new Set(["\u007F", "\b"]);

/** What the keys of a line that is not shown come to. */
type TypeaheadEvent =
  | { readonly type: "line"; readonly text: string }
  | { readonly type: "interrupt" | "end" | "suspend" };

/** A line that is typed while something else is printed: kept, and not shown until it is whole or asked for. */
export class TypeaheadBuffer {
  #text: string = "";

  /** What was typed so far; it is given out once. */
  drain(): string {
    const text = this.#text;
    this.#text = "";
    return text;
  }

  *add(piece: KeyPiece): Generator<TypeaheadEvent> {
    if ("pastedText" in piece) {
      this.#text += piece.pastedText;
      return;
    }
    for (const key of withoutEscapes(piece.keys)) {
      if (key === "\r") yield { type: "line", text: this.drain() };
      else if (key === INTERRUPT) yield { type: "interrupt" };
      else if (key === SUSPEND) yield { type: "suspend" };
      else if (key === END && this.#text === "") yield { type: "end" };
      else this.#text = applyKey(this.#text, key);
    }
  }
}

function applyKey(text: string, key: string): string {
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

/** What stands for a line break inside a line that is edited: readline knows lines only. */
const BREAK_SIGN = "\u2424";

const [PASTE_START, PASTE_END] = ["\u001B[200~", "\u001B[201~"];
const PASTE_ON = "\u001B[?2004h";
const PASTE_OFF = "\u001B[?2004l";

// Alt-Enter, as terminals send it, and Ctrl-J: a line break that sends nothing.
const BREAK_KEYS: readonly string[] = ["\u001B\r", "\u001B\n", "\n"];

/** What came from a keyboard: keys, of which only the last may end a line, or text that was pasted whole. */
export type KeyPiece = { readonly keys: string } | { readonly pastedText: string };

/** Parts what a terminal sends into keys and pasted text; a mark may come in two halves. */
export class KeyPieces {
  #rest: string = "";
  #pastedText: string | null = null;

  *split(chunk: string): Generator<KeyPiece> {
    let text = this.#rest + chunk;
    this.#rest = "";
    while (text !== "") {
      const mark = this.#pastedText === null ? PASTE_START : PASTE_END;
      const position = text.indexOf(mark);
      if (position === -1) {
        const half = halfMark(text, mark);
        this.#rest = text.slice(text.length - half);
        yield* this.#emit(text.slice(0, text.length - half));
        return;
      }
      yield* this.#emit(text.slice(0, position));
      if (this.#pastedText !== null) yield { pastedText: withSigns(this.#pastedText) };
      this.#pastedText = this.#pastedText === null ? "" : null;
      text = text.slice(position + mark.length);
    }
  }

  *#emit(text: string): Generator<KeyPiece> {
    if (text === "") return;
    if (this.#pastedText !== null) this.#pastedText += text;
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

function withSigns(text: string): string {
  return text.replaceAll(/\r\n?|\n/g, BREAK_SIGN);
}

function withBreaks(text: string): string {
  return text.replaceAll(BREAK_SIGN, "\n");
}
