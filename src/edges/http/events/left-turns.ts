const LOOK_MS = 2_000;

/** Looks whenever nothing was heard for a while. */
export class LeftWatch implements Disposable {
  readonly #isLeft: () => Promise<boolean>;
  readonly #left = new AbortController();
  readonly #timer: NodeJS.Timeout;
  #heard = false;

  constructor(look: () => Promise<boolean>) {
    this.#isLeft = look;
    this.#timer = setInterval(() => void this.look(), LOOK_MS);
    this.#timer.unref();
  }

  /** Aborted once it is. */
  get left(): AbortSignal {
    return this.#left.signal;
  }

  heard(): void {
    this.#heard = true;
  }

  async look(): Promise<void> {
    const wasHeard = this.#heard;
    this.#heard = false;
    if (wasHeard) return;
    // What cannot be read now is looked at again.
    if (await this.#isLeft().catch(() => false)) this.#left.abort();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
