import { expect, test } from "vitest";
import { realSleep } from "#conversation/clock";

test("a wait without an end, or longer than a timer can be, is over when it is stopped and not at once", async () => {
  for (const ms of [Number.POSITIVE_INFINITY, 2 ** 40]) {
    const stop = new AbortController();
    let isOver = false;
    const waiting = realSleep(ms, stop.signal).then(() => (isOver = true));
    // A timer that overflows is set to a millisecond: it would be over before this one.
    await realSleep(2, new AbortController().signal);
    expect(isOver).toBe(false);
    stop.abort();
    await waiting;
  }
});
