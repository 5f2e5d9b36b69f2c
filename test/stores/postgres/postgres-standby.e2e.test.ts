/**
 * Goal: after a failover nobody goes on as if nothing had been lost, and where nothing may be lost nothing is.
 * Method: a primary and a standby that streams from it, both reached through proxies. The standby is cut off, turns are acknowledged
 * by the primary alone, the primary dies, the standby is promoted in its place. Agents and runtimes live through it.
 */
import pg from "pg";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Agent } from "#agent/agent";
import { type Conversation, type Holdfast, openHoldfast, Runtime } from "#index";
import { conv, texts, user, Rig } from "#store/contract/rig";
import { postgresStore } from "#stores/postgres/index";
import { judgeConversation } from "#testing/index";
import { ScriptedModel } from "../../agent/scripted-model.ts";
import { actingUpstream } from "../../support/acting-upstream.ts";
import { CuttingProxy } from "../../support/cutting-proxy.ts";
import { HANG_MS } from "../../support/hang.ts";
import {
  type LoopbackPostgres,
  type LoopbackStandby,
  startPostgres,
} from "../../support/loopback-postgres.ts";
import { spaceOf } from "#conversation/on-space";

/** Servers, the newest last, and the one address that programs know. */
class Cluster implements AsyncDisposable {
  readonly #servers: LoopbackPostgres[] = [];
  readonly #streams: CuttingProxy[] = [];
  readonly #front: CuttingProxy;
  address: string = "";

  private constructor(primary: LoopbackPostgres) {
    this.#servers.push(primary);
    this.#front = new CuttingProxy(primary.port);
  }

  static async start(): Promise<Cluster> {
    const primary = await startPostgres();
    const cluster = new Cluster(primary);
    const { port } = new URL(primary.url);
    cluster.address = primary.url.replace(port, String(await cluster.#front.listen()));
    return cluster;
  }

  async query(text: string, server: LoopbackPostgres | undefined = this.#servers[0]): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: server?.url, query_timeout: HANG_MS });
    await client.connect();
    const { rows } = await client.query({ text, rowMode: "array" });
    await client.end();
    return rows.flat();
  }

  /** A standby that has heard of everything by now. */
  async standby(): Promise<LoopbackStandby> {
    const [primary] = this.#servers;
    if (primary === undefined) throw new Error("there is no primary");
    const stream = new CuttingProxy(primary.port);
    const standby = await primary.standby(await stream.listen());
    this.#streams.unshift(stream);
    this.#servers.push(standby);
    return standby;
  }

  async caughtUp(standby: LoopbackStandby): Promise<void> {
    const [at] = await this.query("select pg_current_wal_lsn()");
    const behind = `select pg_last_wal_replay_lsn() >= '${String(at)}'`;
    await vi.waitFor(async () => expect(await this.query(behind, standby)).toEqual([true]), {
      timeout: HANG_MS,
    });
  }

  /** Whether the standby hears of what the primary writes. */
  streams(on: boolean): void {
    this.#streams[0]?.pointAt(on ? (this.#servers[0]?.port ?? null) : null);
  }

  /** The primary dies, and the standby is in its place. */
  async failOver(standby: LoopbackStandby): Promise<void> {
    const primary = this.#servers.shift();
    await primary?.kill();
    await standby.promote();
    this.#front.pointAt(standby.port);
    await primary?.[Symbol.asyncDispose]();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const one of [this.#front, ...this.#streams, ...this.#servers]) await one[Symbol.asyncDispose]();
  }
}

let cluster: Cluster;

beforeAll(async () => {
  cluster = await Cluster.start();
});

afterAll(async () => {
  await cluster?.[Symbol.asyncDispose]();
});

const host = { onEvent: (): void => undefined };

/** A node with an agent of its own and one that lives in another program. What is held is released by `go`. */
function nodeOn(holdfast: Holdfast) {
  const gate = Promise.withResolvers<void>();
  let held = 0;
  const acts: string[] = [];
  const prompts: string[] = [];
  const model = new ScriptedModel(
    Array.from({ length: 20 }, () => ({ prompt }) => {
      const words = JSON.stringify(prompt);
      prompts.push(words);
      if (!words.includes("hold")) return { text: "Yes." };
      if (!words.includes("acted")) return { calls: [{ id: "1", name: "act", input: {} }] };
      held++;
      return { text: "Acted.", until: gate.promise };
    }),
  );
  const act = { name: "act", run: async (): Promise<string> => (acts.push("act"), "acted") };
  const agent = new Agent(holdfast, {
    model,
    tools: [act],
    permission: () => "allow",
    instructions: false,
    pool: { mode: "live" },
  });
  const upstream = actingUpstream(async function* ({ content }) {
    const words = JSON.stringify(content);
    prompts.push(words);
    yield { type: "text", text: "Hm." };
    if (words.includes("hold")) {
      yield { type: "tool", call: "1", name: "mail", input: {}, state: "started" };
      acts.push("mail");
      yield { type: "tool", call: "1", name: "mail", input: {}, state: "done", output: "sent" };
      held++;
      await gate.promise;
    }
    yield { type: "text", text: "Yes." };
  });
  const runtime = new Runtime(holdfast, { upstreams: [upstream] });
  return { agent, runtime, acts, prompts, held: () => held, go: gate.resolve };
}

test("12: an unsynced standby is promoted: whoever knew of what it lost is told diverged, once, and nobody goes on silently", async () => {
  await using holdfast = await openHoldfast({ store: cluster.address });
  const ids = ["loop", "sent", "warm", "live", "raced"];
  for (const id of ids) await holdfast.create({ id });
  const node = nodeOn(holdfast);
  for (const id of ["loop", "warm", "raced"]) await node.agent.send(id, "one");
  for (const id of ["sent", "live"]) await node.runtime.send(id, "one", host);
  const standby = await cluster.standby();
  await cluster.caughtUp(standby);
  const beside = await postgresStore({ url: standby.url, readOnly: true });
  expect(await beside.health?.()).toMatchObject({ reachable: true, role: "standby" });
  await beside.close();
  cluster.streams(false);

  // Turns that ended, of which the standby never hears.
  expect(await node.agent.send("warm", "the lost word")).toMatchObject({ outcome: "completed" });
  expect(await node.runtime.send("live", "the lost word", host)).toMatchObject({ outcome: "completed" });
  // And turns that are in the middle when the primary dies.
  const turns = [
    node.agent.send("loop", "hold"),
    node.runtime.send("sent", "hold", host),
    node.agent.send("raced", "hold"),
  ].map((turn) =>
    turn.then(
      ({ outcome }) => outcome,
      (error: { code: string }) => error.code,
    ),
  );
  await vi.waitFor(() => expect(node.held()).toBe(3), { timeout: HANG_MS });
  const before = (await (await holdfast.conversation("loop")).head()).headSeq;
  await cluster.failOver(standby);
  await using another = await openHoldfast({ store: cluster.address });
  expect((await (await another.conversation("loop")).head()).headSeq).toBeLessThan(before);
  // Somebody else has the place of what was lost by the time that its owner comes back.
  const other = nodeOn(another);
  expect(await other.agent.send("raced", "instead")).toMatchObject({ outcome: "completed" });
  node.go();
  const [loop, sent, raced] = await Promise.all(turns);
  expect([loop, sent]).toEqual(["diverged", "diverged"]);
  expect(["diverged", "head_moved", "fenced"]).toContain(raced);

  node.prompts.length = 0;
  await expect(node.agent.send("warm", "two")).rejects.toMatchObject({ code: "diverged" });
  await expect(node.runtime.send("live", "two", host)).rejects.toMatchObject({ code: "diverged" });
  expect([node.prompts, node.runtime.session("live")]).toEqual([[], null]);
  for (const id of ["warm", "loop"])
    expect(await node.agent.send(id, "three")).toMatchObject({ outcome: "completed" });
  for (const id of ["live", "sent"])
    expect(await node.runtime.send(id, "three", host)).toMatchObject({ outcome: "completed" });
  expect(node.prompts.join("")).not.toMatch(/lost word|hold/);
  expect(node.acts.toSorted()).toEqual(["act", "act", "mail"]);
  for (const id of ids) {
    const conversation = await another.conversation(id);
    expect([id, await judgeConversation(conversation)]).toEqual([id, []]);
    expect(JSON.stringify((await conversation.context()).messages)).not.toMatch(/lost word|hold/);
  }
  expect(await another.check({ repair: false })).toEqual([]);
  for (const { agent, runtime } of [node, other]) await Promise.all([agent.close(), runtime.close()]);
});

test("an unsynced standby is promoted: a plain append is refused as diverged, once, and tails end with it", async () => {
  await using holdfast = await openHoldfast({ store: cluster.address });
  await using reader = await openHoldfast({ store: cluster.address });
  const ids = ["append", "fact", "turn", "overtaken", "replaced", "tailed"];
  for (const id of ids) await (await holdfast.create({ id: `plain-${id}` })).append(user("one"));
  const of = (space: Holdfast, id: string): Promise<Conversation> => space.conversation(`plain-${id}`);
  const standby = await cluster.standby();
  await cluster.caughtUp(standby);
  cluster.streams(false);

  for (const id of ids) await (await of(holdfast, id)).append(user("the lost word"));
  await (await of(holdfast, "fact")).title("The lost title");
  const tails = [holdfast, reader].flatMap((space) =>
    ["tailed", "overtaken"].map((id) => followed(space, `plain-${id}`)),
  );
  await Promise.all(tails.map(({ heard }) => heard(3)));
  await cluster.failOver(standby);

  await using another = await openHoldfast({ store: cluster.address });
  await (await of(another, "replaced")).append(user("instead"));
  await (await of(another, "overtaken")).append([user("instead"), user("and more")]);
  for (const { ended } of tails) expect(await ended).toBe("diverged");
  const node = nodeOn(holdfast);
  const acts: { readonly [id: string]: () => Promise<unknown> } = {
    append: async () => (await of(holdfast, "append")).append(user("next")),
    fact: async () => (await of(holdfast, "fact")).title("Next"),
    turn: () => node.agent.send("plain-turn", "next"),
    overtaken: async () => (await of(holdfast, "overtaken")).append(user("next")),
    replaced: async () => (await of(holdfast, "replaced")).append(user("next")),
  };
  for (const [id, act] of Object.entries(acts)) {
    const before = (await (await of(another, id)).head()).headSeq;
    await expect(act(), id).rejects.toMatchObject({ code: "diverged" });
    expect([id, (await (await of(another, id)).head()).headSeq]).toEqual([id, before]);
    await act();
    expect([id, await texts(spaceOf(another), `plain-${id}`)]).toEqual([
      id,
      expect.not.arrayContaining(["the lost word"]),
    ]);
  }
  await node.agent.close();
  await node.runtime.close();
  expect(await another.check({ repair: false })).toEqual([]);
});

/** A tail from the beginning, and how it ended. */
function followed(holdfast: Holdfast, id: string) {
  const seqs: number[] = [];
  const follow = async (): Promise<string> => {
    for await (const { seq } of holdfast.handle(conv(id)).tail()) seqs.push(seq);
    return "over";
  };
  const ended = follow().catch((error: { code: string }) => error.code);
  const heard = (count: number): Promise<void> =>
    vi.waitFor(() => expect(seqs).toHaveLength(count), { timeout: HANG_MS });
  return { ended, heard };
}

test("a synced standby is promoted: what was acknowledged is there, and its owner goes on", async () => {
  const standby = await cluster.standby();
  await cluster.query("alter system set synchronous_standby_names = '*'");
  await cluster.query("alter system set synchronous_commit = 'remote_apply'");
  await cluster.query("select pg_reload_conf()");
  const synced = "select sync_state from pg_stat_replication";
  await vi.waitFor(async () => expect(await cluster.query(synced)).toEqual(["sync"]), { timeout: HANG_MS });
  await using writers = new Rig({ open: () => postgresStore({ url: cluster.address }) });
  const space = await writers.space();
  await writers.create(space, "a", [user("one")]);
  const own = await space.acquire({ conversation: conv("a"), writer: "w", leaseMs: 0 });
  const author = { kind: "owner", epoch: own.epoch } as const;

  // Without the standby nothing is acknowledged.
  cluster.streams(false);
  await vi.waitFor(async () => expect(await cluster.query(synced)).toEqual([]), { timeout: HANG_MS });
  let told = false;
  const writing = writers.append(space, "a", [user("two")], { author: { ...author, expected: own.headSeq } });
  void writing.then(() => (told = true));
  const waiting = "select count(*)::int from pg_stat_activity where wait_event = 'SyncRep'";
  await vi.waitFor(async () => expect(await cluster.query(waiting)).toEqual([1]), { timeout: HANG_MS });
  expect(told).toBe(false);
  cluster.streams(true);
  const two = await writing;

  await cluster.failOver(standby);
  const next = { ...author, expected: two.toSeq, link: two.ownerLink };
  expect(await writers.append(space, "a", [user("three")], { author: next })).toMatchObject({
    fromSeq: two.toSeq + 1,
  });
  expect(await texts(space, "a")).toEqual(["one", "two", "three"]);
  expect(await space.check({ repair: false })).toEqual([]);
});
