/** Words of a turn are heard before the log has them, by whoever asks for that, and by nobody else. */
import { expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { systemClock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import type { LiveWords } from "#edges/http/events/live-words";
import { LiveListeners, liveWords, TurnWords } from "#edges/http/events/live-words";
import type { HostEvent } from "#turn/host";
import { ScriptedModel } from "../../../agent/scripted-model.ts";
import { serve } from "../served.ts";

// Nothing is gathered in the log by the clock.
const clock = {
  ...systemClock,
  sleep: (ms: number, signal?: AbortSignal): Promise<void> =>
    ms < 1_000
      ? new Promise((resolve) => signal?.addEventListener("abort", () => resolve(), { once: true }))
      : systemClock.sleep(ms, signal ?? new AbortController().signal),
};

test("a stream that asks for them is told words that the log has only when the turn is over", async () => {
  const gate = Promise.withResolvers<void>();
  const model = new ScriptedModel([{ thinking: "Hm.", text: "one two three four", until: gate.promise }]);
  const open = (holdfast: Holdfast): Agent => new Agent(holdfast, { model, instructions: false, clock });
  await using served = await serve({ agents: { loop: { open } } });
  await served.holdfast.create({ id: "c" });
  const client = served.client(await served.token("write"));
  const stop = new AbortController();
  const heard: LiveWords[] = [];
  const whole = Promise.withResolvers<void>();
  const logged: string[] = [];
  const follow = async (words: boolean): Promise<void> => {
    const onRemark = (event: string, data: unknown): void => {
      expect([event, words]).toEqual(["words", true]);
      heard.push(data as LiveWords);
      const said = heard.flatMap(({ kind, text }) => (kind === "text" ? [text] : [])).join("");
      if (said === "one two three four") whole.resolve();
    };
    const asked = { watch: ["c@0"], ...(words ? { words } : {}) };
    for await (const { entry } of client.watch(asked, { signal: stop.signal, onRemark })) {
      logged.push(entry.type);
      if (entry.type === "turn_end") return;
    }
  };
  const following = [follow(true), follow(false)];
  const turn = await client.send({ conversation: "c", content: "Count" });
  await whole.promise;
  expect(logged).not.toContain("update");
  let at = 0;
  for (const words of heard.filter(({ kind }) => kind === "text")) {
    expect(words).toMatchObject({ conversation: "c", turn: turn.turn, at });
    at += words.text.length;
  }
  expect(heard[0]).toMatchObject({ kind: "thinking", at: 0, text: "Hm." });
  gate.resolve();
  await Promise.all(following);
  stop.abort();
  expect(logged.filter((type) => type === "turn_end")).toHaveLength(2);
});

const update = (text: string): HostEvent => ({
  type: "update",
  conversation: "c",
  upstream: null,
  event: { type: "text", text },
});

test("words are counted from where the agent was last asked", () => {
  const words = new TurnWords();
  expect(words.heard(update("early"), null)).toBeNull();
  expect([update("ab"), update("c")].map((one) => words.heard(one, "t")?.at)).toEqual([0, 2]);
  words.heard({ type: "step", step: 2, model: "m", conversation: "c", upstream: null }, "t");
  expect(words.heard(update("d"), "t")).toEqual({
    conversation: "c",
    turn: "t",
    kind: "text",
    at: 0,
    text: "d",
  });
});

test("what follows on what waits is one with it, what is too much is dropped, and nobody is left listening", async () => {
  const listeners = new LiveListeners();
  const stop = new AbortController();
  const reading = liveWords(listeners, { space: "s", conversations: ["a", "b"] }, stop.signal);
  const said = (conversation: string, at: number, text: string): void =>
    listeners.tell("s", { conversation, turn: "t", kind: "text", at, text });
  const first = reading.next();
  said("a", 0, "x");
  said("a", 1, "y");
  said("b", 0, "z");
  listeners.tell("other", { conversation: "a", turn: "t", kind: "text", at: 2, text: "no" });
  expect((await first).value).toMatchObject({ conversation: "a", text: "xy" });
  expect((await reading.next()).value).toMatchObject({ conversation: "b", text: "z" });
  said("a", 2, "q".repeat(70_000));
  said("a", 70_002, "later");
  expect((await reading.next()).value).toMatchObject({ at: 70_002, text: "later" });
  const last = reading.next();
  stop.abort();
  expect((await last).done).toBe(true);
});
