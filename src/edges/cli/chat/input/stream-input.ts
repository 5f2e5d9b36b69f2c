import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { Io } from "#edges/cli/command";
import type { Answered, ChatInput, InputListener, TypedLine } from "./chat-input.ts";
import { TypedLines } from "./typed-lines.ts";

/** Lines from a pipe, or from a terminal that edits them itself. */
export class StreamInput implements ChatInput {
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
