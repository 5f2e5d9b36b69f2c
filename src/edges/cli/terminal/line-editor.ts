import { createInterface, type Interface } from "node:readline";
import { PassThrough } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import { BlindLine } from "./blind-line.ts";
import { type KeyPiece, KeyPieces, PASTE_OFF, PASTE_ON, withBreaks, withSigns } from "./key-pieces.ts";

/** A terminal that lines are edited at. */
export interface Keyboard {
  readonly input: NodeJS.ReadableStream & { setRawMode(isRaw: boolean): unknown };
  readonly output: NodeJS.WritableStream;
}

export interface EditorListener {
  line(text: string): void;
  /** Ctrl-C. `had`: something was typed, which is gone now. */
  interrupt(had: boolean): void;
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
  readonly #blind = new BlindLine();
  readonly #decoder = new StringDecoder("utf8");
  /** What readline takes for its input: told at once, so that pasted text stays in its place. */
  readonly #keys = new PassThrough();
  readonly #history: string[] = [];
  readonly #onData = (chunk: Uint8Array | string): void => this.#heard(chunk);
  readonly #onEnd = (): void => this.#end();
  #edited: Interface | null = null;
  #isOpen: boolean = true;
  /** Lines that ended in a backslash. */
  #begun: string = "";

  constructor(keyboard: Keyboard, listener: EditorListener) {
    this.#keyboard = keyboard;
    this.#listener = listener;
    this.#mode(true);
    keyboard.input.on("data", this.#onData).once("end", this.#onEnd);
  }

  /** Lines of before, oldest first, to be had again with the arrow keys. */
  remember(lines: readonly string[]): void {
    for (const line of lines) {
      const known = this.#history.indexOf(withSigns(line));
      if (known !== -1) this.#history.splice(known, 1);
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
    this.#edited = line;
    line.on("line", (text) => this.#entered(text, kind));
    line.on("SIGINT", () => this.#interrupted(line));
    line.on("SIGTSTP", () => this.#suspend());
    // Closed by us, it is not the current one any more.
    line.on("close", () => void (this.#edited === line && this.#end()));
    line.prompt();
    if (kind === "line") line.write(this.#blind.giveOut());
  }

  /** No line is asked for: keys are kept, and not shown. */
  hide(): void {
    if (this.#edited === null) return;
    this.#drop();
    this.#keyboard.output.write("\r\n");
  }

  #drop(): void {
    const line = this.#edited;
    this.#edited = null;
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

  #heard(chunk: Uint8Array | string): void {
    const text = typeof chunk === "string" ? chunk : this.#decoder.write(Buffer.from(chunk));
    for (const piece of this.#pieces.split(text)) if (this.#isOpen) this.#pass(piece);
  }

  #pass(piece: KeyPiece): void {
    if (this.#edited === null) return this.#typedAhead(piece);
    if ("pasted" in piece) return this.#edited.write(piece.pasted);
    // Letter by letter readline draws a long text over and over.
    const [run = ""] = /^\P{Cc}*/u.exec(piece.keys) ?? [];
    const many = run.length < RUN_MIN ? "" : run;
    if (many !== "") this.#edited.write(many);
    this.#keys.emit("data", piece.keys.slice(many.length));
  }

  #typedAhead(piece: KeyPiece): void {
    for (const event of this.#blind.add(piece)) {
      if (event.type === "line") this.#entered(event.text, "line");
      else if (event.type === "interrupt") this.#listener.interrupt(this.#blind.giveOut() !== "");
      else if (event.type === "suspend") this.#suspend();
      else this.#end();
    }
  }

  #entered(text: string, kind: "line" | "answer"): void {
    if (kind === "line" && /(?:^|[^\\])\\$/.test(text)) {
      this.#begun += `${withBreaks(text.slice(0, -1))}\n`;
      this.#edited?.setPrompt("… ");
      this.#edited?.prompt();
      return;
    }
    this.#drop();
    const whole = kind === "line" ? this.#begun + withBreaks(text) : withBreaks(text);
    if (kind === "line") this.#begun = "";
    if (kind === "line" && whole.trim() !== "") this.remember([whole]);
    this.#listener.line(whole);
  }

  #interrupted(line: Interface): void {
    const had = line.line !== "" || this.#begun !== "";
    this.#begun = "";
    this.hide();
    this.#listener.interrupt(had);
  }

  #suspend(): void {
    this.#mode(false);
    process.once("SIGCONT", () => {
      if (!this.#isOpen) return;
      this.#mode(true);
      this.#edited?.prompt(true);
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
