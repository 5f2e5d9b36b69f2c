import type { Io } from "#edges/cli/command";
import { type Keyboard, LineEditor } from "#edges/cli/terminal/line-editor";
import type { Answered, ChatInput, InputListener, TypedLine } from "./chat-input.ts";
import { TypedLines } from "./typed-lines.ts";

/** Lines that a person edits at a terminal. */
export class KeyboardInput implements ChatInput {
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
      line: (text) => this.#entered(text),
      interrupt: (had) => this.#interrupted(had),
      end: () => this.#ended(),
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

  #entered(text: string): void {
    if (this.#listener.first(text)) return;
    if (this.#asks === "answer") return this.#answer(text);
    if (this.#asks === null && text.trim() === "") return;
    if (this.#asks === null) this.#listener.ahead(text);
    this.#asks = null;
    this.#typed.add(text);
  }

  #interrupted(had: boolean): void {
    // Whoever stops what runs would not see what was typed ahead go out in its place.
    if (this.#asks !== "line") for (const line of this.#typed.clear()) this.#listener.unsent(line);
    if (this.#listener.interrupt(had) && this.#asks === "line") this.#showLine();
  }

  #ended(): void {
    this.#typed.close();
    this.#answer(null);
  }
}
