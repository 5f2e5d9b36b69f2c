/**
 * Goal: every node serves every conversation, and whichever dies, stops, is cut off or told to go, one owner writes and nothing is done twice.
 * Method: real processes on one PostgreSQL, with agents of our own and with upstreams, whose clocks are five minutes wrong to either
 * side; they are killed, stopped and told to end in mid-act, and another one takes over. What they act on is a file outside.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { type Holdfast, openHoldfast } from "#index";
import { postgresStore } from "#stores/postgres/index";
import { judgeConversation } from "#testing/index";
import { ScriptedModel } from "../../agent/scripted-model.ts";
import { type LoopbackPostgres, startPostgres } from "../../support/loopback-postgres.ts";
import { programFile } from "../../support/programs.ts";
import { tempDir } from "../../support/temp-dir.ts";

const program = programFile(join(import.meta.dirname, "../../support/node-process.ts"));
/** Longer than any test: a lease is over when the test says so, on machines of any speed. */
const LEASE_MS = 3_600_000;
const FIVE_MINUTES = 300_000;

const dir = tempDir();
const outbox = join(dir.path, "outbox");
let server: LoopbackPostgres;
let holdfast: Holdfast;

beforeAll(async () => {
  server = await startPostgres();
  holdfast = await openHoldfast({ store: server.url });
});

afterAll(async () => {
  await holdfast?.close();
  await server?.[Symbol.asyncDispose]();
  dir[Symbol.dispose]();
});

interface Node {
  readonly child: ChildProcess;
  next(): Promise<unknown>;
  /** What it tells from here on until it ends. */
  rest(): Promise<readonly unknown[]>;
}

type Given = { readonly [name in "kind" | "id" | "verb" | "skew" | "lease" | "grace"]?: string | number };

function nodeWith(given: Given): Node {
  const flags = Object.entries({ ...given, store: server.url, outbox }).map(
    ([name, value]) => `--${name}=${value}`,
  );
  const child = spawn(process.execPath, [program, ...flags], { stdio: ["pipe", "pipe", "inherit"] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    child,
    next: async () => JSON.parse(String((await lines.next()).value)),
    async rest() {
      const told: unknown[] = [];
      for (let line = await lines.next(); line.done !== true; line = await lines.next())
        told.push(JSON.parse(line.value));
      return told;
    },
  };
}

/** A node in the middle of its act, on a conversation of its own. */
async function acting(given: Given & { readonly id: string }): Promise<Node> {
  await holdfast.create({ id: given.id });
  const node = nodeWith({ ...given, verb: "send" });
  expect(await node.next()).toEqual({ acting: true });
  return node;
}

async function left(id: string) {
  const conversation = await holdfast.conversation(id);
  return {
    acts: readFileSync(outbox, "utf8")
      .split("\n")
      .filter((line) => line.startsWith(`${id} `)).length,
    effects: (await conversation.effects()).map(({ state }) => state),
    faults: await judgeConversation(conversation),
    lease: (await conversation.head()).lease,
  };
}

const ONCE = { acts: 1, effects: ["unknown"], faults: [], lease: null };
const OVER = { outcome: "completed", said: "It is over." };

describe.each(["loop", "sending"])("nodes that carry turns by %s", { concurrent: true }, (kind) => {
  test("3, 14: a node killed in mid-act is taken over when its lease is over, not before; the act is unknown and not repeated", async () => {
    const id = `killed-${kind}`;
    // By the clocks of the two, the lease was over long ago.
    const node = await acting({ kind, id, lease: LEASE_MS, skew: -FIVE_MINUTES });
    node.child.kill("SIGKILL");
    await once(node.child, "exit");
    await takenOver({ kind, id, skew: FIVE_MINUTES });
    expect(await left(id)).toEqual(ONCE);
  });

  test("4, 14: a node that stood still for longer than its lease adds nothing when it goes on", async () => {
    const id = `stopped-${kind}`;
    // By the clocks of the two, it is not over for another ten minutes.
    const node = await acting({ kind, id, lease: LEASE_MS, skew: FIVE_MINUTES });
    node.child.kill("SIGSTOP");
    await takenOver({ kind, id, skew: -FIVE_MINUTES });
    const before = await (await holdfast.conversation(id)).head();
    node.child.stdin?.write("\n");
    node.child.kill("SIGCONT");
    expect(await node.rest()).toEqual([{ code: "fenced" }]);
    expect(await (await holdfast.conversation(id)).head()).toEqual(before);
    expect(await left(id)).toEqual(ONCE);
  });

  test("a node that is told to stop finishes what it can in time, and is followed at once", async () => {
    const id = `drained-${kind}`;
    const node = await acting({ kind, id, grace: 60_000 });
    node.child.kill("SIGTERM");
    node.child.stdin?.write("\n");
    expect(await node.rest()).toEqual(expect.arrayContaining([OVER, { closed: true }]));
    expect(await left(id)).toEqual({ ...ONCE, effects: ["done"] });
  });

  test("what a node that is told to stop cannot finish is handed over: its lease is not waited for", async () => {
    const id = `handed-${kind}`;
    const node = await acting({ kind, id, grace: 0 });
    node.child.kill("SIGTERM");
    const told = await node.rest();
    expect(told).toEqual(expect.arrayContaining([{ closed: true }]));
    const heir = nodeWith({ kind, id, verb: "continue" });
    expect(await heir.rest()).toEqual([OVER]);
    // Its own word where it had time for one.
    expect(await left(id)).toEqual({ ...ONCE, effects: [kind === "loop" ? "failed" : "unknown"] });
  });
});

/** Not before the lease is over in the database's time, and then at once. */
async function takenOver(given: Given & { readonly id: string }): Promise<void> {
  const early = nodeWith({ ...given, verb: "continue" });
  expect(await early.next()).toEqual({ code: "busy" });
  early.child.kill("SIGKILL");
  await once(early.child, "exit");
  const admin = new pg.Client(server.direct);
  await admin.connect();
  await admin.query("update holdfast.conversations set lease_until = 0 where id = $1", [given.id]);
  await admin.end();
  expect(await nodeWith({ ...given, verb: "continue" }).rest()).toEqual([OVER]);
}

test("15: a node without a free connection for longer than its lease stops its turn and adds nothing; others are told busy, and another node goes on", async () => {
  const pool = new pg.Pool({ connectionString: server.url, max: 2, connectionTimeoutMillis: 1_000 });
  pool.on("error", () => undefined);
  await using starved = await openHoldfast({ store: await postgresStore({ pool }) });
  const id = "starved";
  await starved.create({ id });
  const aborted = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const model = new ScriptedModel([
    ({ abortSignal }) => {
      abortSignal?.addEventListener("abort", () => aborted.resolve());
      begun.resolve();
      return { until: new Promise(() => undefined) };
    },
  ]);
  const more = { instructions: false, isDead: async (): Promise<boolean> => false } as const;
  const agent = new Agent(starved, { model, leaseMs: 4_000, ...more });
  const turn = agent.send(id, "hold").catch((error: unknown) => error);
  await begun.promise;
  const hogs = [await pool.connect(), await pool.connect()];
  await expect(starved.create({ id: "another" })).rejects.toMatchObject({ code: "busy" });
  await aborted.promise;
  const heir = new Agent(holdfast, { model: new ScriptedModel([{ text: "Said." }]), ...more });
  expect(await heir.continue(id)).toMatchObject({ outcome: "completed", text: "Said." });
  for (const hog of hogs) hog.release();
  expect(await turn).toMatchObject({ code: "fenced" });
  expect(await judgeConversation(await holdfast.conversation(id))).toEqual([]);
  await Promise.all([agent.close(), heir.close()]);
  await pool.end();
});
