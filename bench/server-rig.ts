import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import pg from "pg";
import type { ServeProcess } from "../test/edges/http/serve-process.ts";
import type { LoopbackPostgres } from "../test/support/loopback-postgres.ts";
import { turnBodies } from "./history.ts";
import type { Side } from "./sample.ts";
import { Line, requestBytes, type Target } from "./server-client.ts";
import { TURN_CHARS } from "./stage.ts";

export const LANES = 16;
export const TAILS = 20; // of each conversation that has some
export const TAILED_AT = 400; // lanes with tails

/** A server in a process of its own, as a client sees it. */
export interface Served extends Target {
  readonly pid: number;
  append(lane: number, turn: number): Buffer;
  context(lane: number): Buffer;
  tail(lane: number): Buffer;
}

function bodyOf(turn: number): string {
  return JSON.stringify({ entries: turnBodies(turn, TURN_CHARS) });
}

export function oursAt({ url, pid }: ServeProcess, token: string): Served {
  const { hostname, port } = new URL(url);
  const target: Target = { host: hostname, port: Number(port), token };
  const at = (lane: number, verb: string): string => `/api/conversations/lane-${lane}/${verb}`;
  return {
    ...target,
    pid,
    append: (lane, turn) => requestBytes(target, { path: at(lane, "entries"), body: bodyOf(turn) }),
    context: (lane) => requestBytes(target, { path: at(lane, "context") }),
    tail: (lane) => requestBytes(target, { path: at(lane, "tail?after=1") }), // after its first entry
  };
}

function floorAt(target: Target, pid: number): Served {
  return {
    ...target,
    pid,
    append: (lane, turn) => requestBytes(target, { path: `/append/${lane}`, body: bodyOf(turn) }),
    context: (lane) => requestBytes(target, { path: `/context/${lane}` }),
    tail: (lane) => requestBytes(target, { path: `/tail/${lane}` }),
  };
}

/** The bare server in a process of its own. */
export async function startFloor(
  kind: string,
  place: string,
  token: string,
): Promise<Served & AsyncDisposable> {
  const program = new URL("server-floor.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [program, kind, place, token], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [port] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return {
    ...floorAt({ host: "127.0.0.1", port: Number(port), token }, child.pid ?? 0),
    async [Symbol.asyncDispose]() {
      const ended = once(child, "close");
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Counts the statements that clients send to a server of PostgreSQL. */
export class StatementCounter implements AsyncDisposable {
  readonly #client: pg.Client;

  private constructor(client: pg.Client) {
    this.#client = client;
  }

  static async open(server: LoopbackPostgres): Promise<StatementCounter> {
    const setting = new pg.Client({ connectionString: server.direct });
    setting.on("error", () => undefined);
    await setting.connect();
    await setting.query("alter system set shared_preload_libraries = 'pg_stat_statements'");
    await setting.end();
    await server.kill();
    await server.restart();
    const client = new pg.Client({ connectionString: server.direct });
    client.on("error", () => undefined);
    await client.connect();
    await client.query("create extension pg_stat_statements");
    return new StatementCounter(client);
  }

  async count(): Promise<number> {
    const { rows } = await this.#client.query<{ calls: string }>(
      "select coalesce(sum(calls), 0) as calls from pg_stat_statements",
    );
    return Number(rows[0]?.calls);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#client.end();
  }
}

/** Open tails of every conversation that has some, and how many entries they have received. */
export class Tails implements Disposable {
  readonly #lines: Line[] = [];
  #heard = 0;
  #wanted = 0;
  #all: (() => void) | null = null;

  static async open(served: Served): Promise<Tails> {
    const tails = new Tails();
    for (let lane = 0; lane < LANES; lane++)
      for (let tail = 0; tail < TAILS; tail++) {
        const line = await Line.open(served);
        tails.#lines.push(line);
        await line.listen(served.tail(TAILED_AT + lane), (events) => tails.#hear(events));
      }
    return tails;
  }

  #hear(events: number): void {
    this.#heard += events;
    if (this.#heard >= this.#wanted) this.#all?.();
  }

  /** Resolves when so many more have come. */
  after(more: number): Promise<void> {
    this.#wanted += more;
    return new Promise((resolve) => (this.#all = resolve));
  }

  [Symbol.dispose](): void {
    for (const line of this.#lines) line[Symbol.dispose]();
  }
}

const TICK_MS = 10;

/** A lap of every client against one server, each on a connection of its own, and the CPU time that the server uses for it. */
export class Laps implements Side {
  readonly #served: Served;
  readonly #act: (line: Line, lane: number) => Promise<void>;
  #lines: readonly Line[] = [];
  #ms = 0;
  #count = 0;

  constructor(served: Served, act: (line: Line, lane: number) => Promise<void>) {
    this.#served = served;
    this.#act = act;
  }

  get count(): number {
    return this.#count;
  }

  /** Of one lap. */
  get cpuMs(): number {
    return this.#ms / this.#count;
  }

  readonly before = async (): Promise<void> => {
    this.#lines = await Promise.all(Array.from({ length: LANES }, () => Line.open(this.#served)));
    this.#ms -= cpuMs(this.#served.pid);
  };

  readonly run = async (): Promise<void> => {
    await Promise.all(this.#lines.map(this.#act));
  };

  readonly after = (): void => {
    this.#ms += cpuMs(this.#served.pid);
    this.#count++;
    for (const line of this.#lines) line[Symbol.dispose]();
  };
}

function cpuMs(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
