import type { Clock } from "#conversation/clock";

interface SilenceInput {
  readonly clock: Clock;
  /** How long nothing may come: for what runs now. */
  readonly limitMs: () => number;
  /** `again`: what is silent goes on, and the next silence begins now. */
  readonly onSilence: (silentMs: number) => "over" | "again";
}

/** Says when nothing has come for too long from an agent or a model that is at work. */
export class SilenceWatch implements Disposable {
  readonly #input: SilenceInput;
  readonly #over = new AbortController();
  #heardMs: number;

  constructor(input: SilenceInput) {
    this.#input = input;
    this.#heardMs = input.clock.steadyMs();
    void this.#watch();
  }

  restart(): void {
    this.#heardMs = this.#input.clock.steadyMs();
  }

  async #watch(): Promise<void> {
    const { clock, limitMs, onSilence } = this.#input;
    const shortMs = limitMs();
    for (let reportedMs = 0; !this.#over.signal.aborted;) {
      const silentMs = clock.steadyMs() - this.#heardMs;
      const remainingMs = limitMs() - (silentMs - reportedMs);
      if (silentMs < reportedMs) reportedMs = 0;
      // The limit may be shorter by the end of a long sleep.
      else if (remainingMs > 0) await clock.sleep(Math.min(remainingMs, shortMs), this.#over.signal);
      else if (onSilence(silentMs) === "over") return;
      else reportedMs = silentMs;
    }
  }

  [Symbol.dispose](): void {
    this.#over.abort("over");
  }
}
