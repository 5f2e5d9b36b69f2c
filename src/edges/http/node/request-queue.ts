const PER_TURN = 8;

/**
 * Starts a few requests in each turn of the event loop, in the order in which they came. libuv accepts one connection in a
 * turn: without a bound, a new client waits as many long turns as there are clients that connect with it.
 */
export class RequestQueue {
  readonly #waiting: (() => void)[] = [];
  #room = PER_TURN;
  #isScheduled = false;

  /** Resolves when the request may start; undefined: now. */
  turn(): Promise<void> | undefined {
    this.#schedule();
    // Where requests wait, there is no room.
    if (this.#room > 0) {
      this.#room--;
      return undefined;
    }
    return new Promise((resolve) => void this.#waiting.push(resolve));
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    setImmediate(() => this.#next());
  }

  #next(): void {
    this.#isScheduled = false;
    const starting = this.#waiting.splice(0, PER_TURN);
    this.#room = PER_TURN - starting.length;
    for (const start of starting) start();
    if (starting.length > 0) this.#schedule();
  }
}
