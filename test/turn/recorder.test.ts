/** What a killed host may cost of words that were shown: those of a quarter of a second, and less than 4 KB of them. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import { Recorder } from "#turn/recorder";
import { inMemoryStore } from "#stores/in-memory/index";

const LOST_MS_MAX = 250;
const LOST_CHARS_MAX = 4_096;
const SOON_MS = 150; // with the write that follows, less than what may be lost

/** Time that passes only when it is told to. */
class StoppedClock {
  #nowMs: number = 0;
  #sleeps: { readonly untilMs: number; wake(): void }[] = [];
  readonly slept: number[] = [];

  nowMs(): number {
    return this.#nowMs;
  }

  steadyMs(): number {
    return this.#nowMs;
  }

  sleep(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.slept.push(ms);
    this.#sleeps.push({ untilMs: this.#nowMs + ms, wake: resolve });
    return promise;
  }

  async pass(ms: number): Promise<void> {
    for (const untilMs = this.#nowMs + ms; this.#nowMs < untilMs;) {
      const next = Math.min(untilMs, ...this.#sleeps.map((sleep) => sleep.untilMs));
      this.#nowMs = next;
      const due = this.#sleeps.filter((sleep) => sleep.untilMs <= next);
      this.#sleeps = this.#sleeps.filter((sleep) => sleep.untilMs > next);
      for (const sleep of due) sleep.wake();
      await written();
    }
  }
}

/** Lets what was begun come to its end: the store is in memory. */
function written(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

async function recorded(conversation: Conversation): Promise<string> {
  const updates = await conversation.facts(["update"]);
  const events = updates.flatMap((entry) =>
    entry.type === "update" ? (entry.data as { events: { text: string }[] }).events : [],
  );
  return events.map(({ text }) => text).join("");
}

const words = fc.array(
  fc.record({ chars: fc.integer({ min: 1, max: 3_000 }), pauseMs: fc.integer({ min: 0, max: 200 }) }),
  { maxLength: 30 },
);

test("whenever a host is killed, less than 4 KB of what it showed is lost, and none that is older than a quarter of a second", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  await fc.assert(
    fc.asyncProperty(words, async (said) => {
      const conversation = await holdfast.create();
      await using owner = await conversation.own({ writer: "test", leaseMs: 60_000 });
      const clock = new StoppedClock();
      const recorder = new Recorder(owner, "t", clock);
      const shown: { readonly text: string; readonly atMs: number }[] = [];
      for (const [at, { chars, pauseMs }] of said.entries()) {
        await clock.pass(pauseMs);
        const text = String.fromCodePoint(97 + (at % 26)).repeat(chars);
        shown.push({ text, atMs: clock.nowMs() });
        recorder.add({ type: "text", text });
        await written();
        const kept = await recorded(conversation);
        const whole = shown.map((word) => word.text).join("");
        expect(whole.startsWith(kept)).toBe(true);
        expect(whole.length - kept.length).toBeLessThan(LOST_CHARS_MAX);
        const old = shown.filter(({ atMs }) => clock.nowMs() - atMs > LOST_MS_MAX);
        expect(kept.length).toBeGreaterThanOrEqual(old.map((word) => word.text).join("").length);
      }
      await recorder.settled();
      expect(await recorded(conversation)).toBe(shown.map((word) => word.text).join(""));
    }),
    { numRuns: 40 },
  );
});

test("words that were shown are on their way to the log soon, however few they are and whatever comes after", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const conversation = await holdfast.create();
  await using owner = await conversation.own({ writer: "test", leaseMs: 60_000 });
  const clock = new StoppedClock();
  const recorder = new Recorder(owner, "t", clock);
  recorder.add({ type: "text", text: "a" });
  await clock.pass(SOON_MS - 1);
  recorder.add({ type: "text", text: "b" });
  expect(clock.slept).toHaveLength(1);
  await clock.pass(1);
  expect(await recorded(conversation)).toBe("ab");
  await recorder.settled();
});

test("that a tool begins, has another input or ends is written at once; what is told of it in between is gathered, in its order", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const conversation = await holdfast.create();
  await using owner = await conversation.own({ writer: "test", leaseMs: 60_000 });
  const clock = new StoppedClock();
  const recorder = new Recorder(owner, "t", clock);
  const tell = async (state: "started" | "done", input: string, title: string): Promise<void> => {
    recorder.add({ type: "tool", call: "c", name: "shell", input, state, detail: { title } });
    await written();
  };
  await tell("started", "", "begins");
  await tell("started", "ls", "input");
  expect(await batches(conversation)).toEqual([["begins"], ["input"]]);
  await tell("started", "ls", "one");
  await tell("started", "ls", "two");
  expect(await batches(conversation)).toHaveLength(2);
  await tell("done", "ls", "ends");
  expect(await batches(conversation)).toEqual([["begins"], ["input"], ["one", "two", "ends"]]);
  expect(await conversation.facts(["tool_intent"])).toHaveLength(1);
  await tell("started", "ls", "again");
  await tell("started", "pwd", "another");
  await tell("started", "pwd", "x".repeat(LOST_CHARS_MAX));
  expect(await batches(conversation)).toHaveLength(6);
  expect(await conversation.facts(["tool_intent"])).toHaveLength(2);
  await tell("started", "pwd", "last");
  await clock.pass(SOON_MS);
  expect((await batches(conversation)).at(-1)).toEqual(["last"]);
  await recorder.settled();
});

/** What was told of tools, by the entries that hold it. */
async function batches(conversation: Conversation): Promise<readonly (readonly string[])[]> {
  const updates = await conversation.facts(["update"]);
  return updates.map((entry) => {
    if (entry.type !== "update") return [];
    const { events } = entry.data as { events: { detail: { title: string } }[] };
    return events.map(({ detail }) => detail.title);
  });
}
