import { createInterface } from "node:readline";
import { Readable } from "node:stream";

/** The lines a person types, in order, whether or not someone waits for them. */
export class TypedLines {
  #lines: string[] = [];
  #over: boolean = false;
  #wake: () => void = () => undefined;

  /** Reads to the end of the input. `first` may take a line at once instead of letting it wait its turn. */
  async read(input: AsyncIterable<Uint8Array>, first: (line: string) => boolean): Promise<void> {
    for await (const line of createInterface({ input: Readable.from(input), crlfDelay: Infinity })) {
      if (this.#over) break;
      if (first(line)) continue;
      this.#lines.push(line);
      this.#wake();
    }
    this.close();
  }

  /** Nothing more is taken; what is there already is still given out. */
  close(): void {
    this.#over = true;
    this.#wake();
  }

  /** The next line; null when there is none and none will come, or nobody wants it any more. */
  async next(signal?: AbortSignal): Promise<string | null> {
    const stopped = (): boolean => signal?.aborted === true;
    while (this.#lines.length === 0 && !this.#over && !stopped()) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      signal?.addEventListener("abort", () => resolve(), { once: true });
      await promise;
    }
    return stopped() ? null : (this.#lines.shift() ?? null);
  }

  /** The next line that is typed from now on: what was typed ahead was not meant as an answer, and waits. */
  async answer(signal: AbortSignal): Promise<string | null> {
    const ahead = this.#lines;
    this.#lines = [];
    const line = await this.next(signal);
    this.#lines = [...ahead, ...this.#lines];
    return line;
  }
}
