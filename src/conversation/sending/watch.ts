import type { Clock } from "./host.ts";

interface Watching {
  readonly clock: Clock;
  readonly cancelled: AbortSignal;
  readonly cancelMs: number;
  readonly silenceMs: number;
  readonly toolSilenceMs: number;
  readonly onSilence: "stop" | "tell";
}

/**
 * Watches over one prompt: asks the agent to stop when a person cancels or it has been silent for too long, and gives
 * up on it when it does not.
 */
export class Watch implements Disposable {
  readonly #watching: Watching;
  readonly #hands: { cancel(): Promise<void>; readonly tell: (silentMs: number) => void };
  readonly #over = new AbortController();
  #heardMs: number;
  #inTool: boolean = false;
  #wake: ((verdict: "given_up") => void) | null = null;
  #givenUp: boolean = false;
  #silent: boolean = false;

  constructor(
    watching: Watching,
    hands: { cancel(): Promise<void>; readonly tell: (silentMs: number) => void },
  ) {
    this.#watching = watching;
    this.#hands = hands;
    this.#heardMs = watching.clock.nowMs();
    const { cancelled } = watching;
    if (cancelled.aborted) void this.#stop();
    else
      cancelled.addEventListener("abort", () => void this.#stop(), { once: true, signal: this.#over.signal });
    void this.#listen();
  }

  /** The agent was asked to stop because it had gone silent. */
  get silent(): boolean {
    return this.#silent;
  }

  /** Something came from the agent; a tool that runs may be silent for longer. */
  heard(inTool: boolean): void {
    this.#heardMs = this.#watching.clock.nowMs();
    this.#inTool = inTool;
  }

  /** What comes next from the agent, or that nothing will. */
  next<T>(work: Promise<T>): Promise<T | "given_up"> {
    if (this.#givenUp) return Promise.resolve("given_up");
    const { promise, resolve, reject } = Promise.withResolvers<T | "given_up">();
    this.#wake = resolve;
    work.then(resolve, reject);
    return promise;
  }

  async #listen(): Promise<void> {
    const { clock, silenceMs, toolSilenceMs, cancelled, onSilence } = this.#watching;
    for (let told = 0; ;) {
      const sinceMs = clock.nowMs() - this.#heardMs;
      const patienceMs = this.#inTool ? toolSilenceMs : silenceMs;
      const leftMs = patienceMs - (sinceMs - told);
      if (sinceMs < told) told = 0;
      else if (leftMs <= 0 && onSilence === "stop") break;
      else if (leftMs <= 0) {
        told = sinceMs;
        this.#hands.tell(sinceMs);
      } else await clock.sleep(leftMs, this.#over.signal);
      if (this.#over.signal.aborted || cancelled.aborted) return;
    }
    this.#silent = true;
    await this.#stop();
  }

  async #stop(): Promise<void> {
    this.#hands.cancel().catch(() => undefined);
    await this.#watching.clock.sleep(this.#watching.cancelMs, this.#over.signal);
    if (!this.#over.signal.aborted) this.giveUp();
  }

  /** Nobody waits for the agent any longer. */
  giveUp(): void {
    this.#givenUp = true;
    this.#wake?.("given_up");
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }
}
