import { setTimeout as pause } from "node:timers/promises";
import { StoredTokens } from "../src/edges/http/index.ts";
import { openHoldfast } from "../src/open.ts";
import { startServer } from "../test/edges/http/serve-process.ts";
import { startPostgres } from "../test/support/loopback-postgres.ts";
import { turnBodies } from "./history.ts";
import { type Budget, type Row, slower } from "./report.ts";
import { alternate, type Side, type Timing, timingOf } from "./sample.ts";
import { Line, requestBytes } from "./server-client.ts";
import {
  LANES,
  Laps,
  oursAt,
  type Served,
  startFloor,
  StatementCounter,
  TAILED_AT,
  Tails,
  TAILS,
} from "./server-rig.ts";
import { type Stage, TURN_CHARS } from "./stage.ts";

const TURNS_AT = 600; // lanes that are sent prompts
const TURNS = 5; // of a client in a lap, each in another conversation
const CONTEXTS_AT = 500; // lanes that stay as they are
const CONTEXT_TURNS = 5; // twenty messages
const CROWD = 256;
const LAPS = 20;
const WARM_MS = 1_000;
const NEWCOMERS = 64; // that connect at once, as after a restart of a proxy
const NEWCOMERS_MS = 1_000;

/** `holdfast serve` against a bare server on the same store, both in processes of their own, in turn. */
export async function measureServer(stage: Stage): Promise<readonly Row[]> {
  const sqlite = await measureOn("SQLite", { url: stage.path("server.db"), count: null }, stage);
  await using server = await startPostgres({ fsync: true });
  await using counter = await StatementCounter.open(server);
  const count = (): Promise<number> => counter.count();
  return [...sqlite, ...(await measureOn("PostgreSQL", { url: server.url, count }, stage))];
}

interface Place {
  readonly url: string;
  /** Statements so far; null where nothing counts them. */
  readonly count: (() => Promise<number>) | null;
}

async function measureOn(name: string, place: Place, stage: Stage): Promise<readonly Row[]> {
  const store = name === "SQLite" ? `sqlite:${place.url}` : place.url;
  const token = await prepare(store);
  const quiet = ["--log-level", "warn", "--agent", "simulated", "--speed", "1000", "--rate", "1000000"];
  await using server = await startServer(store, ...quiet);
  await using floor = await startFloor(
    name,
    name === "SQLite" ? stage.path("server-floor.db") : store,
    token,
  );
  const ours = oursAt(server, token);
  using line = await Line.open(floor);
  for (let lane = CONTEXTS_AT; lane < CONTEXTS_AT + LANES; lane++)
    for (let turn = 0; turn < CONTEXT_TURNS; turn++) await line.ask(floor.append(lane, turn));
  const rig: Rig = { stage, name, ours, floor, count: place.count };
  const isSqlite = name === "SQLite";
  const measures = [
    () => measureLaps(rig, "append", { atMost: isSqlite ? 1.5 : 2 }),
    () => measureLaps(rig, "context", { atMost: isSqlite ? 1.8 : 2 }),
    () => measureTurns(rig),
    () => measureNewcomers(rig),
    () => measureHeard(rig, { atMost: isSqlite ? 2 : 3 }),
  ];
  const rows: Row[] = [];
  for (const measure of measures) {
    rows.push(await measure());
    stage.say(`measured: ${rows.at(-1)?.work ?? ""}`);
  }
  return rows;
}

/** Conversations to append to, and others of twenty messages; a token for them. */
async function prepare(store: string): Promise<string> {
  await using holdfast = await openHoldfast({ store });
  for (const [from, count] of [
    [0, CROWD],
    [TURNS_AT, LANES * TURNS],
    [TAILED_AT, LANES],
    [CONTEXTS_AT, LANES],
  ] as const)
    for (let lane = from; lane < from + count; lane++) {
      const log = await holdfast.create({ id: `lane-${lane}` });
      if (from !== CONTEXTS_AT) continue;
      for (let turn = 0; turn < CONTEXT_TURNS; turn++) await log.append(turnBodies(turn, TURN_CHARS));
    }
  return (await new StoredTokens(holdfast).add({ token: "bench", space: "default", rights: "write" })).secret;
}

interface Rig {
  readonly stage: Stage;
  readonly name: string;
  readonly ours: Served;
  readonly floor: Served;
  readonly count: Place["count"];
}

const WORK = {
  append: { text: "append", per: 20, from: 0 },
  context: { text: "context of 20 messages", per: 20, from: CONTEXTS_AT },
} as const;

/** Laps of ours and of the floor in turn; a lap is some requests of every client. */
async function measureLaps(
  { stage, name, ours, floor }: Rig,
  verb: keyof typeof WORK,
  budget: Budget,
): Promise<Row> {
  const { text, per, from } = WORK[verb];
  const laps = (served: Served): Laps =>
    new Laps(served, async (line, lane) => {
      for (let n = 0; n < per; n++) await line.ask(served[verb](from + lane, n));
    });
  const sides = { ours: laps(ours), floor: laps(floor) };
  const times = await alternate(sides, stage.plan(LAPS * 2, 60_000));
  return slower(`${text} over HTTP, ${LANES} clients, ${name}`, "a bare server", {
    ours: times.ours,
    theirs: times.floor,
    budget,
    note: `the times are of ${per * LANES}; ${cpuNote(sides, per * LANES)}`,
  });
}

function cpuNote({ ours, floor }: { readonly ours: Laps; readonly floor: Laps }, count: number): string {
  const [mine, bare] = [ours, floor].map(({ cpuMs }) => cpuMs / count);
  return `a request takes ${mine?.toFixed(2)} ms of CPU, in the bare server ${bare?.toFixed(2)}`;
}

/** A lap is over when every tail has what was appended. */
async function measureHeard({ stage, name, ours, floor }: Rig, budget: Budget): Promise<Row> {
  const per = 5;
  const heardPerLap = LANES * TAILS * per * turnBodies(0, 0).length;
  const laps = (served: Served): Laps =>
    new Laps(served, async (line, lane) => {
      for (let n = 0; n < per; n++) await line.ask(served.append(TAILED_AT + lane, n));
    });
  const sides = { ours: laps(ours), floor: laps(floor) };
  using heardOurs = await Tails.open(ours);
  using heardFloor = await Tails.open(floor);
  const heard = ({ before, run, after }: Laps, tails: Tails): Side => ({
    before,
    after,
    run: () => Promise.all([tails.after(heardPerLap), run()]),
  });
  const times = await alternate(
    { ours: heard(sides.ours, heardOurs), floor: heard(sides.floor, heardFloor) },
    stage.plan(LAPS, 60_000),
  );
  return slower(
    `append over HTTP, ${LANES} clients, ${TAILS} tails on each conversation, ${name}`,
    "a bare server",
    {
      ours: times.ours,
      theirs: times.floor,
      budget,
      note: `the times are of ${per * LANES}, until every tail has them; ${cpuNote(sides, per * LANES)}`,
    },
  );
}

/** Prompts to the simulated agent, each with its events until the turn has ended. */
async function measureTurns({ stage, name, ours, count }: Rig): Promise<Row> {
  const body = JSON.stringify({ content: "hello" });
  const laps = new Laps(ours, async (line, lane) => {
    for (let n = 0; n < TURNS; n++) {
      const path = `/api/conversations/lane-${TURNS_AT + n * LANES + lane}/turns`;
      await line.ask(requestBytes(ours, { path, body, accept: "text/event-stream" }));
    }
  });
  const statementsBefore = (await count?.()) ?? 0;
  const { turns } = await alternate({ turns: laps }, stage.plan(LAPS, 60_000));
  const statements = ((await count?.()) ?? 0) - statementsBefore;
  const cpuMs = laps.cpuMs / (TURNS * LANES);
  const note = `${(turns.medianMs / TURNS).toFixed(1)} ms from the prompt to the end, ${LANES} at once; ${cpuMs.toFixed(2)} ms of CPU`;
  const work = `a turn with its events over HTTP, ${name}`;
  const row = { against: "the clock", ours: null, theirs: null, note };
  return count === null
    ? { ...row, work: `CPU of ${work}`, value: cpuMs, unit: "ms", budget: { atMost: 2 } }
    : {
        ...row,
        work: `statements of ${work}`,
        value: statements / laps.count / (TURNS * LANES),
        unit: "statements",
        budget: { atMost: 8 },
      };
}

/** While many clients ask all the time others connect, many at once: how long a new one waits for its first answer, from the moment it connects. */
async function measureNewcomers({ stage, name, ours, floor }: Rig): Promise<Row> {
  const ms = stage.quick ? 3_000 : 10_000;
  const waits = { ours: await crowded(ours, ms), floor: await crowded(floor, ms) };
  const ratio = ({ fresh, known }: Crowded): number => fresh.p99Ms / known.p99Ms;
  return {
    work: `p99 of the first answer on a new connection among ${CROWD} clients over HTTP, ${name}`,
    against: "that of the others",
    value: ratio(waits.ours),
    unit: "x",
    budget: { atMost: 3 },
    ours: waits.ours.fresh,
    theirs: waits.ours.known,
    note: `${waits.ours.fresh.samples} new connections; a bare server ${ratio(waits.floor).toFixed(1)} x`,
  };
}

interface Crowded {
  readonly fresh: Timing;
  readonly known: Timing;
}

async function crowded(served: Served, ms: number): Promise<Crowded> {
  const taken = { fresh: [] as number[], known: [] as number[] };
  const from = performance.now() + WARM_MS;
  const until = from + ms;
  const timed = async (times: number[], act: () => Promise<unknown>): Promise<void> => {
    const started = performance.now();
    await act();
    if (started >= from) times.push(performance.now() - started);
  };
  const established = Array.from({ length: CROWD }, async (_, lane) => {
    using line = await Line.open(served);
    while (performance.now() < until) await timed(taken.known, () => line.ask(served.append(lane, 1)));
  });
  const newcomers: Promise<void>[] = [];
  const arrive = (lane: number): Promise<void> =>
    timed(taken.fresh, async () => {
      using line = await Line.open(served);
      await line.ask(served.append(lane, 1));
    });
  while (performance.now() < until) {
    for (let lane = 0; lane < NEWCOMERS; lane++) newcomers.push(arrive(lane));
    await pause(NEWCOMERS_MS);
  }
  await Promise.all([...established, ...newcomers]);
  return { fresh: timingOf(taken.fresh), known: timingOf(taken.known) };
}
