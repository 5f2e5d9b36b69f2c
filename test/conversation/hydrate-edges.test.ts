/** Goal: what a run is at the edges of its log: beside other runs, in a fork, hidden, gone. */
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import type { EntryBody } from "#log/entry";
import { inMemoryStore } from "#stores/in-memory/index";

const text = (words: string) => [{ type: "text", text: words }] as const;

function begun(run: string, more: { seed?: string; continues?: string } = {}): readonly EntryBody[] {
  const messages = [
    { role: "system", content: "Be brief.", timestamp: "2026-01-01T00:00:00.000Z" },
    { role: "user", content: `seed of ${run}`, isNew: true, details: { mail: 7 } },
  ];
  const seed: readonly EntryBody[] =
    more.seed === undefined ? [] : [{ type: "seed", id: more.seed, run, messages }];
  return [{ type: "run_start", run, trigger: "email", ...more, seedCount: 2 }, ...seed];
}

function turn(run: string): readonly EntryBody[] {
  return [
    { type: "message", id: `${run}-prompt`, message: { role: "user", content: text(`prompt of ${run}`) } },
    { type: "turn_start", turn: `${run}-turn`, prompt: `${run}-prompt`, run },
    {
      type: "message",
      id: `${run}-answer`,
      message: {
        role: "assistant",
        model: "p/m",
        content: text(`answer of ${run}`),
        usage: { costMicros: 5 },
      },
    },
    { type: "state_change", state: { last: run } },
    { type: "turn_end", turn: `${run}-turn`, outcome: "completed" },
    { type: "run_end", run, status: "completed" },
  ];
}

async function thread(): Promise<{ readonly holdfast: Holdfast; readonly chat: Conversation }> {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const chat = await holdfast.create({ id: "thread" });
  await chat.append([...begun("a", { seed: "a-seed" }), ...turn("a")]);
  await chat.append([...begun("b"), ...turn("b")]);
  return { holdfast, chat };
}

const said = (messages: readonly { readonly content: unknown }[]): readonly unknown[] =>
  messages.map(({ content }) => (content as readonly { readonly text: string }[])[0]?.text);

test("two runs of one conversation are never mixed, and each has its own state and totals", async () => {
  const { holdfast, chat } = await thread();
  await chat.append([...begun("c", { seed: "c-seed", continues: "a" }), ...turn("c")]);
  const a = await holdfast.hydrate("a");
  expect(a.seeds[1]).toEqual({ role: "user", content: "seed of a", isNew: true, details: { mail: 7 } });
  expect(a.messages.map(({ id }) => id)).toEqual(["a-prompt", "a-answer"]);
  expect([a.context.system, said(a.context.messages)]).toEqual([
    "Be brief.",
    ["seed of a", "prompt of a", "answer of a"],
  ]);
  expect([a.state, a.totals.steps, a.totals.prompts, a.totals.usage.costMicros]).toEqual([
    { last: "a" },
    1,
    1,
    5,
  ]);
  // A run without seeds sends the conversation as it was at its end.
  const b = await holdfast.hydrate("b");
  expect([b.context.system, said(b.context.messages)]).toEqual([
    null,
    ["prompt of a", "answer of a", "prompt of b", "answer of b"],
  ]);
  expect([b.seeds, b.state]).toEqual([[], { last: "b" }]);
  const c = await holdfast.hydrate("c");
  expect(said(c.context.messages)).toEqual([
    "seed of c",
    "prompt of a",
    "answer of a",
    "prompt of c",
    "answer of c",
  ]);
  expect([c.totals.prompts, c.totals.usage.costMicros]).toEqual([1, 5]);
});

test("a run of any length is read whole, whatever lies between its messages", async () => {
  const { holdfast, chat } = await thread();
  await chat.append([...begun("long", { seed: "long-seed", continues: "a" })]);
  const note = (n: number): EntryBody => ({ type: "update", data: { n } });
  const ids: string[] = [];
  for (let n = 0; n < 400; n++) {
    const id = `long-${n}`;
    ids.push(id);
    // Dense first, then sparse, then dense again.
    const facts = n > 100 && n < 200 ? Array.from({ length: n % 17 }, (_, at) => note(at)) : [];
    await chat.append([...facts, { type: "message", id, message: { role: "user", content: text(id) } }]);
  }
  await chat.append([...begun("next"), ...turn("next")]);
  const { messages, context } = await holdfast.hydrate("long");
  expect(messages.map(({ id }) => id)).toEqual(ids);
  expect(context.messages.flatMap(({ entryId }) => entryId ?? [])).toEqual(["a-prompt", "a-answer", ...ids]);
});

test("words that were taken back are not sent by a run that continues", async () => {
  const { holdfast, chat } = await thread();
  await chat.goTo("a-prompt");
  await chat.append([...begun("c", { seed: "c-seed", continues: "a" }), ...turn("c")]);
  const { context } = await holdfast.hydrate("c");
  expect(said(context.messages)).toEqual(["seed of c", "prompt of a", "prompt of c", "answer of c"]);
});

test("a run that continues itself, or a run that is not there, comes to an end", async () => {
  const { holdfast, chat } = await thread();
  await chat.append([...begun("c", { seed: "c-seed", continues: "c" }), ...turn("c")]);
  expect(said((await holdfast.hydrate("c")).context.messages)).toHaveLength(3);
  await chat.append([...begun("d", { seed: "d-seed", continues: "nowhere" }), ...turn("d")]);
  expect(said((await holdfast.hydrate("d")).context.messages)).toHaveLength(3);
});

test("a fork sees a run as far as it inherited it, and its own run under the same id first", async () => {
  const { holdfast, chat } = await thread();
  const fork = await chat.fork({ id: "fork", at: "a-prompt" });
  const inherited = await holdfast.hydrate("a", { conversation: "fork" });
  expect(inherited.run).toEqual(await holdfast.run("a"));
  expect(said(inherited.context.messages)).toEqual(["seed of a", "prompt of a"]);
  expect(inherited.state).toBeNull();
  await fork.append([{ type: "run_start", run: "f", trigger: "chat", continues: "a", seed: "a-seed" }]);
  await fork.append([...turn("f")]);
  const own = await holdfast.hydrate("f");
  expect(said(own.context.messages)).toEqual(["seed of a", "prompt of a", "prompt of f", "answer of f"]);
  expect(own.messages).toHaveLength(2);
  // What came in the source after the fork began is none of its business.
  await expect(chat.fork({ id: "early", at: "a-prompt" })).resolves.toBeDefined();
  await chat.append([...begun("late"), ...turn("late")]);
  await expect(holdfast.hydrate("late", { conversation: "fork" })).rejects.toMatchObject({
    code: "run_not_found",
  });
});

test("a fork whose source was erased still sends what it inherited", async () => {
  const { holdfast, chat } = await thread();
  const fork = await chat.fork({ id: "fork", at: "a-prompt" });
  const continued = { type: "run_start", run: "f", trigger: "chat", continues: "a", seed: "a-seed" } as const;
  await fork.append([continued, ...turn("f")]);
  const before = await holdfast.hydrate("f");
  await chat.erase();
  expect((await holdfast.hydrate("f")).context).toEqual(before.context);
});

test("seeds that were hidden are not sent, and are still there to be read", async () => {
  const { holdfast, chat } = await thread();
  await chat.append({ type: "hide", target: "a-seed" });
  const { context, seeds } = await holdfast.hydrate("a");
  expect([context.system, said(context.messages)]).toEqual([null, ["prompt of a", "answer of a"]]);
  expect(seeds).toHaveLength(2);
});

test("a run that is gone, or never was, is a clear error", async () => {
  const { holdfast, chat } = await thread();
  const fork = await chat.fork({ id: "fork" });
  await expect(holdfast.hydrate("nowhere")).rejects.toMatchObject({ code: "run_not_found" });
  await expect(holdfast.hydrate("a", { conversation: "nowhere" })).rejects.toMatchObject({
    code: "conversation_not_found",
  });
  await chat.erase();
  await expect(holdfast.hydrate("a")).rejects.toMatchObject({ code: "run_not_found" });
  await expect(holdfast.hydrate("a", { conversation: fork.id })).rejects.toMatchObject({
    code: "run_not_found",
  });
});
