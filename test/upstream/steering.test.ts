/** What is said while a turn runs: handed to an agent that can take it, else to the next prompt; and which it was. */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { Runtime } from "#upstream/runtime";
import type { PromptEvent, UpstreamSession } from "#upstream/upstream";
import type { ContentBlock } from "#log/message";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { actingUpstream } from "../support/acting-upstream.ts";
import { dyingClock } from "../support/dying-clock.ts";

const host = { onEvent: (): void => undefined };
const wordsOf = (content: readonly ContentBlock[]): string =>
  content.map((block) => (block.type === "text" ? block.text : "")).join("");

/** An agent that says one thing, waits until it is steered or told to go on, and says another. */
function patient(steer?: UpstreamSession["steer"]) {
  const asked: string[] = [];
  const waits = { begun: Promise.withResolvers<void>(), go: Promise.withResolvers<void>() };
  const upstream = actingUpstream(
    async function* ({ content }): AsyncGenerator<PromptEvent> {
      asked.push(wordsOf(content));
      yield { type: "text", text: "First. " };
      waits.begun.resolve();
      await waits.go.promise;
      yield { type: "text", text: "Then." };
    },
    steer === undefined ? {} : { steer },
  );
  const backing = inMemoryBacking();
  const holdfast = new Holdfast(inMemoryStore({ backing }), "default");
  const clock = dyingClock();
  const runtime = new Runtime(holdfast, { upstreams: [upstream], isDead: async () => true, clock });
  return { asked, holdfast, runtime, waits, backing, upstream, die: () => clock.die() };
}

async function said(holdfast: Holdfast, id: string): Promise<readonly string[]> {
  const { messages } = await (await holdfast.conversation(id)).context();
  return messages.map(({ role, content }) => `${role}: ${wordsOf(content)}`);
}

test("an agent that takes words while it works is handed them now, and they stand where they were said", async () => {
  const taken: string[] = [];
  const at = patient(async (content) => taken.push(wordsOf(content)) > 0);
  const { id } = await at.holdfast.create();
  const turn = at.runtime.send(id, "go", host);
  await at.waits.begun.promise;
  expect(await at.runtime.steer(id, "and quickly")).toMatchObject({ delivered: "now" });
  at.waits.go.resolve();
  expect(await turn).toMatchObject({ outcome: "completed", text: "First. Then." });
  expect(taken).toEqual(["and quickly"]);
  expect(await said(at.holdfast, id)).toEqual([
    "user: go",
    "assistant: First. ",
    "user: and quickly",
    "assistant: Then.",
  ]);
  expect(await (await at.holdfast.conversation(id)).queue()).toEqual([]);
  await at.runtime.send(id, "once more", host);
  expect(at.asked.at(-1)).toBe("once more");
});

test.each([
  ["cannot", undefined],
  ["does not", async (): Promise<boolean> => false],
  ["fails to", async (): Promise<boolean> => Promise.reject(new Error("not now"))],
] as const)("words that an agent %s take now go out with the next prompt, once", async (_, steer) => {
  const at = patient(steer);
  const { id } = await at.holdfast.create();
  const turn = at.runtime.send(id, "go", host);
  await at.waits.begun.promise;
  expect(await at.runtime.steer(id, "and quickly")).toMatchObject({
    delivered: "with_next_prompt",
  });
  at.waits.go.resolve();
  await turn;
  await at.runtime.send(id, "more", host);
  await at.runtime.send(id, "and more", host);
  expect(at.asked).toEqual(["go", "and quicklymore", "and more"]);
});

test("words that are said twice under one name are handed over once, and those said while nothing runs wait", async () => {
  const taken: string[] = [];
  const at = patient(async (content) => taken.push(wordsOf(content)) > 0);
  const { id } = await at.holdfast.create();
  expect(await at.runtime.steer(id, "early")).toMatchObject({ delivered: "with_next_prompt" });
  const turn = at.runtime.send(id, "go", host);
  await at.waits.begun.promise;
  await at.runtime.steer(id, "once", { steer: "s1" });
  await at.runtime.steer(id, "once", { steer: "s1" });
  at.waits.go.resolve();
  await turn;
  expect([taken, at.asked]).toEqual([["once"], ["earlygo"]]);
});

test("words that were handed over stay in a turn that is cut off", async () => {
  const at = patient(async () => true);
  const { id } = await at.holdfast.create();
  void at.runtime.send(id, "go", host);
  await at.waits.begun.promise;
  await at.runtime.steer(id, "and quickly");
  at.die();
  const holdfast = new Holdfast(inMemoryStore({ backing: at.backing }), "default");
  const next = new Runtime(holdfast, { upstreams: [at.upstream], isDead: async () => true });
  await expect(next.retry(id, host)).rejects.toMatchObject({ code: "invalid_request" });
  expect(await said(holdfast, id)).toEqual(["user: go", "assistant: First. ", "user: and quickly"]);
});

test.each(["turn", "run"] as const)(
  "words that wait for the %s's end are not handed to an agent that could take them now",
  async (when) => {
    const taken: string[] = [];
    const at = patient(async (content) => taken.push(wordsOf(content)) > 0);
    const { id } = await at.holdfast.create();
    const turn = at.runtime.send(id, "go", host);
    await at.waits.begun.promise;
    expect(await at.runtime.steer(id, "later", { when })).toMatchObject({ delivered: "with_next_prompt" });
    at.waits.go.resolve();
    await turn;
    expect(taken).toEqual([]);
    expect(await (await at.holdfast.conversation(id)).queue()).toMatchObject([{ when }]);
    await at.runtime.send(id, "now", host);
    expect(at.asked.at(-1)).toBe("laternow");
  },
);
