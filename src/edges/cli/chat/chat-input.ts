import type { Io } from "#edges/cli/command";
import { type Keyboard, LineEditor } from "#edges/cli/terminal/line-editor";
import { createInterface } from "node:readline";
import { Readable } from "node:stream";

interface TypedLine {
  readonly text: string;
  /** Nobody has seen it where it takes its effect: it was typed ahead, or comes from a pipe. */
  readonly isUnseen: boolean;
}

/** What came of a question: an answer, nothing (it stays open), or words that are none, where nobody can be asked again. */
type Answered = { readonly text: string } | "left" | "nobody";

/** Where a chat's lines come from. */
export interface ChatInput {
  /** Asks for the next line; null when there are no more. */
  next(): Promise<TypedLine | null>;
  /** Asks for an answer to what was printed. */
  answer(prompt: string, isAnswer: (text: string) => boolean, signal: AbortSignal): Promise<Answered>;
  /** Lines of before, oldest first. */
  remember(lines: readonly string[]): void;
  /** Nothing more is asked for; says which lines nobody got. */
  close(): readonly string[];
}

interface InputListener {
  /** Takes a line that does not wait its turn. */
  first(line: string): boolean;
  /** A line was typed while none was asked for; it waits. */
  queueLine(line: string): void;
  /** A line that waited is not sent after all; it is had again as an earlier line. */
  unsent(line: string): void;
  /** Ctrl-C at the keyboard; true when the chat goes on and a line is to be asked for again. `had`: a line was half typed, and is gone. */
  interrupt(hadText: boolean): boolean;
}

export function chatInput(io: Io, listener: InputListener): ChatInput {
  return io.keyboard === undefined
    ? new StreamInput(io, listener)
    : new KeyboardInput(io, io.keyboard, listener);
}

/** Lines that a person edits at a terminal. */
class KeyboardInput implements ChatInput {
  readonly #io: Io;
  readonly #editor: LineEditor;
  readonly #typed = new TypedLines();
  readonly #listener: InputListener;
  #asks: "line" | "answer" | null = null;
  #answer: (text: string | null) => void = () => undefined;

  constructor(io: Io, keyboard: Keyboard, listener: InputListener) {
    this.#io = io;
    this.#listener = listener;
    this.#editor = new LineEditor(keyboard, {
      line: (text) => this.#enterLine(text),
      interrupt: (hadText) => this.#onInterrupt(hadText),
      end: () => this.#onEnd(),
    });
  }

  async next(): Promise<TypedLine | null> {
    await this.#io.out.write(""); // fails when nobody reads any more
    const isUnseen = !this.#typed.isEmpty;
    if (!isUnseen && !this.#typed.isOver) this.#showLine();
    const text = await this.#typed.next();
    this.#asks = null;
    return text === null ? null : { text, isUnseen };
  }

  async answer(prompt: string, _: (text: string) => boolean, signal: AbortSignal): Promise<Answered> {
    if (this.#typed.isOver || signal.aborted) return "left";
    const { promise, resolve } = Promise.withResolvers<string | null>();
    this.#answer = resolve;
    this.#asks = "answer";
    const onStop = (): void => resolve(null);
    signal.addEventListener("abort", onStop, { once: true });
    this.#editor.show(prompt, "answer");
    const text = await promise;
    signal.removeEventListener("abort", onStop);
    this.#asks = null;
    this.#editor.hide();
    return text === null ? "left" : { text };
  }

  remember(lines: readonly string[]): void {
    this.#editor.remember(lines);
  }

  close(): readonly string[] {
    this.#editor.close();
    this.#answer(null);
    return this.#typed.drop();
  }

  #showLine(): void {
    this.#asks = "line";
    this.#editor.show(this.#io.out.style.cyan("> "));
  }

  #enterLine(text: string): void {
    if (this.#listener.first(text)) return;
    if (this.#asks === "answer") return this.#answer(text);
    if (this.#asks === null && text.trim() === "") return;
    if (this.#asks === null) this.#listener.queueLine(text);
    this.#asks = null;
    this.#typed.add(text);
  }

  #onInterrupt(hadText: boolean): void {
    // Whoever stops what runs would not see what was typed ahead go out in its place.
    if (this.#asks !== "line") for (const line of this.#typed.clear()) this.#listener.unsent(line);
    if (this.#listener.interrupt(hadText) && this.#asks === "line") this.#showLine();
  }

  #onEnd(): void {
    this.#typed.close();
    this.#answer(null);
  }
}

/** Lines from a pipe, or from a terminal that edits them itself. */
class StreamInput implements ChatInput {
  readonly #io: Io;
  readonly #typed = new TypedLines();

  constructor(io: Io, listener: InputListener) {
    this.#io = io;
    this.#read(listener).catch(() => this.#typed.close());
  }

  async #read(listener: InputListener): Promise<void> {
    for await (const line of createInterface({ input: Readable.from(this.#io.stdin), crlfDelay: Infinity })) {
      if (this.#typed.isOver) break;
      if (!listener.first(line)) this.#typed.add(line);
    }
    this.#typed.close();
  }

  async next(): Promise<TypedLine | null> {
    const { out, stdinIsTerminal } = this.#io;
    // Fails when nobody reads any more.
    await out.write(stdinIsTerminal ? out.style.cyan("> ") : "");
    const text = await this.#typed.next();
    return text === null ? null : { text, isUnseen: !stdinIsTerminal };
  }

  async answer(prompt: string, isAnswer: (text: string) => boolean, signal: AbortSignal): Promise<Answered> {
    const { out, stdinIsTerminal } = this.#io;
    if (stdinIsTerminal) {
      await out.write(prompt);
      const text = await this.#typed.answer(signal);
      if (text === null) await out.write("\n");
      return text === null ? "left" : { text };
    }
    // In a pipe a line that is no answer is the next message, and nobody is there to be asked again.
    const line = await this.#typed.peek(signal);
    if (line === null) return "left";
    if (!isAnswer(line)) return "nobody";
    await this.#typed.next();
    return { text: line };
  }

  remember(): void {
    // A pipe has no arrow keys.
  }

  close(): readonly string[] {
    return this.#typed.drop();
  }
}

/** The lines a person types, in order, whether or not someone waits for them. */
class TypedLines {
  #lines: string[] = [];
  #isOver: boolean = false;
  #wake: () => void = () => undefined;

  add(line: string): void {
    if (this.#isOver) return;
    this.#lines.push(line);
    this.#wake();
  }

  get isEmpty(): boolean {
    return this.#lines.length === 0;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Nothing more is taken; what is there already is still given out. */
  close(): void {
    this.#isOver = true;
    this.#wake();
  }

  /** What is there is not given out; says what it was. */
  clear(): readonly string[] {
    const pendingLines = this.#lines;
    this.#lines = [];
    return pendingLines;
  }

  /** Nothing more is taken or given out; says what nobody got. */
  drop(): readonly string[] {
    const pendingLines = this.clear();
    this.close();
    return pendingLines;
  }

  /** The next line, which stays; null when there is none and none will come, or nobody wants it any more. */
  async peek(signal?: AbortSignal): Promise<string | null> {
    const isStopped = (): boolean => signal?.aborted === true;
    while (this.#lines.length === 0 && !this.#isOver && !isStopped()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      signal?.addEventListener("abort", () => resolve(), { once: true });
      await promise;
    }
    return isStopped() ? null : (this.#lines[0] ?? null);
  }

  /** The same, taken away. */
  async next(signal?: AbortSignal): Promise<string | null> {
    const line = await this.peek(signal);
    if (line !== null) this.#lines.shift();
    return line;
  }

  /** The next line that is typed from now on: what was typed ahead was not meant as an answer, and waits. */
  async answer(signal: AbortSignal): Promise<string | null> {
    const queuedLines = this.#lines;
    this.#lines = [];
    const line = await this.next(signal);
    this.#lines = [...queuedLines, ...this.#lines];
    return line;
  }
}
