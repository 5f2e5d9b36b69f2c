/**
 * Goal: an operation over HTTP sends PostgreSQL no statement more than it needs.
 * Method: a server over a pool that notes every statement; those that many requests share are not counted: of the
 * server's own space (tokens, audit, cancels), and the look at whatever has grown.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { Holdfast } from "#conversation/holdfast";
import { SERVER_SPACE } from "#edges/http/access/grant";
import type { Client } from "#edges/http/client/index";
import { simulatedSource } from "#edges/cli/serve/simulated-agent";
import { postgresStore } from "#stores/postgres/index";
import type { Runtime } from "#upstream/runtime";
import { ScriptedModel } from "../../agent/scripted-model.ts";
import { type CountedPool, countedPool } from "../../support/counted-pool.ts";
import { type PostgresRig, postgresRig } from "../../support/postgres-subject.ts";
import { serve, type Served } from "./served.ts";

let rig: PostgresRig;
let counted: CountedPool;
let served: Served;
let client: Client;
/** The turns of the server, each until its conversation is let go of. */
const carried: Promise<unknown>[] = [];

class AwaitedAgent extends Agent {
  override send(...asked: Parameters<Agent["send"]>): ReturnType<Agent["send"]> {
    const turn = super.send(...asked);
    carried.push(turn);
    return turn;
  }
}

beforeAll(async () => {
  rig = await postgresRig();
  counted = countedPool(rig.pool);
});

afterAll(() => rig[Symbol.asyncDispose]());

beforeEach(async () => {
  await rig.subject();
  const store = await postgresStore({ pool: counted.pool });
  const holdfast = new Holdfast(store, "default", undefined, () => store.close());
  carried.length = 0;
  const options = { model: new ScriptedModel([]), instructions: false } as const;
  const open = (space: Holdfast): Agent => new AwaitedAgent(space, options);
  served = await serve({ holdfast, agents: { loop: { open } } });
  client = served.client(await served.token("admin"), "patient");
  await client.createConversation({ id: "c" });
  await client.appendEntries({ conversation: "c", entries: [said("hello", "m1")] });
  return () => served[Symbol.asyncDispose]();
});

const said = (text: string, id?: string) => ({
  type: "message" as const,
  ...(id === undefined ? {} : { id }),
  message: { role: "user" as const, content: [{ type: "text" as const, text }] },
});

/** The statements of a piece of work, each by the words that tell it from others. */
async function statements(work: () => Promise<unknown>): Promise<readonly string[]> {
  const sent = await counted.during(work);
  const isShared = ({ text, values }: (typeof sent)[number]): boolean =>
    values[0] === SERVER_SPACE || text.includes("grown_");
  return sent.flatMap((one) => (isShared(one) ? [] : [one.text]));
}

test("an operation on one conversation takes as few statements, and one where there is no such conversation", async () => {
  const acts: { readonly [name: string]: (conversation: string) => Promise<unknown> } = {
    append: (id) => client.appendEntries({ conversation: id, entries: [said("more")] }),
    keyed: (id) => client.appendEntries({ conversation: id, entries: [said("keyed")] }, { key: "k" }),
    outside: (id) =>
      client.appendEntries({ conversation: id, outside: true, entries: [{ type: "title", title: "T" }] }),
    title: (id) => client.setTitle({ conversation: id, title: "Other" }),
    label: (id) => client.setLabel({ conversation: id, entry: "m1", label: "here" }),
    entries: (id) => client.listEntries({ conversation: id }),
    history: (id) => client.listHistory({ conversation: id }),
    entry: (id) => client.getEntry({ conversation: id, entry: "m1" }),
    context: (id) => client.getContext({ conversation: id }),
    view: (id) => client.getConversation({ conversation: id }),
    fork: (id) => client.fork({ conversation: id, id: `f${id}` }),
    usage: (id) => client.getUsage({ conversation: id }),
    effects: (id) => client.listEffects({ conversation: id }),
    issues: (id) => client.listIssues({ conversation: id }),
    waiting: (id) => client.listWaiting({ conversation: id }),
    chain: (id) => client.getChain({ conversation: id }),
    tree: (id) => client.getTree({ conversation: id }),
  };
  const counts: { [name: string]: number } = {};
  for (const [name, act] of Object.entries(acts)) {
    const missing = await statements(() =>
      expect(act("none"), name).rejects.toMatchObject({ status: 404, code: "conversation_not_found" }),
    );
    expect([name, missing.length]).toEqual([name, 1]);
    counts[name] = (await statements(() => act("c"))).length;
  }
  expect(counts).toEqual({
    append: 1,
    keyed: 1,
    outside: 1,
    title: 1,
    label: 2, // what it names is looked up
    entries: 2,
    history: 1,
    entry: 1,
    context: 1,
    view: 3,
    fork: 3,
    usage: 1,
    effects: 1,
    issues: 2,
    waiting: 3,
    chain: 3,
    tree: 3,
  });
});

test("a turn with its events is at most eight statements", async () => {
  const send = async (content: string): Promise<void> => {
    const turn = await client.send({ conversation: "c", content });
    await Promise.all(carried);
    const entries = await Array.fromAsync(client.turnEvents(turn));
    expect(entries.map(({ type }) => type)).toEqual(expect.arrayContaining(["turn_start", "turn_end"]));
  };
  await send("one");
  await send("two");
  const sent = await statements(() => send("three"));
  expect(sent.length, sent.join("\n")).toBeLessThanOrEqual(8);
});

test("a turn of an agent with sessions is four statements, and seven where its session is resumed", async () => {
  const source = simulatedSource(1_000);
  const turns: Runtime[] = [];
  const open = (space: Holdfast): Runtime => {
    const runtime = source.open(space) as Runtime;
    const send = runtime.send.bind(runtime);
    runtime.send = (...asked) => {
      const turn = send(...asked);
      carried.push(turn);
      return turn;
    };
    turns.push(runtime);
    return runtime;
  };
  const { holdfast } = served;
  await using sessions = await serve({ holdfast, agents: { simulated: { ...source, open } } });
  const headers = {
    authorization: `Bearer ${await sessions.token("write")}`,
    "content-type": "application/json",
    accept: "text/event-stream",
  };
  const body = JSON.stringify({ content: "hello" });
  const send = async (): Promise<void> => {
    const answer = await sessions.ask("/api/conversations/c/turns", { method: "POST", headers, body });
    expect(await answer.text()).toContain("event: end");
    await Promise.all(carried);
  };
  await send();
  await send();
  const live = await statements(send);
  await turns[0]?.release();
  const resumed = await statements(send);
  expect([live.length, resumed.length], [...live, "", ...resumed].join("\n")).toEqual([4, 7]);
});
