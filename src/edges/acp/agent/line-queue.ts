/** What was said and not yet read, in order; read by one reader, until it is closed and empty. */
export class LineQueue<T> implements AsyncIterable<T> {
  #waiting: T[] = [];
  #closed: boolean = false;
  #wake: (() => void) | null = null;

  push(item: T): void {
    this.#waiting.push(item);
    this.#wake?.();
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  /** Takes out what nobody has read. */
  drain(): readonly T[] {
    const left = this.#waiting;
    this.#waiting = [];
    return left;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const batch = this.#waiting;
      this.#waiting = [];
      let read = 0;
      try {
        for (const item of batch) {
          read++;
          yield item;
        }
      } finally {
        // A reader that stops leaves what it did not take.
        if (read < batch.length) this.#waiting = [...batch.slice(read), ...this.#waiting];
      }
      if (this.#waiting.length > 0) continue;
      if (this.#closed) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = null;
    }
  }
}
