/** A cached context says what a context says that is read again, whatever was written in between and by whom. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import { ContextCache } from "#conversation/context-cache";
import { SteerQueue } from "#conversation/steer-queue";
import type { EntryBody } from "#log/entry";
import { decorateStore } from "#store/decorate";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { spaceOf } from "#conversation/on-space";

const call = fc.constantFrom("a", "b", "c");
const content = fc.constantFrom("hello", "", "  ");
const user = content.map((text): EntryBody => ({
  type: "message",
  message: { role: "user", content: [{ type: "text", text }] },
}));
const answer = fc
  .record({ text: content, calls: fc.array(call, { maxLength: 2 }), model: fc.option(call) })
  .map(({ text, calls, model }): EntryBody => ({
    type: "message",
    message: {
      role: "assistant",
      content: [
        { type: "thinking", thinking: "hm" },
        { type: "text", text },
        ...calls.map((id) => ({ type: "toolCall", id, name: "look", input: {} }) as const),
      ],
      ...(model === null ? {} : { model }),
    },
  }));
const result = call.map((toolCallId): EntryBody => ({
  type: "message",
  message: { role: "toolResult", toolCallId, content: [{ type: "text", text: "seen" }] },
}));
const setting = fc.constantFrom<EntryBody>(
  { type: "seed", run: "r", messages: [{ role: "user", content: "hi" }] },
  { type: "model_change", model: "m" },
  { type: "config_change", config: { tone: "short" } },
  { type: "skill_change", skills: [{ name: "review" }] },
  { type: "state_change", state: { n: 1 } },
  { type: "reset" },
  { type: "custom", customType: "note", inContext: true, data: { n: 1 } },
  { type: "custom", customType: "note" },
);
/** An entry that is there, by how far back it lies. */
const back = fc.nat({ max: 12 });
type Move =
  | { readonly do: "append"; readonly bodies: readonly EntryBody[] }
  | { readonly do: "hide" | "show" | "goTo" | "compact" | "fork"; readonly back: number }
  | { readonly do: "outside" }
  | { readonly do: "read" };
const move: fc.Arbitrary<Move> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .array(
        fc.oneof(
          { weight: 3, arbitrary: user },
          { weight: 4, arbitrary: answer },
          { weight: 4, arbitrary: result },
          setting,
        ),
        {
          minLength: 1,
          maxLength: 4,
        },
      )
      .map((bodies) => ({ do: "append", bodies }) as const),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("hide", "show", "goTo", "compact", "fork"),
      back,
    }),
  },
  { weight: 1, arbitrary: fc.constant({ do: "outside" } as const) },
  { weight: 3, arbitrary: fc.constant({ do: "read" } as const) },
);

async function make(chat: Conversation, made: Move): Promise<Conversation> {
  if (made.do === "append") await chat.append(made.bodies);
  else if (made.do === "outside") await chat.title("another title");
  else if (made.do !== "read") {
    const branch = await chat.branch();
    const target = branch.at(-1 - (made.back % branch.length));
    if (target === undefined || target.type === "conversation") return chat;
    if (made.do === "hide") await chat.hide(target.id);
    else if (made.do === "show") await chat.hide(target.id, false);
    else if (made.do === "goTo") await chat.goTo(target.id);
    else if (made.do === "fork") return chat.fork({ at: target.id });
    else
      await chat
        .append({ type: "compaction", summary: "before", firstKeptEntryId: target.id })
        .catch((error: unknown) => expect(error).toMatchObject({ code: "invalid_boundary" }));
  }
  return chat;
}

test("after any moves of any process, the cached context equals one that is read", () =>
  fc.assert(
    fc.asyncProperty(fc.array(move, { maxLength: 40 }), async (moves) => {
      const holdfast = new Holdfast(inMemoryStore({ backing: inMemoryBacking() }), "default");
      let chat = await holdfast.create();
      let cache = new ContextCache(spaceOf(chat), chat.id);
      for (const made of moves) {
        const next = await make(chat, made);
        if (next !== chat) cache = new ContextCache(spaceOf(next), next.id);
        chat = next;
        if (made.do !== "read") continue;
        const { context, head } = await cache.now();
        expect(context).toEqual(await chat.context());
        expect(head).toEqual(await chat.head());
      }
      expect((await cache.now()).context).toEqual(await chat.context());
    }),
    { numRuns: 300 },
  ));

const ownMove = fc.oneof(
  { weight: 6, arbitrary: fc.record({ by: fc.constant("owner" as const), made: move }) },
  { weight: 1, arbitrary: fc.record({ by: fc.constant("other" as const), made: move }) },
);

test("with every batch of an owner, what it knows of the log is what there is, whoever else writes", () =>
  fc.assert(
    fc.asyncProperty(fc.array(ownMove, { maxLength: 30 }), async (moves) => {
      const holdfast = new Holdfast(inMemoryStore({ backing: inMemoryBacking() }), "default");
      const chat = await holdfast.create({ id: "c" });
      const other = await holdfast.conversation("c");
      const cache = new ContextCache(spaceOf(chat), chat.id);
      const words = new SteerQueue(spaceOf(chat), chat.id);
      for (let turn = 0; turn < 2; turn++) {
        await using owner = await chat.own({ writer: "w", leaseMs: 60_000 });
        cache.follow(owner);
        words.follow(owner);
        for (const { by, made } of moves) {
          if (by === "other") {
            if (made.do === "hide" || made.do === "show" || made.do === "outside") await make(other, made);
            else await other.steer(`${turn} ${made.do}`, [{ type: "text", text: "wait" }]);
          } else if (made.do === "append") {
            await owner.append(made.bodies, made.bodies.length === 2 ? { key: `twice ${turn}` } : {});
            expect(await cache.owned()).toEqual(await chat.context());
            expect(await words.owned()).toEqual(await chat.queue());
          } else if (made.do === "goTo") {
            const branch = await chat.branch();
            const target = branch.at(-1 - (made.back % branch.length));
            if (target !== undefined) await owner.append({ type: "leaf", target: target.id });
          } else if (made.do === "read") await cache.now();
        }
        await owner.append({ type: "steer", steer: "x", state: "accepted", content: [] });
        const head = await chat.head();
        const { model, config, skills, state } = await chat.settings();
        const settings = cache.settingsAt(head);
        if (settings !== null) expect(settings).toMatchObject({ model, config, skills, state });
      }
    }),
    { numRuns: 200 },
  ));

test("an owner whose batches follow each other reads nothing of its log, in this turn and the next", async () => {
  const calls: string[] = [];
  const store = decorateStore(inMemoryStore(), {
    around: (verbCall, verb) => (calls.push(verb), verbCall()),
  });
  const chat = await new Holdfast(store, "default").create();
  const cache = new ContextCache(spaceOf(chat), chat.id);
  const words = new SteerQueue(spaceOf(chat), chat.id);
  await cache.now();
  await words.waiting();
  for (let turn = 0; turn < 3; turn++) {
    const owner = await chat.own({ writer: "w", leaseMs: 60_000 });
    cache.follow(owner);
    words.follow(owner);
    if (turn === 0) await words.owned();
    calls.length = 0;
    for (const text of ["one", "two"]) {
      await owner.append({ type: "message", message: { role: "user", content: [{ type: "text", text }] } });
      await cache.owned();
      await words.owned();
    }
    expect(calls).toEqual(["append", "append"]);
    await owner[Symbol.asyncDispose]();
  }
  expect((await cache.now()).context).toEqual(await chat.context());
});

test("what follows in the same turn, and the next prompt, is added: no page of the branch is read again", async () => {
  let windows = 0;
  const store = decorateStore(inMemoryStore(), {
    verbs: (space) => ({
      window: (request) => {
        windows++;
        return space.window(request);
      },
    }),
  });
  const chat = await new Holdfast(store, "default").create();
  const cache = new ContextCache(spaceOf(chat), chat.id);
  const say = (role: "user" | "assistant", text: string): EntryBody => ({
    type: "message",
    message: { role, content: [{ type: "text", text }] },
  });
  for (let turn = 0; turn < 3; turn++) {
    await chat.append([say("user", "look"), say("assistant", "done")]);
    await cache.now();
  }
  expect(windows).toBe(1);
  expect((await cache.now()).context).toEqual(await chat.context());
});

test("a log that was erased and made again under the same id is another one", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const text = (said: string): EntryBody => ({
    type: "message",
    message: { role: "user", content: [{ type: "text", text: said }] },
  });
  const first = await holdfast.create({ id: "c", entries: [text("first")] });
  const cache = new ContextCache(spaceOf(first), first.id);
  await cache.now();
  await first.erase();
  const second = await holdfast.create({ id: "c", entries: [text("second")] });
  expect((await cache.now()).context).toEqual(await second.context());
});

test("the model of a reply stands in for one that was chosen, no further back than it does when it is read", async () => {
  const chat = await new Holdfast(inMemoryStore(), "default").create();
  const cache = new ContextCache(spaceOf(chat), chat.id);
  await chat.append([
    { type: "message", message: { role: "user", content: [{ type: "text", text: "hi" }] } },
    {
      type: "message",
      message: { role: "assistant", content: [{ type: "text", text: "hello" }], model: "m" },
    },
  ]);
  const models = new Set<string | null>();
  for (let node = 0; node < 70; node++) {
    await chat.append({ type: "custom", customType: "note" });
    const { context } = await cache.now();
    expect(context).toEqual(await chat.context());
    models.add(context.model);
  }
  expect([...models]).toEqual(["m", null]);
});

test("a result whose nearest call is hidden belongs to the call of the same id before it", async () => {
  const chat = await new Holdfast(inMemoryStore(), "default").create();
  const called = (id: string): EntryBody => ({
    type: "message",
    id,
    message: { role: "assistant", content: [{ type: "toolCall", id: "a", name: "look", input: {} }] },
  });
  await chat.append([
    called("first"),
    { type: "message", message: { role: "user", content: [{ type: "text", text: "hello" }] } },
    called("second"),
    {
      type: "message",
      message: { role: "toolResult", toolCallId: "a", content: [{ type: "text", text: "seen" }] },
    },
  ]);
  await chat.hide("second");
  expect((await new ContextCache(spaceOf(chat), chat.id).now()).context).toEqual(await chat.context());
});
