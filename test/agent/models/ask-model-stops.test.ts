import { expect, test } from "vitest";
import type { Clock } from "#conversation/clock";
import { ask, finish, model, type Part, streamed, text } from "../../support/streamed-model.ts";

test("a model that never stops is stopped, and what it said is kept", async () => {
  let pulled = 0;
  let cancelled = false;
  const endless = new ReadableStream<Part>({
    pull: (controller) => controller.enqueue({ type: "text-delta", id: "0", delta: `w${pulled++} ` }),
    cancel: () => void (cancelled = true),
  });
  const asked = await ask(
    model(() => Promise.resolve({ stream: endless })),
    { answerChars: 1_000 },
  );
  expect([asked.ending?.class, cancelled]).toEqual(["failed", true]);
  expect(asked.answer === null && JSON.stringify(asked.partial).length).toBeGreaterThan(800);
  expect(pulled).toBeLessThan(1_000);
});

test("a cancelled call keeps what came, also of a model that does not listen", async () => {
  const controller = new AbortController();
  const deaf = new ReadableStream<Part>({
    start: (out) => text("half").forEach((part) => out.enqueue(part)),
  });
  const asked = await ask(
    model(() => Promise.resolve({ stream: deaf })),
    {
      signal: controller.signal,
      onEvent: () => controller.abort(new Error("enough")),
    },
  );
  expect(asked.ending?.class).toBe("cancelled");
  expect(asked.answer === null && asked.partial).toEqual([{ type: "text", text: "half" }]);
  let called = 0;
  const counting = model(() => {
    called++;
    return new Promise(() => undefined);
  });
  const before = await ask(counting, { signal: AbortSignal.abort(), silenceMs: Number.POSITIVE_INFINITY });
  expect(called).toBe(0);
  expect(before.ending?.class).toBe("cancelled");
});

/** A clock that stands still until it is set forward; its date goes back by as much, which no duration may notice. */
class SteppedClock implements Clock {
  #now = 0;
  #wake: (() => void)[] = [];
  nowMs(): number {
    return -this.#now;
  }
  steadyMs(): number {
    return this.#now;
  }
  sleep(_: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake.push(resolve);
    signal.addEventListener("abort", () => resolve(), { once: true });
    return promise;
  }
  forward(ms: number): void {
    this.#now += ms;
    for (const wake of this.#wake.splice(0)) wake();
  }
}

test("silence has a limit, before the first part and between parts, and every part counts anew", async () => {
  const clock = new SteppedClock();
  const never = ask(
    model(() => new Promise(() => undefined)),
    { clock, silenceMs: 100 },
  );
  clock.forward(99);
  clock.forward(1);
  expect((await never).ending?.class).toBe("overloaded");
  const parts: Part[] = [...text("a"), ...text("b", "1")];
  let at = 0;
  const slow = new ReadableStream<Part>({
    pull: async (out) => {
      clock.forward(60);
      await Promise.resolve();
      const part = parts[at++];
      if (part !== undefined) out.enqueue(part);
      else clock.forward(100);
    },
  });
  const asked = await ask(
    model(() => Promise.resolve({ stream: slow })),
    { clock, silenceMs: 100 },
  );
  expect(asked.answer === null && asked.partial.length).toBe(2);
  expect(asked.ending?.class).toBe("overloaded");
});

test("what the listener throws is thrown, and the stream is closed", async () => {
  const boom = new Error("boom");
  await expect(
    ask(streamed([...text("a"), finish("stop")]), { onEvent: () => Promise.reject(boom) }),
  ).rejects.toBe(boom);
});
