import pg from "pg";
import { Agent } from "../src/agent/index.ts";
import { Holdfast } from "../src/conversation/holdfast.ts";
import type { Conversation } from "../src/conversation/conversation.ts";
import { Runtime } from "../src/upstream/runtime.ts";
import type { PromptEvent } from "../src/upstream/upstream.ts";
import { postgresStore } from "../src/stores/postgres/index.ts";
import { countedPool } from "../test/support/counted-pool.ts";
import { startPostgres } from "../test/support/loopback-postgres.ts";
import { ASKED, StreamingModel } from "./agent-loop.ts";
import { benchUpstream } from "./bench-upstream.ts";
import { fill, turnBodies } from "./history.ts";
import { type Row, slower } from "./report.ts";
import { alternate, timingNamed } from "./sample.ts";
import { MESSAGE_CHARS, sizeText, type Stage } from "./stage.ts";

const BLOCK = 10_000; // written by the store itself; what is larger is made of copies of it

/** What verbs and prompts cost in PostgreSQL as a conversation grows, how many round trips they are, and what an entry weighs. */
export async function measurePostgresSizes(stage: Stage): Promise<readonly Row[]> {
  await using server = await startPostgres({ fsync: true });
  const pool = new pg.Pool({ connectionString: server.url, max: 4 });
  pool.on("error", () => undefined);
  try {
    const first = new Holdfast(await postgresStore({ pool }), "default");
    for (const size of stage.sizes) {
      stage.say(`building a conversation of ${sizeText(size)} entries in PostgreSQL`);
      const log = await first.create({ id: `size-${size}` });
      await fill(log, { messages: Math.min(size, BLOCK), chars: MESSAGE_CHARS });
      if (size > BLOCK) await multiply(pool, log.id, size / BLOCK);
    }
    await pool.query("vacuum analyze holdfast.entries");
    await pool.query("checkpoint");
    const weight = await bytesPerEntry(pool);
    // What the store that built them remembers of their heads is not so any more.
    const holdfast = new Holdfast(await postgresStore({ pool }), "default");
    return [...(await measureFlat(stage, holdfast)), ...(await countTrips(pool)), weight];
  } finally {
    await pool.end();
  }
}

/** Copies of the block behind each other, each grown from the one before: the same rows that the store would have written. */
async function multiply(pool: pg.Pool, conversation: string, times: number): Promise<void> {
  const { rows } = await pool.query<{ seq: number; depth: number; leaf: string }>(
    "select head_seq::int as seq, leaf_depth as depth, leaf_id as leaf from holdfast.conversations where id = $1",
    [conversation],
  );
  const { seq, depth, leaf } = rows[0] ?? { seq: 0, depth: 0, leaf: "" };
  // The first entry is the conversation itself, and is there once.
  const count = seq - 1;
  for (let copy = 1; copy < times; copy++)
    await pool.query(
      `insert into holdfast.entries select e.space, e.conversation, e.seq + $2::int4 * $4::int4, e.id || '.' || $4::int4, e.type,
         e.time, e.v, case when e.seq = 2 then $3 || $5 else e.parent || '.' || $4::int4 end, e.segment,
         e.depth + $2::int4 * $4::int4, e.kind, e.payload, e.link, e.by_owner
       from holdfast.entries e where e.conversation = $1 and e.seq between 2 and $2::int4 + 1 order by e.seq`,
      [conversation, count, leaf, copy, copy === 1 ? "" : `.${copy - 1}`],
    );
  await pool.query(
    `update holdfast.conversations set head_seq = $2, owner_seq = $2, leaf_depth = $3, leaf_id = $4 where id = $1`,
    [conversation, seq + (times - 1) * count, depth + (times - 1) * count, `${leaf}.${times - 1}`],
  );
}

async function bytesPerEntry(pool: pg.Pool): Promise<Row> {
  const { rows } = await pool.query<{ whole: string; rows: string; payload: string }>(
    `select pg_total_relation_size('holdfast.entries')::text as whole, count(*)::text as rows, sum(octet_length(payload))::text as payload from holdfast.entries`,
  );
  const { whole = "0", rows: count = "1", payload = "1" } = rows[0] ?? {};
  const bytes = Math.round(Number(whole) / Number(count));
  return {
    work: "PostgreSQL: an entry on disk, with its indexes",
    against: "its text",
    value: Number(whole) / Number(payload),
    unit: "x",
    budget: null,
    ours: null,
    theirs: null,
    note: `${bytes} bytes for ${Math.round(Number(payload) / Number(count))} of text, over ${count} entries`,
  };
}

async function measureFlat(stage: Stage, holdfast: Holdfast): Promise<readonly Row[]> {
  await using agent = new Agent(holdfast, {
    model: new StreamingModel(),
    instructions: false,
    compaction: null,
  });
  const logs = new Map<number, { readonly log: Conversation; readonly run: string }>();
  for (const size of stage.sizes) {
    const log = await holdfast.conversation(`size-${size}`);
    await log.append([{ type: "reset" }, ...turnBodies(0, MESSAGE_CHARS)]);
    logs.set(size, { log, run: (await agent.send(log, ASKED)).run ?? "" });
  }
  let made = 0;
  const side = (work: (log: Conversation, run: string) => Promise<unknown>) =>
    Object.fromEntries(
      [...logs].map(([size, { log, run }]) => [String(size), { run: () => work(log, run) }]),
    );
  const verbs = {
    context: side((log) => log.context()),
    fork: side((log) => log.fork({ id: `fork-${made++}` })),
    append: side((log) => log.append(turnBodies(made++, MESSAGE_CHARS))),
    hydrate: side((_, run) => holdfast.hydrate(run)),
    "send by the agent loop": side((log) => agent.send(log, ASKED)),
  };
  const rows: Row[] = [];
  for (const [verb, sides] of Object.entries(verbs)) {
    const times = await alternate(sides, stage.plan(100, 8_000));
    const [smallest = 0, ...larger] = stage.sizes;
    for (const size of larger)
      rows.push(
        slower(`PostgreSQL: ${verb} at ${sizeText(size)} entries`, `the same at ${sizeText(smallest)}`, {
          ours: timingNamed(times, String(size)),
          theirs: timingNamed(times, String(smallest)),
          budget: { atMost: 1.3 },
        }),
      );
  }
  return rows;
}

async function* answer(): AsyncGenerator<PromptEvent> {
  yield { type: "text", text: "the answer" };
  const usage = { inputTokens: 1_000, outputTokens: 10 };
  yield { type: "end", end: { stopReason: "end_turn", error: null, exited: false, durationMs: 900, usage } };
}

/** Every statement that is sent is one; the third prompt is a steady one. */
async function countTrips(pool: pg.Pool): Promise<readonly Row[]> {
  const counted = countedPool(pool);
  const holdfast = new Holdfast(await postgresStore({ pool: counted.pool }), "trips");
  const log = await holdfast.create({ id: "verbs", entries: turnBodies(0, MESSAGE_CHARS) });
  const [loop, elsewhere] = [
    await holdfast.create({ id: "loop" }),
    await holdfast.create({ id: "elsewhere" }),
  ];
  await using agent = new Agent(holdfast, {
    model: new StreamingModel(),
    instructions: false,
    compaction: null,
  });
  const runtime = new Runtime(holdfast, { upstreams: [benchUpstream(answer)] });
  for (let prompt = 0; prompt < 2; prompt++) {
    await agent.send(loop, ASKED);
    await runtime.send(elsewhere, ASKED);
  }
  const { run } = await agent.send(loop, ASKED);
  const works: readonly [name: string, most: number, work: () => Promise<unknown>][] = [
    ["an append", 1, () => log.append(turnBodies(1, MESSAGE_CHARS))],
    ["a context", 1, () => log.context()],
    ["a head", 1, () => log.head()],
    ["a list", 1, () => Array.fromAsync(holdfast.list())],
    ["a fork", 2, () => log.fork({ id: "fork" })],
    ["a run that is hydrated", 8, () => holdfast.hydrate(run ?? "")],
    ["a steady prompt by the agent loop", 8, () => agent.send(loop, ASKED)],
    ["a steady prompt to an agent elsewhere", 8, () => runtime.send(elsewhere, ASKED)],
  ];
  const rows: Row[] = [];
  for (const [name, atMost, work] of works) {
    const value = (await counted.during(work)).length;
    rows.push({
      work: `PostgreSQL: round trips of ${name}`,
      against: "a statement",
      value,
      unit: "x",
      budget: { atMost },
      ours: null,
      theirs: null,
    });
  }
  return rows;
}
