import type { Clock } from "#conversation/clock";
import { SilenceWatch } from "#turn/silence-watch";

/** After so long an agent that has not stopped is told again: while its turn had not begun it may have dropped it. */
const AGAIN_MS = [1_000, 2_000];
/** The same when it speaks after it was told, since its turn has begun by then; a few times, as it may be only late. */
const AGAIN_MAX = 3;
const ECHO_MS = 10; // what comes sooner was on its way already

interface WatchInput {
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
  readonly #input: WatchInput;
  readonly #actions: { cancel(): Promise<void>; readonly tell: (silentMs: number) => void };
  readonly #over = new AbortController();
  readonly #silence: SilenceWatch;
  #inTool: boolean = false;
  #wake: ((verdict: "given_up") => void) | null = null;
  #gaveUp: boolean = false;
  #silent: boolean = false;
  /** When the agent was last told to stop, and how often because it spoke; null before the first time. */
  #stopRequest: { readonly atMs: number; readonly again: number } | null = null;

  constructor(
    input: WatchInput,
    actions: { cancel(): Promise<void>; readonly tell: (silentMs: number) => void },
  ) {
    this.#input = input;
    this.#actions = actions;
    const { clock, silenceMs, toolSilenceMs, cancelled } = input;
    this.#silence = new SilenceWatch({
      clock,
      limitMs: () => (this.#inTool ? toolSilenceMs : silenceMs),
      onSilence: (silentMs) => this.#onSilence(silentMs),
    });
    if (cancelled.aborted) void this.#stop();
    else
      cancelled.addEventListener("abort", () => void this.#stop(), { once: true, signal: this.#over.signal });
  }

  /** The agent was asked to stop because it had gone silent. */
  get silent(): boolean {
    return this.#silent;
  }

  /** Something came from the agent, perhaps a sign of its work; a tool that runs may be silent for longer. */
  restart(inTool: boolean, works: boolean): void {
    this.#inTool = inTool;
    this.#silence.restart();
    if (!works || this.#stopRequest === null || this.#stopRequest.again >= AGAIN_MAX) return;
    if (this.#input.clock.steadyMs() - this.#stopRequest.atMs >= ECHO_MS)
      this.#tellToStop(this.#stopRequest.again + 1);
  }

  #tellToStop(again: number): void {
    this.#stopRequest = { atMs: this.#input.clock.steadyMs(), again };
    this.#actions.cancel().catch(() => undefined);
  }

  /** What comes next from the agent, or that nothing will. */
  next<T>(work: Promise<T>): Promise<T | "given_up"> {
    if (this.#gaveUp) return Promise.resolve("given_up");
    const { promise, resolve, reject } = Promise.withResolvers<T | "given_up">();
    this.#wake = resolve;
    work.then(resolve, reject);
    return promise;
  }

  #onSilence(silentMs: number): "over" | "again" {
    if (this.#input.onSilence === "tell") {
      this.#actions.tell(silentMs);
      return "again";
    }
    this.#silent = true;
    void this.#stop();
    return "over";
  }

  async #stop(): Promise<void> {
    const { clock, cancelMs } = this.#input;
    this.#silence[Symbol.dispose]();
    let remainingMs = cancelMs;
    for (const pauseMs of [...AGAIN_MS, cancelMs]) {
      this.#tellToStop(this.#stopRequest?.again ?? 0);
      const ms = Math.min(pauseMs, remainingMs);
      remainingMs -= ms;
      await clock.sleep(ms, this.#over.signal);
      if (this.#over.signal.aborted) return;
      if (remainingMs <= 0) break;
    }
    this.giveUp();
  }

  /** Nobody waits for the agent any longer. */
  giveUp(): void {
    this.#gaveUp = true;
    this.#wake?.("given_up");
  }

  [Symbol.dispose](): void {
    this.#over.abort("over");
    this.#silence[Symbol.dispose]();
  }
}
