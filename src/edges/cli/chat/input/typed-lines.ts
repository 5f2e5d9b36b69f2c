/** The lines a person types, in order, whether or not someone waits for them. */
export class TypedLines {
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
    const left = this.#lines;
    this.#lines = [];
    return left;
  }

  /** Nothing more is taken or given out; says what nobody got. */
  drop(): readonly string[] {
    const left = this.clear();
    this.close();
    return left;
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
    const ahead = this.#lines;
    this.#lines = [];
    const line = await this.next(signal);
    this.#lines = [...ahead, ...this.#lines];
    return line;
  }
}
