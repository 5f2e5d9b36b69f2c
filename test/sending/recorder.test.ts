import { expect, test } from "vitest";
import { Hold } from "#conversation/holdfast";
import { Recorder } from "#turn/recorder";
import { inMemoryStore } from "#stores/in-memory/index";

const SOON_MS = 150; // with the write that follows, less than the quarter of a second a crash may cost

test("words that were shown are on their way to the log soon, however few they are and whatever comes after", async () => {
  const hold = new Hold(inMemoryStore(), "default");
  const conversation = await hold.create();
  await using owner = await conversation.own({ writer: "test", leaseMs: 60_000 });
  const sleeps: { readonly ms: number; wake(): void }[] = [];
  const clock = {
    nowMs: () => 0,
    sleep: (ms: number): Promise<void> => {
      const { promise, resolve } = Promise.withResolvers<void>();
      sleeps.push({ ms, wake: resolve });
      return promise;
    },
  };
  const recorder = new Recorder(owner, "t", clock);
  recorder.add({ type: "text", text: "a" });
  recorder.add({ type: "text", text: "b" });
  expect(sleeps.map(({ ms }) => ms <= SOON_MS)).toEqual([true]);
  sleeps[0]?.wake();
  for await (const entry of conversation.tail())
    if (entry.type === "update") {
      expect(JSON.stringify(entry.data)).toContain("ab");
      break;
    }
  await recorder.settled();
});
