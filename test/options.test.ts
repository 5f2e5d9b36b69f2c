/** Options as programs give them: what is undefined is left out, and a number that cannot be meant is refused by name. */
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { McpServers } from "#agent/mcp/mcp-servers";
import { replay } from "#agent/replay/replay-models";
import { Holdfast } from "#conversation/holdfast";
import { createClient } from "#edges/http/client/index";
import { HttpHandler, knownNames, listen } from "#edges/http/index";
import { Runtime } from "#upstream/runtime";
import { inMemoryStore } from "#stores/in-memory/index";
import { jsonlStore } from "#stores/jsonl/index";
import { postgresStore } from "#stores/postgres/index";
import { sqliteStore } from "#stores/sqlite/index";
import { simUpstream, SimWorld } from "#testing/index";
import { Pool } from "#turn/pool";
import { counter } from "./agent/rig.ts";
import { ScriptedModel } from "./agent/scripted-model.ts";
import { tempDir } from "./support/temp-dir.ts";

type Options = { readonly [name: string]: unknown };

const holdfast = new Holdfast(inMemoryStore(), "default");
const model = new ScriptedModel([]);
const [upstream] = [simUpstream(new SimWorld({ seed: 1 }), { agent: "a" })];
const WRONG = [Number.NaN, -1, "1", null];
const NO_COUNT = [...WRONG, 0, 1.5, Number.POSITIVE_INFINITY];
const NO_AMOUNT = [...WRONG, 1.5];

/** By what takes them: the options that are numbers, with what each of them cannot be. */
const TAKERS: readonly (readonly [
  string,
  (options: Options) => unknown,
  { readonly [option: string]: readonly unknown[] },
])[] = [
  [
    "Agent",
    (options) => new Agent(holdfast, { model, ...options }),
    {
      parallelCalls: NO_COUNT,
      maxSteps: NO_COUNT,
      toolTimeoutMs: WRONG,
      leaseMs: NO_AMOUNT,
      silenceMs: WRONG,
      waitForLimitMs: NO_AMOUNT,
    },
  ],
  [
    "compaction of an Agent",
    (compaction) => new Agent(holdfast, { model, compaction }),
    { reserveTokens: NO_AMOUNT, keepTokens: NO_AMOUNT },
  ],
  [
    "a turn of an Agent",
    async (options) => new Agent(holdfast, { model }).send(await holdfast.create(), "hello", options),
    { maxSteps: NO_COUNT, maxCostMicros: WRONG },
  ],
  [
    "Runtime",
    (options) => new Runtime(holdfast, { upstreams: [upstream], ...options }),
    {
      leaseMs: NO_AMOUNT,
      cancelMs: WRONG,
      resumeMs: WRONG,
      silenceMs: WRONG,
      toolSilenceMs: WRONG,
      linksTried: NO_AMOUNT,
    },
  ],
  [
    "Pool",
    (options) => new Pool(options),
    { conversations: WRONG, messages: WRONG, processes: WRONG, idleMs: WRONG },
  ],
  ["McpServers", (options) => new McpServers([], options), { openMs: WRONG }],
  [
    "replay",
    async (options) => replay(holdfast, { conversation: "none" }, { models: [model], ...options }),
    { fromMessage: NO_COUNT, maxPrompts: NO_COUNT, maxSteps: NO_COUNT, maxCostMicros: WRONG },
  ],
  [
    "sqliteStore",
    async (options) => {
      using folder = tempDir();
      await (await sqliteStore({ path: join(folder.path, "a.db"), ...options })).close();
    },
    { busyMs: WRONG, bytesMax: NO_COUNT },
  ],
  [
    "jsonlStore",
    (options) => {
      using folder = tempDir();
      return jsonlStore({ dir: folder.path, ...options });
    },
    { lockWaitMs: WRONG },
  ],
  [
    "postgresStore",
    async (options) => postgresStore({ url: "postgres://nobody@127.0.0.1:1/none", ...options }),
    { connections: NO_COUNT, connectMs: WRONG, queryMs: WRONG, pollMs: WRONG, partitions: NO_AMOUNT },
  ],
  [
    "limits of the server",
    (limits) => new HttpHandler({ holdfast, names: knownNames({ port: 1 }), limits }),
    {
      perSecond: WRONG,
      burst: WRONG,
      bodyBytes: NO_AMOUNT,
      bodyMs: WRONG,
      answerMs: WRONG,
      importBytes: NO_AMOUNT,
      imports: NO_AMOUNT,
      streams: NO_AMOUNT,
      streamsPerToken: NO_AMOUNT,
      streamBytes: NO_AMOUNT,
      streamBytesPerToken: NO_AMOUNT,
      stallMs: WRONG,
      heartbeatMs: WRONG,
    },
  ],
  [
    "listen",
    async (options) => {
      await using _ = await listen(
        (port) => new HttpHandler({ holdfast, names: knownNames({ port }) }),
        options,
      );
    },
    { port: [...NO_AMOUNT, 65_536], requestMs: WRONG },
  ],
  ["createClient", (options) => createClient({ url: "http://127.0.0.1:1", ...options }), { retries: WRONG }],
];

const CASES = TAKERS.flatMap(([taker, take, options]) =>
  Object.entries(options).map(([option, wrong]) => [taker, option, wrong, take] as const),
);

test.each(CASES)("%s refuses a %s that cannot be meant, by its name", async (_, option, wrong, take) => {
  const refused = expect.objectContaining({ code: "invalid_request", details: { name: option } });
  for (const value of wrong)
    await expect((async () => take({ [option]: value }))(), String(value)).rejects.toEqual(refused);
});

test("a client may send a request again without a limit, as the web UI does", () => {
  expect(() => createClient({ url: "http://127.0.0.1:1", retries: Number.POSITIVE_INFINITY })).not.toThrow();
});

describe("an option that is undefined is left out", () => {
  const KEYS =
    "fallbackModels tools replaceTool permission whenAsked system instructions skills memory servers parallelCalls toolTimeoutMs maxSteps stopWhen state isInternal compaction openModel pool clock writer isDead endProcess leaseMs silenceMs waitForLimitMs newId";
  const undefinedOf = (names: string): Options =>
    Object.fromEntries(names.split(" ").map((name) => [name, undefined]));

  test("of an Agent: calls run, and a turn ends at the limit that there is by default", async () => {
    const space = new Holdfast(inMemoryStore(), "default");
    const look = counter("look", { effect: "none" });
    const endless = Array.from({ length: 300 }, (_, n) => ({
      calls: [{ id: `${n}`, name: "look", input: {} }],
    }));
    await using agent = new Agent(space, {
      ...undefinedOf(KEYS),
      model: new ScriptedModel(endless),
      tools: [look],
    });
    const options = undefinedOf("maxSteps maxCostMicros key model run details onEvent");
    const result = await agent.send(await space.create(), "Look", options);
    expect(result).toMatchObject({ outcome: "interrupted", steps: 200 });
    expect(look.runs.length).toBe(200);
  });

  test("of a Runtime, its pool and a fork of it", async () => {
    const world = new SimWorld({ seed: 1 });
    const space = new Holdfast(world.store(inMemoryStore()), "default");
    const runtime = new Runtime(space, {
      ...undefinedOf("writer isDead leaseMs cancelMs resumeMs silenceMs toolSilenceMs"),
      ...undefinedOf("onSilence prior linksTried newId"),
      pool: undefinedOf("mode conversations messages processes idleMs address clock"),
      clock: world.clock,
      upstreams: [simUpstream(world, { agent: "a" })],
    });
    const options = undefinedOf("agent account whenLimited force key details from");
    const { id } = await space.create();
    expect(await runtime.send(id, "remember a=1", options)).toMatchObject({ outcome: "completed" });
    const forked = await runtime.fork(id, undefinedOf("clock forkMs at id key prepare"));
    expect(forked).toMatchObject({ fidelity: "native" });
  });

  test("of a server and its limits", async () => {
    const handler = new HttpHandler({
      ...undefinedOf("version readOnly cwd agents skills replays place ui findGrant cookie metrics"),
      ...undefinedOf("agentRecords keptAccess clock onError"),
      holdfast,
      names: knownNames({ port: 1 }),
      limits: undefinedOf("perSecond burst bodyBytes streams"),
    });
    const answer = await handler.fetch(new Request("http://127.0.0.1:1/api/health"));
    expect(answer.status).toBe(401);
  });
});
