import { readFileSync } from "node:fs";
import { setTimeout as pause } from "node:timers/promises";
import type { Conversation } from "../src/conversation/conversation.ts";
import { type Client, createClient } from "../src/edges/http/client/index.ts";
import { StoredTokens } from "../src/edges/http/index.ts";
import { openHoldfast } from "../src/open.ts";
import { startServer } from "../test/edges/http/serve-process.ts";
import { startPostgres } from "../test/support/loopback-postgres.ts";
import { turnBodies } from "./history.ts";
import { type Row, slower } from "./report.ts";
import { type Timing, timingOf } from "./sample.ts";
import { type Stage, TURN_CHARS } from "./stage.ts";

const LANES = 16;
const TAILS = 1_000;
const WARM_MS = 2_000;
const IDLE_MS = 3_000;
const CYCLE = ["append", "context", "append", "context", "append", "context", "append", "send"] as const;
type Verb = (typeof CYCLE)[number];
type Acts = { readonly [V in Verb]?: (lane: number) => Promise<unknown> };

/** A server in a process of its own: a mix of appends, contexts and turns with a thousand open tails, and what the library takes for the same. */
export async function measureServer(stage: Stage): Promise<readonly Row[]> {
  const sqlite = await measureOn("SQLite", `sqlite:${stage.path("server.db")}`, stage);
  await using server = await startPostgres({ fsync: true });
  return [...sqlite, ...(await measureOn("PostgreSQL", server.url, stage))];
}

async function measureOn(name: string, store: string, stage: Stage): Promise<readonly Row[]> {
  const ms = stage.quick ? 4_000 : 15_000;
  const token = await prepare(store);
  const served = await overHttp(store, token, ms);
  const direct = await byLibrary(store, ms);
  const rate = (times: Times): string => `${Math.round((times.count / ms) * 1_000)} a second`;
  const note = `${LANES} clients, ${TAILS} open tails: ${rate(served)} in all over HTTP, the library alone ${rate(direct)}`;
  const idle = `${served.heard.samples} appends heard; the idle server with its tails uses ${served.idlePercent.toFixed(1)} % of a core`;
  const row = (work: string, ours: Timing, more: string): Row => ({
    work: `${work} over HTTP, ${name}`,
    against: "the clock",
    value: ours.medianMs,
    unit: "ms",
    budget: null,
    ours,
    theirs: null,
    note: more,
  });
  return [
    slower(`append under mixed load over HTTP, ${name}`, "the library's, as many at once", {
      ours: served.append,
      theirs: direct.append,
      note,
    }),
    slower(`context under mixed load over HTTP, ${name}`, "the library's, as many at once", {
      ours: served.context,
      theirs: direct.context,
    }),
    row(
      "a turn of the simulated agent, sent and told to its end,",
      served.send,
      "the agent itself takes a few ms",
    ),
    row("from an append to the tail that hears it", served.heard, idle),
  ];
}

/** A conversation for each tail; those of the clients have something in them. */
async function prepare(store: string): Promise<string> {
  await using holdfast = await openHoldfast({ store });
  for (let lane = 0; lane < TAILS; lane++) {
    const log = await holdfast.create({ id: laneId(lane) });
    if (lane >= LANES) continue;
    for (const one of [log, await holdfast.create({ id: directId(lane) })])
      for (let turn = 0; turn < 5; turn++) await one.append(turnBodies(turn, TURN_CHARS));
  }
  return (await new StoredTokens(holdfast).add({ token: "bench", space: "default", rights: "write" })).secret;
}

interface Times {
  readonly append: Timing;
  readonly context: Timing;
  readonly send: Timing;
  readonly count: number;
}

async function overHttp(
  store: string,
  token: string,
  ms: number,
): Promise<Times & { readonly heard: Timing; readonly idlePercent: number }> {
  await using server = await startServer(store, "--speed", "1000", "--rate", "1000000");
  const client = createClient({ url: server.url, token });
  const heard = new Heard();
  await using tails = await openTails(client, heard);
  await pause(tails.settleMs);
  const before = cpuMs(server.pid);
  await pause(IDLE_MS);
  const idlePercent = ((cpuMs(server.pid) - before) / IDLE_MS) * 100;
  let made = 0;
  const times = await load(ms, {
    append: async (lane) => {
      const id = `entry-${lane}-${made++}`;
      heard.asked(id);
      const [first, ...others] = turnBodies(made, TURN_CHARS);
      await client.appendEntries({ conversation: laneId(lane), entries: [{ ...first, id }, ...others] });
    },
    context: (lane) => client.getContext({ conversation: laneId(lane) }),
    send: async (lane) => {
      const conversation = laneId(lane);
      const turn = await client.send({ conversation, content: "hello" });
      for await (const entry of client.turnEvents(turn)) if (entry.type === "turn_end") return;
    },
  });
  return { ...times, heard: timingOf(heard.takenMs), idlePercent };
}

/** From the moment at which an append is asked for to that at which the first tail hears it. */
class Heard {
  readonly takenMs: number[] = [];
  readonly #asked = new Map<string, number>();

  asked(id: string): void {
    this.#asked.set(id, performance.now());
  }

  heard(id: string): void {
    const from = this.#asked.get(id);
    if (from === undefined) return;
    this.#asked.delete(id);
    this.takenMs.push(performance.now() - from);
  }
}

async function openTails(
  client: Client,
  heard: Heard,
): Promise<AsyncDisposable & { readonly settleMs: number }> {
  const stop = new AbortController();
  const { signal } = stop;
  const open = Promise.withResolvers<void>();
  let opened = 0;
  const tails = Array.from({ length: TAILS }, async (_, at) => {
    let isOpen = false;
    for await (const entry of client.tail({ conversation: laneId(at) }, { signal })) {
      if (!isOpen && ++opened === TAILS) open.resolve();
      isOpen = true;
      heard.heard(entry.id);
    }
  });
  await open.promise;
  return {
    settleMs: WARM_MS,
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await Promise.allSettled(tails);
    },
  };
}

async function byLibrary(store: string, ms: number): Promise<Times> {
  await using holdfast = await openHoldfast({ store });
  const logs: Conversation[] = [];
  for (let lane = 0; lane < LANES; lane++) logs.push(await holdfast.conversation(directId(lane)));
  let made = 0;
  return await load(ms, {
    append: async (lane) => logs[lane]?.append(turnBodies(made++, TURN_CHARS)),
    context: async (lane) => logs[lane]?.context(),
  });
}

/** Every lane goes through the cycle, one act after the other; the first while is not counted. */
async function load(ms: number, acts: Acts): Promise<Times> {
  const taken: { readonly [V in Verb]: number[] } = { append: [], context: [], send: [] };
  const from = performance.now() + WARM_MS;
  let count = 0;
  await Promise.all(
    Array.from({ length: LANES }, async (_, lane) => {
      for (let at = lane; performance.now() < from + ms; at++) {
        const verb = CYCLE[at % CYCLE.length] ?? "append";
        const started = performance.now();
        await acts[verb]?.(lane);
        if (started < from || acts[verb] === undefined) continue;
        taken[verb].push(performance.now() - started);
        count++;
      }
    }),
  );
  const { append, context, send } = taken;
  return { append: timingOf(append), context: timingOf(context), send: timingOf(send), count };
}

function laneId(lane: number): string {
  return `lane-${lane}`;
}

/** What the library writes to: contexts grow alike on both sides. */
function directId(lane: number): string {
  return `direct-${lane}`;
}

const TICK_MS = 10;

/** What a process has used so far. */
function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
