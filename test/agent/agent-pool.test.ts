/** Conversations that an agent holds between turns: what is held is what the log says, and costs a look at the head. */
import { expect, test } from "vitest";
import { Agent } from "#agent/agent";
import type { AgentOptions } from "#agent/agent-options";
import { restore } from "#agent/restore";
import { Holdfast } from "#conversation/holdfast";
import { Pool } from "#turn/pool";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { decorateStore } from "#store/decorate";
import { counter } from "./rig.ts";
import { ScriptedModel } from "./scripted-model.ts";

type Script = ConstructorParameters<typeof ScriptedModel>[0];

/** Two hosts on one store; the first one's calls of the store are counted by verb. */
async function twoHosts(script: Script, more: Partial<AgentOptions> = {}) {
  const backing = inMemoryBacking();
  const calls: string[] = [];
  const store = decorateStore(inMemoryStore({ backing }), {
    around: (call, verb) => {
      calls.push(verb);
      return call();
    },
  });
  const holdfast = new Holdfast(store, "default");
  const other = new Holdfast(inMemoryStore({ backing }), "default");
  const model = new ScriptedModel(script);
  const options: AgentOptions = { model, permission: () => "allow", instructions: false, ...more };
  const agent = new Agent(holdfast, options);
  await holdfast.create({ id: "c" });
  const count = async (work: () => Promise<unknown>): Promise<readonly string[]> => {
    const from = calls.length;
    await work();
    return calls.slice(from);
  };
  return { agent, holdfast, other, model, options, count };
}

const nothing = async (): Promise<void> => undefined;

test("the second time a conversation is worked with, only its head is looked at", async () => {
  const { agent, other, count } = await twoHosts([{ text: "hello" }]);
  await agent.send("c", "hi");
  await agent.pool.with("c", nothing);
  const chat = await agent.pool.with("c", async ({ conversation }) => conversation);
  expect(await count(() => agent.pool.with(chat, nothing))).toEqual(["head"]);
  const seen = await agent.pool.with("c", async ({ restored }) => restored);
  expect(seen).toEqual(await restore(await other.conversation("c"), { tools: [], servers: [] }));
});

test("between the steps of a turn, and in the next one, the window is not read again", async () => {
  const look = counter("look");
  const step = { calls: [{ id: "1", name: "look", input: {} }] };
  const { agent, count, model } = await twoHosts([step, step, step, { text: "seen" }, { text: "again" }], {
    tools: [look],
  });
  const first = await count(() => agent.send("c", "look around"));
  // One for the settings, one for the context.
  expect(first.filter((verb) => verb === "window" || verb === "page")).toHaveLength(3);
  const second = await count(() => agent.send("c", "and now?"));
  expect(second.filter((verb) => verb === "window" || verb === "page")).toHaveLength(0);
  const last = model.asked.at(-1)?.prompt ?? [];
  expect(last.filter(({ role }) => role === "tool")).toHaveLength(3);
});

test("what another process has said since is in what the next turn sends", async () => {
  const { agent, other, options, model } = await twoHosts([{ text: "one" }, { text: "three" }]);
  await agent.send("c", "first");
  const elsewhere = new ScriptedModel([{ text: "two" }]);
  await new Agent(other, { ...options, model: elsewhere }).send("c", "second");
  await agent.pool.with("c", async ({ restored }) => {
    expect(restored.messages.map(({ content }) => content[0])).toMatchObject(
      ["first", "one", "second", "two"].map((text) => ({ text })),
    );
  });
  await agent.send("c", "third");
  expect(JSON.stringify(model.asked[1]?.prompt)).toContain("second");
});

test("work with one conversation is done in the order it was asked for, with several at once", async () => {
  const { agent, holdfast } = await twoHosts([]);
  await holdfast.create({ id: "d" });
  const done: string[] = [];
  const hold = Promise.withResolvers<void>();
  const first = agent.pool.with("c", async () => {
    await hold.promise;
    done.push("first");
  });
  const second = agent.pool.with("c", async (chat) => {
    done.push("second");
    await chat.send("hi");
  });
  await agent.pool.with("d", async () => void done.push("other"));
  hold.resolve();
  await Promise.all([first, second]);
  expect(done).toEqual(["other", "first", "second"]);
});

test("work that asks for its own conversation again is refused, and does not wait for itself", async () => {
  const { agent } = await twoHosts([]);
  const again = agent.pool.with("c", () => agent.pool.with("c", nothing));
  await expect(again).rejects.toMatchObject({ code: "invalid_request" });
  await agent.pool.with("c", nothing);
});

test("a turn goes on while a conversation is worked with: a second one is told that it is busy", async () => {
  const until = Promise.withResolvers<void>();
  const { agent } = await twoHosts([{ text: "slow", until: until.promise }]);
  await agent.pool.with("c", async (chat) => {
    const first = chat.send("one");
    await expect(agent.send("c", "two")).rejects.toMatchObject({ code: "busy" });
    until.resolve();
    expect(await first).toMatchObject({ outcome: "completed" });
    expect((await chat.restore()).messages).toHaveLength(2);
  });
});

test("an unknown conversation is an error and leaves nothing held", async () => {
  const { agent } = await twoHosts([]);
  await expect(agent.pool.with("nowhere", nothing)).rejects.toMatchObject({ code: "conversation_not_found" });
  expect(agent.pool.use()).toMatchObject({ conversations: 0, inUse: 0 });
});

test("by mode: rebuild holds nothing, live everything, hybrid as many messages as it may", async () => {
  const held = async (pool: AgentOptions["pool"]): Promise<unknown> => {
    const { agent, holdfast } = await twoHosts([], pool === undefined ? {} : { pool });
    for (const id of ["d", "e", "f"]) {
      await holdfast.create({ id });
      await agent.send(id, "hi");
    }
    return agent.pool.use();
  };
  expect(await held({ mode: "rebuild" })).toMatchObject({ conversations: 0, messages: 0 });
  expect(await held({ mode: "live" })).toMatchObject({ conversations: 3, messages: 6 });
  expect(await held({ messages: 4 })).toMatchObject({ conversations: 2, messages: 4 });
  expect(await held(new Pool({ conversations: 1 }))).toMatchObject({ conversations: 1 });
  expect(await held(undefined)).toMatchObject({ conversations: 3, inUse: 0 });
});

test("an agent that is closed holds nothing, also in a pool that others go on with", async () => {
  await using pool = new Pool();
  const { agent } = await twoHosts([], { pool });
  await agent.send("c", "hi");
  expect(pool.use().conversations).toBe(1);
  await agent.close();
  expect(pool.use().conversations).toBe(0);
});

test("who holds a conversation is told by whoever carried its latest turn, until that is over", async () => {
  const { agent, holdfast, other, options } = await twoHosts([], {
    pool: { address: "10.0.0.7:8080", idleMs: 60_000 },
  });
  const chat = await holdfast.conversation("c");
  expect(await chat.holder()).toBeNull();
  const sentMs = Date.now();
  await agent.send("c", "hi");
  const holder = await (await other.conversation("c")).holder();
  expect(holder?.address).toBe("10.0.0.7:8080");
  expect(holder?.untilMs).toBeGreaterThanOrEqual(sentMs + 60_000);
  const later = new Holdfast(holdfast.store, "default", {
    now: () => new Date(Date.now() + 60_001).toISOString(),
    newId: () => holdfast.newId(),
  });
  expect(await (await later.conversation("c")).holder()).toBeNull();
  const { pool: _, ...silent } = options;
  await new Agent(other, { ...silent, model: new ScriptedModel([]) }).send("c", "from elsewhere");
  expect(await chat.holder()).toBeNull();
});
