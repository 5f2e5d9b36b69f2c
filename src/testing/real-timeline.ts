import { systemClock } from "#conversation/clock";
import { Timeline } from "./timeline.ts";

/** Time as it passes outside, for agents that people watch; sleeps are so many times as short. */
export class RealTimeline extends Timeline {
  readonly #speed: number;

  constructor(speed: number = 1) {
    super(systemClock.nowMs());
    this.#speed = speed;
  }

  override nowMs(): number {
    return systemClock.nowMs();
  }

  override steadyMs(): number {
    return systemClock.steadyMs();
  }

  override sleep(ms: number, signal?: AbortSignal): Promise<void> {
    const over = signal ?? new AbortController().signal;
    if (Number.isFinite(ms)) return systemClock.sleep(Math.max(0, ms) / this.#speed, over);
    const { promise, resolve } = Promise.withResolvers<void>();
    if (over.aborted) resolve();
    over.addEventListener("abort", () => resolve(), { once: true });
    return promise;
  }

  /** It goes on whatever is under way. */
  override freeze<T>(work: Promise<T>): Promise<T> {
    return work;
  }

  override pass(ms: number): Promise<void> {
    return this.sleep(ms);
  }
}
