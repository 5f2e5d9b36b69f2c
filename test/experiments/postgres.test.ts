/**
 * Goal: show that the store port's hard verbs are possible on a real PostgreSQL before the port is fixed.
 * Method: a throwaway loopback server, one statement per verb, and races, kills and forks against them.
 */
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type LoopbackPostgres, startPostgres } from "../support/loopback-postgres.ts";
import {
  ACQUIRE,
  APPEND,
  DIAGNOSE,
  FACTS,
  FORK,
  LEAF,
  PAGE,
  PAYLOADS,
  SCHEMA,
  SEQS,
} from "./postgres-sql.ts";

type Position = Readonly<{ conversation: string; segment: string; depth: number; id: string }>;
type Parent = Position | "root";
type Owner = Readonly<{ epoch: number; expected: number }>;
/** `names` are the entries' ids; the first is also the key. With `after` they are nodes, else facts. */
type Batch = Readonly<{ conversation: string; names: string; payload?: string; target?: string }> &
  Readonly<{ owner?: Owner; after?: { parent: Parent; tip: boolean } }>;
type Kind = "appended" | "deduped" | "differs" | "conflict" | "fenced" | "missing";
type Outcome = Readonly<{ kind: Kind; from?: number; to?: number }>;

const SPACE = "acme";
const RIVALS = 8;
const EXPLAIN = "explain (analyze, buffers)";
const OWNER = "select epoch, owner_seq as expected from conversations where conversation = $1";
const WAITING = "select pid from pg_stat_activity where wait_event_type = 'Lock'";

let server: LoopbackPostgres;
let pool: pg.Pool;

const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);
const pageAt = (at: Position): unknown[] => [SPACE, at.conversation, at.segment, at.depth];

/** int8 arrives as text; a seq beyond 2^53 must stop the program, not round. */
function parseSeq(text: string): number {
  if (!Number.isSafeInteger(Number(text))) throw new RangeError(`${text} is not a safe integer`);
  return Number(text);
}

const column = async <T>(sql: string, values: unknown[]): Promise<T[]> =>
  (await pool.query<Record<string, T>>(sql, values)).rows.flatMap((row) => Object.values(row));
const only = async <T extends pg.QueryResultRow>(sql: string, conversation: string): Promise<T> =>
  (await pool.query<T>(sql, [conversation])).rows[0] ?? expect.unreachable(conversation);

/** The first node continues its parent's segment or opens one named after itself; the others follow it. */
function place({ conversation, after }: Batch, first: string | undefined): unknown[] {
  if (after === undefined) return upTo(6).map(() => null);
  if (after.parent === "root") return [first, 1, null, null, 0, null];
  const { segment, depth, id, conversation: home } = after.parent;
  if (after.tip && home === conversation) return [segment, depth + 1, null, null, null, id];
  return [first, depth + 1, home, segment, depth, id];
}

async function append(batch: Batch, db: pg.Pool | pg.ClientBase = pool): Promise<Outcome> {
  const ids = batch.names.split(" ");
  const payloads = ids.map((id) => batch.payload ?? `{"id":"${id}"}`);
  const about = [SPACE, batch.conversation, ids[0]];
  const digest = JSON.stringify([ids, payloads, batch.target]); // a real store hashes this
  const cas = [digest, batch.owner?.epoch, batch.owner?.expected];
  const values = [...about, ...cas, ids, batch.target, payloads, ...place(batch, ids[0])];
  const written = await db.query<{ from: number; to: number }>(APPEND, values).catch((error: unknown) => {
    if (error instanceof pg.DatabaseError && error.code === "23505") return { rows: [] };
    throw error;
  });
  if (written.rows[0] !== undefined) return { kind: "appended", ...written.rows[0] };
  // Key, then epoch, then head; in a new statement, because the rival may be younger than the first snapshot.
  type Row = { epoch: number; digest: string | null; from: number; to: number };
  const found = (await db.query<Row>(DIAGNOSE, about)).rows[0];
  if (found === undefined) return { kind: "missing" };
  const { from, to } = found;
  if (found.digest !== null) return { kind: found.digest === digest ? "deduped" : "differs", from, to };
  return { kind: found.epoch === (batch.owner?.epoch ?? found.epoch) ? "conflict" : "fenced" };
}

/** NaN means busy. */
const acquire = async (conversation: string, writer: string, leaseMs = 60_000): Promise<number> =>
  (await column<number>(ACQUIRE, [SPACE, conversation, writer, leaseMs]))[0] ?? Number.NaN;

async function open(conversation: string, leaseMs?: number): Promise<number> {
  await pool.query("insert into conversations (space, conversation) values ($1, $2)", [SPACE, conversation]);
  return acquire(conversation, "first", leaseMs);
}

const fork = async (conversation: string, source: string, at: Position): Promise<boolean> =>
  (await column(FORK, [SPACE, conversation, source, at.conversation, at.id])).length === 1;

/** Polls until that many statements stand before a lock: each has taken its snapshot and none has gone on. */
async function untilWaiting(count: number): Promise<void> {
  for (let polls = 0; polls < 2_000; polls += 1) if ((await column(WAITING, [])).length === count) return;
}

/** Appends nodes as the current owner and gives back the new leaf. */
async function grow(conversation: string, names: string, parent: Parent, tip = true): Promise<Position> {
  const owner = await only<Owner>(OWNER, conversation);
  expect((await append({ conversation, names, owner, after: { parent, tip } })).kind).toBe("appended");
  return only(LEAF, conversation);
}

beforeAll(async () => {
  server = await startPostgres();
  pg.types.setTypeParser(pg.types.builtins.INT8, parseSeq);
  pool = new pg.Pool({ connectionString: server.url, max: RIVALS + 2 });
  pool.on("error", () => undefined); // unheard, the death of an idle client ends the process
  pool.on("connect", (client) => client.on("error", () => undefined)); // and so does that of a borrowed one
  await pool.query(SCHEMA);
});

afterAll(async () => {
  await pool?.end();
  await server?.[Symbol.asyncDispose]();
});

test("gives every seq to one of eight rivals without a gap, and tells the losers", async () => {
  await open("race");
  const told: Kind[] = [];
  const rival = async (name: number): Promise<void> => {
    for (let turn = 0, tries = 0; turn < 15 && tries < 2_000; tries += 1) {
      const owner = await only<Owner>(OWNER, "race");
      const names = `${name}/${turn}a ${name}/${turn}b`;
      const { kind } = await append({ conversation: "race", names, owner });
      told.push(kind);
      if (kind === "appended") turn += 1;
    }
  };
  await Promise.all(upTo(RIVALS).map((name) => rival(name)));
  expect(new Set(told)).toEqual(new Set(["appended", "conflict"]));
  expect(told.filter((kind) => kind === "appended")).toHaveLength(120);
  expect(await column(SEQS, ["race"])).toEqual(upTo(240));
});

test("writes one copy of a key sent eight times at once, and nothing when its body differs", async () => {
  const outside = { conversation: "keys", names: "x1 x2" };
  const owned = { ...outside, names: "o1 o2", owner: { epoch: await open("keys"), expected: 0 } };
  for (const batch of [owned, outside]) {
    const gate = await pool.connect();
    await gate.query("begin; select from conversations where conversation = 'keys' for update");
    const racing = upTo(RIVALS).map(() => append(batch));
    await untilWaiting(RIVALS);
    await gate.query("commit");
    gate.release();
    const outcomes = await Promise.all(racing);
    const kinds = outcomes.map(({ kind }) => kind).toSorted();
    expect(kinds).toEqual(["appended", ...upTo(RIVALS - 1).map(() => "deduped")]);
    expect(new Set(outcomes.map(({ from, to }) => `${from}-${to}`)).size).toBe(1);
    expect(await append({ ...batch, payload: "{}" })).toMatchObject({ kind: "differs" });
  }
  expect(await column(SEQS, ["keys"])).toEqual(upTo(4));
});

test("fences a stale epoch even when its seq matches, yet answers for a key already written", async () => {
  const epoch = await open("fence", 0);
  const first = { conversation: "fence", names: "f1", owner: { epoch, expected: 0 } };
  await append(first);
  expect(await acquire("fence", "second")).toBe(epoch + 1);
  expect(await acquire("fence", "first"), "busy").toBeNaN();
  expect(await append({ ...first, names: "f2", owner: { epoch, expected: 1 } })).toEqual({ kind: "fenced" });
  expect(await append(first)).toEqual({ kind: "deduped", from: 1, to: 1 });
  expect(await column(SEQS, ["fence"])).toEqual([1]);
});

test("never makes the owner conflict with outside appends, and leaves its leaf alone", async () => {
  const epoch = await open("outside");
  const outsider = async (name: number): Promise<void> => {
    for (const turn of upTo(20)) {
      expect((await append({ conversation: "outside", names: `${name}/${turn}` })).kind).toBe("appended");
    }
  };
  const own = async (expected: number, parent: Parent, depth: number): Promise<void> => {
    const batch = { conversation: "outside", names: `n${depth}`, owner: { epoch, expected } };
    const { kind, to = 0 } = await append({ ...batch, after: { parent, tip: true } });
    const leaf = { conversation: "outside", segment: "n1", depth, id: batch.names };
    expect([kind, await only(LEAF, "outside")]).toEqual(["appended", leaf]);
    if (depth < 40) await own(to, leaf, depth + 1);
  };
  await Promise.all([own(0, "root", 1), ...upTo(4).map((name) => outsider(name))]);
  expect(await column(SEQS, ["outside"])).toEqual(upTo(120));
});

test("pages over interleaved branches and a fork of a fork, and hides what the source adds later", async () => {
  await open("main");
  const a3 = await grow("main", "a1 a2 a3", "root");
  const b1 = await grow("main", "b1", { ...a3, depth: 2, id: "a2" }, false);
  const a4 = await grow("main", "a4", a3);
  const b2 = await grow("main", "b2", b1);
  await append({ conversation: "main", names: "f1", target: "a2" });
  expect([await fork("child", "main", b1), await fork("child", "main", b1)]).toEqual([true, false]);
  const b3 = await grow("main", "b3", b2);
  await append({ conversation: "main", names: "f2", target: "a2" });
  const c2 = await grow("child", "c1 c2", await only(LEAF, "child"));
  await append({ conversation: "child", names: "f3", target: "a2" });
  await fork("grandchild", "child", { ...c2, id: "c1" });
  await append({ conversation: "child", names: "f4", target: "a2" });
  const d1 = await grow("grandchild", "d1", await only(LEAF, "grandchild"));
  const pages = [a4, b3, c2, d1, b1].map((at) => column(PAGE, [...pageAt(at), 10]));
  const paths = ["a4 a3 a2 a1", "b3 b2 b1 a2 a1", "c2 c1 b1 a2 a1", "d1 c1 b1 a2 a1", "b1 a2 a1"];
  expect(await Promise.all(pages)).toEqual(paths.map((path) => path.split(" ")));
  expect(await column(PAGE, [...pageAt(d1), 3])).toEqual(["d1", "c1", "b1"]);
  const facts = ["main", "child", "grandchild"].map((name) => column(FACTS, [SPACE, name, ["a2"]]));
  expect((await Promise.all(facts)).join(" ")).toBe("f1,f2 f1,f3,f4 f1,f3");
  expect(await column(SEQS, ["child"]), "a fork counts its own entries from 1").toEqual(upTo(4));
});

test("forks and reads by index alone, at the same cost in a long conversation as in a short one", async () => {
  const blocks: number[][] = [];
  for (const size of [2_000, 40_000]) {
    const name = `size ${size}`;
    await open(name);
    const leaf = await grow(name, upTo(size).join(" "), "root");
    await append({ conversation: name, names: "label", target: "9" });
    await pool.query("vacuum analyze");
    const fresh = [SPACE, `fork ${size}`, name, name, leaf.id];
    const verbs = { [PAGE]: [...pageAt(leaf), 20], [FACTS]: [SPACE, name, ["9"]], [FORK]: fresh };
    const explained = Object.entries(verbs).map(([sql, values]) => column(`${EXPLAIN} ${sql}`, values));
    const plans = (await Promise.all(explained)).map((lines) => lines.join("\n"));
    expect(plans.join("\n")).not.toContain("Seq Scan on entries");
    expect(plans[0]).toMatch(/Index Scan.* using entries_place/u);
    expect(plans[1]).toMatch(/Scan.* (using|on) entries_target/u);
    const touched = plans.map((plan) => /hit=(\d+)(?: read=(\d+))?/u.exec(plan) ?? []);
    blocks.push(touched.map(([, hit = 0, missed = 0]) => Number(hit) + Number(missed)));
  }
  const [short = [], long = []] = blocks;
  for (const [verb, cost] of long.entries()) expect(cost).toBeLessThanOrEqual((short[verb] ?? 0) + 5);
});

test("gives the payload's text back byte for byte, if it was escaped", async () => {
  await open("text");
  const payloads = [
    String.raw`{"nul":"\u0000","lone":"\ud800","pair":"\ud83d\ude00","slash":"a\\\"b\/"}`,
    '{"big":12345678901234567890,"huge":1e400,"minus":-0,"b":1,"a":2,"b":3}',
    '{ "line":"\u2028\u2029","emoji":"\u{1f600}","braces":"{,}",  "null":null }',
    JSON.stringify({ lone: "\udfff", nul: "\0", long: "x".repeat(200_000) }),
  ];
  for (const [n, payload] of payloads.entries())
    await append({ conversation: "text", names: `${n}`, payload });
  expect(await column(PAYLOADS, ["text"])).toEqual(payloads);
  expect(await column("select $1::text", ["\ud800"]), "unescaped, it is lost in silence").toEqual(["\ufffd"]);
  await expect(column("select $1::text", ["\0"])).rejects.toMatchObject({ code: "22021" });
});

test("leaves all or nothing when a connection is killed mid-append, and a retry completes it once", async () => {
  await open("kill");
  for (const round of upTo(20)) {
    const batch = { conversation: "kill", names: `${round}/1 ${round}/2 ${round}/3 ${round}/4` };
    const [victim, rival] = [await pool.connect(), await pool.connect()];
    const pid = (await victim.query<{ pid: number }>("select pg_backend_pid() as pid")).rows[0]?.pid;
    // Even rounds die inside the statement, where a rival's open transaction holds the third entry's id.
    const inside = round % 2 === 0;
    await rival.query("begin");
    if (inside) await rival.query("insert into entries values ('acme', 'kill', -1, $1)", [`${round}/3`]);
    const dying = append(batch, victim).catch(() => "killed");
    if (inside) await untilWaiting(1);
    await column("select pg_terminate_backend($1, 5000)", [pid]);
    expect(await dying).toSatisfy((last) => !inside || last === "killed");
    await rival.query("rollback");
    victim.release(true);
    rival.release();
    const survived = (await column(SEQS, ["kill"])).length - (round - 1) * 4;
    expect([0, 4]).toContain(survived);
    const kind = survived === 0 ? "appended" : "deduped";
    expect(await append(batch)).toMatchObject({ kind, to: round * 4 });
  }
  expect(await column(SEQS, ["kill"])).toEqual(upTo(80));
});
