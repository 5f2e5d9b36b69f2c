import type { Clock } from "#conversation/clock";

/** Time that moves when it is told to; its date goes back with every step, which no duration may notice. */
export class PoolClock implements Clock {
  #steadyMs: number = 1_000_000;
  readonly #sleepers = new Set<{ readonly untilMs: number; readonly wake: () => void }>();

  nowMs(): number {
    return 2_000_000 - this.#steadyMs;
  }

  steadyMs(): number {
    return this.#steadyMs;
  }

  sleep(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const sleeper = { untilMs: this.#steadyMs + ms, wake: resolve };
    this.#sleepers.add(sleeper);
    signal.addEventListener("abort", () => resolve(), { once: true });
    return promise.finally(() => this.#sleepers.delete(sleeper));
  }

  async advance(ms: number): Promise<void> {
    this.#steadyMs += ms;
    for (const { untilMs, wake } of this.#sleepers) if (untilMs <= this.#steadyMs) wake();
    await settled();
  }
}

/** Everything that only waits for others here has been done. */
export async function settled(): Promise<void> {
  await new Promise((resolve) => setImmediate(resolve));
}
