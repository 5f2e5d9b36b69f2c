/** When an agent or a model counts as silent, with a limit that depends on what it does. */
import { expect, test } from "vitest";
import type { Clock } from "#conversation/clock";
import { SilenceWatch } from "#turn/silence-watch";

/** A clock that is set forward, and says how long whoever sleeps wants to. */
class SetClock implements Clock {
  #now = 0;
  #sleepers: { readonly untilMs: number; readonly wake: () => void }[] = [];
  nowMs(): number {
    return this.#now;
  }
  steadyMs(): number {
    return this.#now;
  }
  sleep(ms: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#sleepers.push({ untilMs: this.#now + ms, wake: resolve });
    signal.addEventListener("abort", () => resolve(), { once: true });
    return promise;
  }
  /** Time passes, and whoever wakes meanwhile does at its moment. */
  async passTo(ms: number): Promise<void> {
    for (;;) {
      await new Promise(setImmediate);
      const next = this.#sleepers.toSorted((one, other) => one.untilMs - other.untilMs)[0];
      if (next === undefined || next.untilMs > ms) break;
      this.#sleepers = this.#sleepers.filter((one) => one !== next);
      this.#now = Math.max(this.#now, next.untilMs);
      next.wake();
    }
    this.#now = ms;
  }
}

test("a silence after a tool has ended is noticed after the short limit, whatever the tool was allowed", async () => {
  const clock = new SetClock();
  const silences: number[] = [];
  let limitMs = 10;
  using watch = new SilenceWatch({
    clock,
    limitMs: () => limitMs,
    onSilence: (ms) => (silences.push(ms), "over"),
  });
  limitMs = 1_000;
  watch.restart();
  await clock.passTo(515);
  limitMs = 10;
  watch.restart();
  await clock.passTo(524);
  expect(silences).toEqual([]);
  await clock.passTo(525);
  expect(silences).toEqual([10]);
});

test("who goes on in silence is reported once each limit, and anew after it was heard", async () => {
  const clock = new SetClock();
  const silences: number[] = [];
  using watch = new SilenceWatch({
    clock,
    limitMs: () => 10,
    onSilence: (ms) => (silences.push(ms), "again"),
  });
  await clock.passTo(25);
  watch.restart();
  await clock.passTo(36);
  expect(silences).toEqual([10, 20, 10]);
});
