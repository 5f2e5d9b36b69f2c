/** One run: clients, faults and samples for so many operations or so long, and then the check of all that was answered. */
import { readFileSync } from "node:fs";
import pg from "pg";
import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import { isLogError } from "#log/errors";
import { judgeConversation } from "#testing/index";
import { checkHistory } from "./check-history.ts";
import { Clients } from "./clients.ts";
import { type FinalLog, History } from "./history.ts";
import { Nemesis, pause } from "./nemesis.ts";
import { Random } from "./random.ts";
import { type Sample, sampled } from "./samples.ts";
import { Servers, type StoreKind } from "./servers.ts";
import { ApiError, type Client } from "#edges/http/client/index";

const TRIES = 60;

/** Ends every turn that is open, as a client would; those that do not end are returned in words. */
async function recoverTurns(clients: Clients): Promise<readonly string[]> {
  const client = clients.client({ retries: 100 });
  const stuck: string[] = [];
  for (const conversation of clients.live) {
    const problem = await recovered(client, conversation);
    if (problem !== null) stuck.push(`${conversation}: ${problem}`);
  }
  return stuck;
}

async function recovered(client: Client, conversation: string): Promise<string | null> {
  let last = "";
  for (let tries = 0; tries < TRIES; tries++) {
    try {
      const { openTurn } = await client.getConversation({ conversation });
      if (openTurn === null) return null;
      if (openTurn.left) await goOn(client, conversation);
      else await pause(200);
      last = openTurn.left ? "is left" : "runs on";
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      if (error.code === "conversation_not_found") return null;
      last = `${error.code} ${error.message}`;
      await pause(200);
    }
  }
  return `its turn does not end: ${last}`;
}

async function goOn(client: Client, conversation: string): Promise<void> {
  const turn = await client.continueTurn({ conversation }).catch(async (error: unknown) => {
    // Where nothing came back, or it cannot be known what was done, a new prompt settles it.
    if (error instanceof ApiError && error.code === "invalid_request")
      return client.send({ conversation, content: "remember s=settled" });
    throw error;
  });
  for await (const entry of client.turnEvents(turn)) void entry;
}

export interface SoakOptions {
  readonly store: StoreKind;
  readonly servers: number;
  readonly clients: number;
  readonly conversations: number;
  /** It ends after so many operations, or so long. */
  readonly operations: number;
  readonly minutes: number;
  /** Operations a second of all clients together; Infinity: as fast as they are answered. */
  readonly pace: number;
  readonly faults: number;
  /** How long a process or a connection is silent at most. */
  readonly silentMs: number;
  readonly seed: number;
  readonly sampleMs: number;
  /** Told what happens. */
  readonly log: (line: string) => void;
}

export interface SoakResult {
  readonly violations: readonly string[];
  readonly samples: readonly Sample[];
  readonly figures: Readonly<Record<string, unknown>>;
  /** All that was asked, answered and sent, and the logs in the end. */
  readonly history: Pick<History, "operations" | "tails" | "crashes">;
  readonly logs: ReadonlyMap<string, FinalLog>;
}

const REST_MS = 120_000;

export async function soak(options: SoakOptions): Promise<SoakResult> {
  await using servers = await Servers.open(options.store, options.servers);
  return await new Run(options, servers).run();
}

class Run {
  readonly #options: SoakOptions;
  readonly #servers: Servers;
  readonly #history = new History();
  readonly #clients: Clients;
  readonly #nemesis: Nemesis;
  readonly #samples: Sample[] = [];
  readonly #sinceMs = performance.now();
  #isOver = false;

  constructor(options: SoakOptions, servers: Servers) {
    [this.#options, this.#servers] = [options, servers];
    this.#clients = new Clients(servers, this.#history, new Random(options.seed), options.conversations);
    this.#nemesis = new Nemesis({
      servers,
      history: this.#history,
      random: new Random(options.seed + 1),
      silentMs: options.silentMs,
      // One process lives through the run, or at least through half of it, so that what grows can be seen.
      mayKill: (at) => (servers.list.length > 1 ? at > 0 : this.#progress() < 0.5),
    });
  }

  #minutes(): number {
    return (performance.now() - this.#sinceMs) / 60_000;
  }

  /** How much of the run is done, 0 to 1. */
  #progress(): number {
    return Math.max(this.#clients.done / this.#options.operations, this.#minutes() / this.#options.minutes);
  }

  async run(): Promise<SoakResult> {
    const { clients, conversations, log } = this.#options;
    for (let made = 0; made < conversations; made++) await this.#clients.create();
    log(`${this.#clients.live.length} conversations on ${this.#options.store}`);
    const sampling = this.#sample();
    const trouble = this.#trouble();
    await Promise.all(Array.from({ length: clients }, () => this.#work()));
    await trouble;
    this.#isOver = true;
    await sampling;
    log(`${this.#clients.done} operations after ${this.#minutes().toFixed(1)} minutes; now the rest`);
    return this.#end();
  }

  async #work(): Promise<void> {
    const { clients, pace } = this.#options;
    while (this.#progress() < 1) {
      await this.#clients.step();
      if (Number.isFinite(pace)) await pause((clients / pace) * 1_000);
    }
  }

  async #trouble(): Promise<void> {
    const { faults, log } = this.#options;
    for (let at = 1; at <= faults; at++) {
      while (this.#progress() < at / (faults + 1)) await pause(50);
      await this.#nemesis.strike();
      if (at % 20 === 0) log(`${at} faults, ${this.#clients.done} operations`);
    }
  }

  async #sample(): Promise<void> {
    const { sampleMs, log } = this.#options;
    for (let next = 0; !this.#isOver; await pause(250)) {
      if (performance.now() - this.#sinceMs < next) continue;
      next += sampleMs;
      const minute = Math.round(this.#minutes() * 100) / 100;
      const sample = await sampled(this.#servers, { minute, operations: this.#clients.done });
      this.#samples.push(sample);
      log(JSON.stringify(sample));
    }
  }

  async #end(): Promise<SoakResult> {
    const { log } = this.#options;
    const { operations, tails } = this.#history;
    const stuck = await recoverTurns(this.#clients);
    const names = new Set(operations.map(({ conversation }) => conversation));
    const logs = new Map<string, FinalLog>();
    for (const name of names) {
      const final = await this.#finalLog(name);
      if (final !== null) logs.set(name, final);
    }
    log(`${logs.size} of ${names.size} conversations are there`);
    await this.#clients.endTails((name) => logs.get(name)?.entries.length ?? null, REST_MS);
    const findings = (await this.#servers.holdfast.check({ repair: false })).map((one) =>
      JSON.stringify(one),
    );
    const present = new Set(logs.keys());
    // A fork whose answer was lost is there, and keeps what it inherited, though no client goes on with it.
    for (const { target } of operations.filter(({ kind }) => kind === "fork"))
      if (target !== undefined && !names.has(target) && (await this.#finalLog(target)) !== null)
        present.add(target);
    const remains = await this.#remains(present);
    const crashed = this.#servers.list.flatMap(({ crashes }, at) =>
      crashes > 0 ? [`server ${at} ended by itself ${crashes} times`] : [],
    );
    const violations = [...crashed, ...stuck, ...checkHistory(this.#history, { logs, findings, remains })];
    const count = (outcome: string): number => operations.filter((one) => one.outcome === outcome).length;
    const repeated = operations.length - new Set(operations.map(({ key }) => key)).size;
    const figures = {
      operations: this.#clients.done,
      tries: operations.length,
      ok: count("ok"),
      failed: count("failed"),
      unknown: count("unknown"),
      repeated,
      erases: operations.filter(({ kind, outcome }) => kind === "erase" && outcome === "ok").length,
      tails: tails.length,
      tailEntries: tails.reduce((sum, { seen }) => sum + seen.length, 0),
      conversations: names.size,
      entries: [...logs.values()].reduce((sum, { entries }) => sum + entries.length, 0),
      faults: Object.fromEntries(this.#nemesis.counts),
      minutes: Math.round(this.#minutes() * 10) / 10,
      codes: countsOf(operations.flatMap(({ code }) => (code === undefined ? [] : [code]))),
    };
    return { violations, samples: this.#samples, figures, history: this.#history, logs };
  }

  async #finalLog(name: string): Promise<FinalLog | null> {
    try {
      const conversation = await this.#servers.holdfast.conversation(name);
      const entries: Entry[] = [];
      for await (const stored of conversation.log()) entries.push(decodeEntry(stored));
      const { leaf } = await conversation.head();
      return { entries, leaf: leaf.id, problems: await judgeConversation(conversation) };
    } catch (error) {
      if (isLogError(error, "conversation_not_found")) return null;
      throw error;
    }
  }

  /** How many places still have text of a conversation that is gone; a fork that is there keeps what it inherited. */
  async #remains(present: ReadonlySet<string>): Promise<ReadonlyMap<string, number>> {
    const sources = new Map(
      this.#history.operations.flatMap(({ kind, target, conversation }) =>
        kind === "fork" && target !== undefined ? [[target, conversation]] : [],
      ),
    );
    const held = new Set<string>();
    for (const name of present)
      for (let at: string | undefined = name; at !== undefined; at = sources.get(at)) held.add(at);
    const { postgres } = this.#servers;
    const marks = postgres === null ? this.#marksInFile() : await marksIn(postgres.direct);
    return new Map([...marks].filter(([name]) => !held.has(name)));
  }

  #marksInFile(): ReadonlyMap<string, number> {
    const text = readFileSync(this.#servers.file ?? "", "latin1");
    return countsOfMarks([...text.matchAll(/mark-(c-\d+);/g)].map(([, name = ""]) => name));
  }
}

function countsOfMarks(names: readonly string[]): ReadonlyMap<string, number> {
  return new Map(Object.entries(countsOf(names)));
}

function countsOf(names: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries([...Map.groupBy(names, (name) => name)].map(([name, all]) => [name, all.length]));
}

/** In every row of every table. */
async function marksIn(connectionString: string): Promise<ReadonlyMap<string, number>> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    const tables = await client.query<{ name: string }>(
      "select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname = 'holdfast'",
    );
    const names: string[] = [];
    for (const { name } of tables.rows) {
      const { rows } = await client.query<{ mark: string }>(
        `select m[1] as mark from ${name} t, regexp_matches(t::text, 'mark-(c-[0-9]+);', 'g') m`,
      );
      names.push(...rows.map(({ mark }) => mark));
    }
    return countsOfMarks(names);
  } finally {
    await client.end();
  }
}
