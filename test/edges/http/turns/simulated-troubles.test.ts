import { beforeAll, expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { simulatedSource, TROUBLES } from "#edges/cli/serve/simulated-agent";
import type { AgentSource } from "#edges/http/index";
import type { Entry, EntryOf } from "#log/entry";
import { inMemoryStore } from "#stores/in-memory/index";
import { SimWorld } from "#testing/index";
import { serve, type Served } from "../served.ts";

/** The simulated agent in a world whose time takes none. */
async function simulated(): Promise<Served & { readonly world: SimWorld }> {
  const world = new SimWorld({ startMs: Date.now() });
  const holdfast = new Holdfast(world.store(inMemoryStore()), "default");
  const worlds = [world];
  const source = simulatedSource(1, undefined, () => worlds.pop() ?? new SimWorld());
  return { ...(await serve({ holdfast, agents: { simulated: source } })), world };
}

async function turn(
  client: ReturnType<Served["client"]>,
  conversation: string,
  content: string,
): Promise<EntryOf<"turn_end">> {
  let last: Entry | null = null;
  for await (const entry of client.turnEvents(await client.send({ conversation, content }))) last = entry;
  if (last?.type !== "turn_end") throw new Error("A turn ends");
  return last;
}

let served: Served & { readonly world: SimWorld };
let client: ReturnType<Served["client"]>;
beforeAll(async () => {
  served = await simulated();
  client = served.client(await served.token("write"));
  return () => served[Symbol.asyncDispose]();
});

test("agents are listed with their models and what they can be made to go through", async () => {
  expect((await client.listAgents()).agents).toEqual([
    { agent: "simulated", models: [], troubles: TROUBLES },
  ]);
  for (const kind of ["limit", "crash", "lost_transcript", "rolled_id"]) expect(TROUBLES).toContain(kind);
});

/** How the turn that it strikes ends, and what it left in the chain. */
const MET: { readonly [kind: string]: string } = {
  limit: "failed limit first",
  credit: "failed credit first",
  overload: "completed completed first",
  expire: "completed completed first,expired",
  auth: "failed auth first",
  too_long: "completed completed first,too_long",
  poison: "completed completed first,poisoned",
  corrupt: "failed failed first",
  empty: "completed completed first,empty",
  stale: "completed completed first,stale_replay",
  late: "completed completed first",
  hang: "completed completed first,lost",
  ignore_cancel: "completed completed first",
  crash: "completed completed first",
  restart: "completed completed first",
  lost_transcript: "completed completed first,lost",
  cut_transcript: "completed completed first,lost",
  rolled_id: "completed completed first,rolled_by_upstream",
};

/** How often something struck. */
const strikes = (): number => [...served.world.faults.struck.values()].reduce((sum, one) => sum + one, 0);

test.each(TROUBLES)("%s strikes the next turn, and the conversation goes on", async (kind) => {
  const conversation = `c-${kind.replaceAll("_", "-")}`;
  await served.holdfast.create({ id: conversation });
  expect(await turn(client, conversation, "remember x=17")).toMatchObject({ outcome: "completed" });
  const struck = await client.strikeAgent({ agent: "simulated", kind }, { key: kind });
  expect(struck).toMatchObject({ agent: "simulated", kind, deduped: false });
  expect(await client.strikeAgent({ agent: "simulated", kind }, { key: kind })).toMatchObject({
    deduped: true,
  });
  const before = strikes();
  const { outcome, class: ending } = await turn(client, conversation, "say hello");
  const { links } = await client.getChain({ conversation });
  expect(`${outcome} ${ending} ${links.map(({ reason }) => reason).join(",")}`).toBe(MET[kind]);
  expect(strikes() - before).toBe(kind === "restart" ? 0 : 1); // which has happened before the turn
  await served.world.timeline.pass(20_000);
  expect(await turn(client, conversation, "recall x")).toMatchObject({ outcome: "completed" });
  const { messages } = await client.getContext({ conversation });
  expect(JSON.stringify(messages.at(-1))).toContain("17");
});

test("what waits for a turn is listed, and called off before it strikes", async () => {
  const agent = "simulated";
  expect(await client.callOffTroubles({ agent })).toEqual({ schemaVersion: 1, agent, calledOff: [] });
  for (const kind of ["lost_transcript", "crash", "crash", "restart"])
    await client.strikeAgent({ agent, kind });
  const [lost, crash] = [
    { kind: "lost_transcript", phase: "resume" },
    { kind: "crash", phase: "start" },
  ];
  // A restart happens at once.
  expect((await client.listTroubles({ agent })).waiting).toEqual([lost, crash, crash]);
  expect((await client.callOffTroubles({ agent, kind: "crash" })).calledOff).toEqual([crash, crash]);
  expect((await client.callOffTroubles({ agent, kind: "nonsense" })).calledOff).toEqual([]);
  const reader = served.client(await served.token("read"));
  expect((await reader.listTroubles({ agent })).waiting).toEqual([lost]);
  await expect(reader.callOffTroubles({ agent })).rejects.toMatchObject({ code: "no_right" });
  await expect(client.listTroubles({ agent: "other" })).rejects.toMatchObject({ code: "invalid_request" });
  const elsewhere = served.client(await served.token("write", "other"));
  expect((await elsewhere.listTroubles({ agent })).waiting).toEqual([]);
  expect((await elsewhere.callOffTroubles({ agent })).calledOff).toEqual([]);
  expect((await client.callOffTroubles({ agent })).calledOff).toEqual([lost]);
  const before = strikes();
  await served.holdfast.create({ id: "spared" });
  expect(await turn(client, "spared", "say hello")).toMatchObject({ outcome: "completed" });
  expect(strikes()).toBe(before);
});

test("what cannot be is refused, and strikes nobody", async () => {
  const { strikeAgent } = client;
  for (const asked of [
    { agent: "simulated", kind: "nonsense" },
    { agent: "simulated", kind: "crash", phase: "idle" },
    { agent: "other", kind: "crash" },
    { agent: "__proto__", kind: "crash" },
  ])
    await expect(strikeAgent(asked, { key: "again" })).rejects.toMatchObject({ code: "invalid_request" });
  const reader = served.client(await served.token("read"));
  await expect(reader.strikeAgent({ agent: "simulated", kind: "crash" })).rejects.toMatchObject({
    code: "no_right",
  });
  expect((await reader.listAgents()).agents).toHaveLength(1);
  expect(served.world.faults.waiting).toBe(0);
  // In mid-tool: what it did is in the ledger, and is not done again.
  expect(await strikeAgent({ agent: "simulated", kind: "crash", phase: "in_tool" })).toMatchObject({
    phase: "in_tool",
  });
  await served.holdfast.create({ id: "mail" });
  const { outcome } = await turn(client, "mail", "email ann about rent");
  expect([outcome, served.world.outbox.all.length]).toEqual(["interrupted", 1]);
  const { effects } = await client.listEffects({ conversation: "mail" });
  expect(effects).toMatchObject([{ state: "unknown" }]);
});

test("without a simulated agent a server has no routes for faults, and neither has the OpenAPI document", async () => {
  await using bare = await serve({ agents: { own: { open: (space) => simulatedSource(1).open(space) } } });
  const alone = bare.client(await bare.token("admin"));
  expect((await alone.listAgents()).agents).toEqual([{ agent: "own", models: [] }]);
  const missing = { code: "wrong_path" };
  await expect(alone.strikeAgent({ agent: "own", kind: "crash" })).rejects.toMatchObject(missing);
  await expect(alone.listTroubles({ agent: "own" })).rejects.toMatchObject(missing);
  await expect(alone.callOffTroubles({ agent: "own" })).rejects.toMatchObject(missing);
  expect(JSON.stringify(await client.openApi()).includes("trouble")).toBe(false);
  const own: AgentSource = { open: (space) => simulatedSource(1).open(space) };
  await using both = await serve({ agents: { own, simulated: simulatedSource(1) } });
  const mixed = both.client(await both.token("write"));
  await expect(mixed.strikeAgent({ agent: "own", kind: "crash" })).rejects.toMatchObject({
    code: "invalid_request",
  });
});
