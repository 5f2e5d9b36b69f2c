import { createInterface } from "node:readline";
import { Readable } from "node:stream";

/** The lines a person types, in order, whether or not someone waits for them. */
export class Inbox {
  readonly #lines: string[] = [];
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

  /** The next line; null when there is none and none will come. */
  async next(): Promise<string | null> {
    for (;;) {
      const line = this.#lines.shift();
      if (line !== undefined) return line;
      if (this.#over) return null;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
  }
}
