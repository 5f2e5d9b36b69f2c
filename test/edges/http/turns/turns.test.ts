import { join } from "node:path";
import { beforeAll, expect, test } from "vitest";
import { Agent } from "#agent/agent";
import type { AgentOptions } from "#agent/agent-options";
import { Holdfast } from "#conversation/holdfast";
import { createClient } from "#edges/http/client/index";
import { OPERATIONS } from "#edges/http/routes/api";
import type { HttpHandler } from "#edges/http/index";
import type { Entry } from "#log/entry";
import { Runtime } from "#upstream/runtime";
import { inMemoryStore } from "#stores/in-memory/index";
import { simUpstream, SimWorld } from "#testing/index";
import type { Tool } from "#turn/effects/tool";
import { ScriptedModel } from "../../../agent/scripted-model.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { by, posted } from "../raw-requests.ts";
import { exercised, serve, type Served, URL_HERE } from "../served.ts";

type Script = ConstructorParameters<typeof ScriptedModel>[0];

beforeAll(() => exercised.clear());

/** A server with a scripted model behind it, and a conversation `c`. */
async function withModel(
  script: Script,
  more: { readonly agent?: Partial<AgentOptions>; readonly http?: Parameters<typeof serve>[0] } = {},
): Promise<{ readonly served: Served; readonly model: ScriptedModel; readonly token: string }> {
  const model = new ScriptedModel(script);
  const open = (holdfast: Holdfast): Agent =>
    new Agent(holdfast, { model, instructions: false, permission: () => "allow", ...more.agent });
  const served = await serve({ agents: { loop: { open } }, ...more.http });
  await served.holdfast.create({ id: "c" });
  return { served, model, token: await served.token("write") };
}

const texts = (entries: readonly Entry[]): readonly string[] =>
  entries.flatMap((entry) =>
    entry.type === "message" && entry.message.role === "assistant"
      ? entry.message.content.flatMap((block) => (block.type === "text" ? [block.text] : []))
      : [],
  );

async function all<T>(items: AsyncIterable<T>): Promise<readonly T[]> {
  const found: T[] = [];
  for await (const one of items) found.push(one);
  return found;
}

/** Cuts every stream of events after so many of them, as a bad line does. */
function cutting(fetch: HttpHandler["fetch"], events: number): HttpHandler["fetch"] {
  return async (request) => {
    const response = await fetch(request);
    if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) return response;
    let left = events;
    const cut = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        if (left-- > 0) controller.enqueue(chunk);
        else controller.error(new TypeError("cut"));
      },
    });
    return new Response(response.body?.pipeThrough(cut) ?? null, response);
  };
}

test("a prompt is answered when it is in the log, and its turn told to its end, whoever listens", async () => {
  const { served, model, token } = await withModel([{ text: "It is a fine day." }]);
  await using _ = served;
  const client = served.client(token);
  const turn = await client.send({ conversation: "c", content: "How is it?" }, { key: "k" });
  expect(turn).toMatchObject({ conversation: "c", repeated: false, after: 1 });
  const entries = await all(client.turnEvents(turn));
  expect(texts(entries)).toEqual(["It is a fine day."]);
  expect(entries.at(-1)).toMatchObject({ type: "turn_end", turn: turn.turn, outcome: "completed" });
  const stored = await client.listEntries({ conversation: "c", after: turn.after });
  expect(entries).toEqual(stored.entries.slice(0, entries.length));
  // Again under its key: the same turn, told again, and nobody is asked.
  const again = await client.send({ conversation: "c", content: "How is it?" }, { key: "k" });
  expect(again).toMatchObject({
    turn: turn.turn,
    prompt: turn.prompt,
    repeated: true,
    differs: false,
  });
  const fromPrompt = entries.slice(entries.findIndex(({ id }) => id === turn.prompt));
  expect(await all(client.turnEvents(again))).toEqual(fromPrompt);
  const other = await client.send({ conversation: "c", content: "Other words" }, { key: "k" });
  expect(other).toMatchObject({ turn: turn.turn, repeated: true, differs: true });
  expect(model.asked).toHaveLength(1);
  expect(await all(client.turnEvents({ ...turn, after: 10_000 }))).toEqual([]);
});

test("a connection that breaks in the middle of a turn is taken up behind the last event: no gap, nothing twice", async () => {
  const gate = Promise.withResolvers<void>();
  const { served, token } = await withModel([
    { text: "one two three four five six seven", until: gate.promise },
  ]);
  await using _ = served;
  for (const events of [1, 2]) {
    const client = createClient({
      url: URL_HERE,
      token,
      fetch: cutting(served.handler.fetch, events),
      sleep: async () => undefined,
    });
    const turn = await client.send({ conversation: "c", content: `words ${events}` });
    gate.resolve();
    const entries = await all(client.turnEvents(turn));
    const stored = await client.listEntries({ conversation: "c", after: turn.after });
    expect(entries).toEqual(stored.entries.slice(0, entries.length));
    expect(entries.at(-1)).toMatchObject({ type: "turn_end" });
    expect(entries.length).toBeGreaterThan(events);
  }
});

test("a prompt may be answered by its events at once", async () => {
  const { served, token } = await withModel([{ text: "Hello" }]);
  await using _ = served;
  const asked = posted(token, { content: "Hi" }, { accept: "text/event-stream" });
  const response = await served.ask("/api/conversations/c/turns", asked);
  expect(response.headers.get("content-type")).toContain("text/event-stream");
  const told = await response.text();
  expect(told).toMatch(/^id: \d+\nevent: entry\ndata: \{/);
  expect(told).toMatch(/event: end\ndata: \{"turn":"[^"]+","outcome":"completed"[^\n]*\}\n\n$/);
});

test("a running turn is steered and cancelled; one that was stopped is gone on with; a busy one is told so", async () => {
  const never = Promise.withResolvers<void>();
  const { served, token } = await withModel([
    { text: "Begun", until: never.promise },
    { text: "Gone on with" },
  ]);
  await using _ = served;
  const client = served.client(token);
  const turn = await client.send({ conversation: "c", content: "Work" });
  await expect(client.send({ conversation: "c", content: "More" })).rejects.toMatchObject({
    status: 423,
    code: "busy",
  });
  const steered = await client.steer({ conversation: "c", content: "Faster", when: "run" }, { key: "s1" });
  expect(steered).toMatchObject({ steer: "s1", delivered: "with_next_prompt" });
  expect((await client.listWaiting({ conversation: "c" })).queue.map(({ steer }) => steer)).toEqual(["s1"]);
  expect(await client.cancel({ conversation: "c" })).toMatchObject({ cancelled: true });
  const entries = await all(client.turnEvents(turn));
  expect(entries.at(-1)).toMatchObject({ type: "turn_end", outcome: "interrupted" });
  expect(await client.cancel({ conversation: "c" })).toMatchObject({ cancelled: false });
  const next = await client.continueTurn({ conversation: "c" }, { key: "c1" });
  expect(texts(await all(client.turnEvents(next)))).toEqual(["Gone on with"]);
  expect(await client.continueTurn({ conversation: "c" }, { key: "c1" })).toMatchObject({ turn: next.turn });
});

test("what a turn asks a person is answered once, and the turn goes on by it", async () => {
  let ran = 0;
  const tool: Tool = {
    name: "post",
    description: "Posts a letter.",
    run: async () => {
      ran++;
      return "posted";
    },
  };
  const { served, token } = await withModel(
    [{ calls: [{ id: "c1", name: "post", input: {} }] }, { text: "It is on its way" }],
    { agent: { tools: [tool], permission: () => "ask" } },
  );
  await using _ = served;
  const client = served.client(token);
  const turn = await client.send({ conversation: "c", content: "Post it" });
  const events = client.turnEvents(turn);
  let request = "";
  for await (const entry of events) {
    if (entry.type !== "permission") continue;
    request = entry.request ?? "";
    break;
  }
  expect((await client.listWaiting({ conversation: "c" })).asked).toMatchObject([{ request, tool: "post" }]);
  await expect(
    client.answerRequest({ conversation: "c", request: "nothing", outcome: "allowed" }),
  ).rejects.toMatchObject({ status: 404 });
  const whole = all(client.turnEvents(turn));
  const answered = await client.answerRequest({ conversation: "c", request, outcome: "allowed" });
  expect(answered).toMatchObject({ request, deduped: false });
  expect(await client.answerRequest({ conversation: "c", request, outcome: "denied" })).toMatchObject({
    deduped: true,
  });
  const entries = await whole;
  expect(texts(entries)).toEqual(["It is on its way"]);
  expect(entries.find(({ type }) => type === "permission_answer")).toMatchObject({
    outcome: "allowed",
    by: "write-1",
  });
  expect(ran).toBe(1);
});

test("other words take a message's place, once under their key; what came after stays in the log", async () => {
  const { served, model, token } = await withModel([{ text: "Four" }, { text: "Six" }]);
  await using _ = served;
  const client = served.client(token);
  const first = await client.send({ conversation: "c", content: "Two and two?" });
  await all(client.turnEvents(first));
  const edit = { conversation: "c", entry: first.prompt, content: "Three and three?" };
  const turn = await client.edit(edit, { key: "e1" });
  expect(texts(await all(client.turnEvents(turn)))).toEqual(["Six"]);
  expect(await client.edit(edit, { key: "e1" })).toMatchObject({ turn: turn.turn, repeated: true });
  const { messages } = await client.getContext({ conversation: "c" });
  expect(messages).toHaveLength(2);
  expect((await client.getTree({ conversation: "c" })).nodes.length).toBeGreaterThan(4);
  expect(model.asked).toHaveLength(2);
});

test("agents and models are those that the server has; without one it says so", async () => {
  const { served, token } = await withModel([{ text: "a" }]);
  await using _ = served;
  const client = served.client(token);
  for (const more of [{ agent: "other" }, { agent: "__proto__" }, { model: "x/y" }])
    await expect(client.send({ conversation: "c", content: "x", ...more })).rejects.toMatchObject({
      code: "invalid_request",
    });
  await expect(client.send({ conversation: "d", content: "x" })).rejects.toMatchObject({ status: 404 });
  expect((await client.health()).agents).toEqual(["loop"]);
  await using bare = await serve();
  await bare.holdfast.create({ id: "c" });
  const alone = bare.client(await bare.token("write"));
  await expect(alone.send({ conversation: "c", content: "x" })).rejects.toMatchObject({
    status: 501,
    code: "no_agent",
  });
});

test("an upstream carries turns as our own loop does: the simulated agent, and its prompt once more", async () => {
  const world = new SimWorld({ startMs: Date.now() });
  const holdfast = new Holdfast(world.store(inMemoryStore()), "default");
  const open = (space: Holdfast): Runtime =>
    new Runtime(space, { upstreams: [simUpstream(world, { agent: "sim" })], clock: world.clock });
  await using served = await serve({ holdfast, agents: { sim: { open } } });
  await holdfast.create({ id: "c" });
  const client = served.client(await served.token("write"));
  const turn = await client.send({ conversation: "c", content: "remember x=1" });
  const entries = await all(client.turnEvents(turn));
  expect(entries.at(-1)).toMatchObject({ type: "turn_end", outcome: "completed" });
  expect((await client.getChain({ conversation: "c" })).links).toMatchObject([{ agent: "sim" }]);
  await expect(client.retry({ conversation: "c" })).rejects.toMatchObject({ code: "invalid_request" });
});

test("a server that stops waits for its turns, then stops them, which is recorded; nothing is begun", async () => {
  const gate = Promise.withResolvers<void>();
  const { served, token } = await withModel([{ text: "Slow", until: gate.promise }]);
  await using _ = served;
  const client = served.client(token);
  const turn = await client.send({ conversation: "c", content: "Work" });
  const tail = await served.ask("/api/conversations/c/tail?after=100", by(token));
  const events = client.turnEvents(turn);
  await events.next(); // it is open
  const whole = all(events);
  const drained = served.handler.drain(60_000);
  expect(await tail.text()).toMatch(/event: stop\ndata: \{\}\n\n$/);
  await expect(client.send({ conversation: "c", content: "More" })).rejects.toMatchObject({
    code: "stopping",
  });
  expect((await served.ask("/api/conversations/c/tail", by(token))).status).toBe(503);
  gate.resolve();
  await drained;
  expect((await whole).at(-1)).toMatchObject({ type: "turn_end", outcome: "completed" });

  const never = Promise.withResolvers<void>();
  const other = await withModel([{ text: "Slower", until: never.promise }]);
  await using __ = other.served;
  const left = other.served.client(other.token);
  const cut = await left.send({ conversation: "c", content: "Work" });
  const rest = left.turnEvents(cut);
  await rest.next();
  const told = all(rest);
  await other.served.handler.drain(0);
  expect((await told).at(-1)).toMatchObject({ type: "turn_end", outcome: "interrupted" });
});

test("a turn is told by whichever server on the store is asked, and to whoever lost the one that carries it", async () => {
  using folder = tempDir();
  const store = `sqlite:${join(folder.path, "store.db")}`;
  const gate = Promise.withResolvers<void>();
  const { served, token } = await withModel([{ text: "From the first", until: gate.promise }], {
    http: { store },
  });
  await using _ = served;
  await using other = await serve({ store });
  const turn = await served.client(token).send({ conversation: "c", content: "Hi" });
  const events = other.client(token).turnEvents(turn);
  const first = (await events.next()).value as Entry;
  gate.resolve();
  const entries = [first, ...(await all(events))];
  expect(texts(entries)).toEqual(["From the first"]);
  expect(entries.at(-1)).toMatchObject({ type: "turn_end", outcome: "completed" });
});

test("every route of turns was exercised by the client", () => {
  const elsewhere = new Set(["tail", "watch", "retry"]); // in event-streams.test.ts; one that is refused, above
  const names = OPERATIONS.flatMap(([name, { group }]) => (group === "Turns" ? [name] : []));
  expect(names.filter((name) => !exercised.has(name) && !elsewhere.has(name))).toEqual([]);
});
