/** What servers and their store take while they run, and whether it grows. */
import { readdirSync, readFileSync, statSync } from "node:fs";
import pg from "pg";
import type { Servers } from "./servers.ts";

export interface Sample {
  readonly minute: number;
  /** By the server that is never killed. */
  readonly rssMb: number;
  readonly heapMb: number;
  /** Tails that it has open, each of which takes a descriptor. */
  readonly streams: number;
  readonly descriptors: number;
  /** The file beside the database, or the folder of PostgreSQL. */
  readonly walMb: number;
  readonly storeMb: number;
  readonly connections: number;
  readonly operations: number;
}

const MB = 1_048_576;

export async function sampled(servers: Servers, at: { minute: number; operations: number }): Promise<Sample> {
  const { pid, url } = servers.at(0);
  const database = servers.postgres === null ? null : await databaseFigures(servers.postgres.direct);
  return {
    ...at,
    rssMb: residentMb(pid),
    ...(await ownFigures(url, servers.token)),
    descriptors: counted(`/proc/${pid}/fd`),
    walMb: database?.walMb ?? sizeMb(`${servers.file ?? ""}-wal`),
    storeMb: database?.storeMb ?? sizeMb(servers.file ?? ""),
    connections: database?.connections ?? 0,
  };
}

function residentMb(pid: number): number {
  try {
    const [, kb = "0"] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
    return Math.round(Number(kb) / 1_024);
  } catch {
    return 0;
  }
}

function counted(folder: string): number {
  try {
    return readdirSync(folder).length;
  } catch {
    return 0;
  }
}

function sizeMb(file: string): number {
  const { size = 0 } = statSync(file, { throwIfNoEntry: false }) ?? {};
  return Math.round((size / MB) * 10) / 10;
}

async function ownFigures(url: string, token: string): Promise<Pick<Sample, "heapMb" | "streams">> {
  try {
    const headers = { authorization: `Bearer ${token}` };
    const response = await fetch(`${url}/metrics`, { headers, signal: AbortSignal.timeout(5_000) });
    const text = await response.text();
    const figure = (name: string): number => Number(new RegExp(`^${name} (\\S+)`, "m").exec(text)?.[1] ?? 0);
    const bytes = figure("nodejs_heap_size_used_bytes");
    return { heapMb: Math.round(bytes / MB), streams: figure("holdfast_http_open_streams") };
  } catch {
    return { heapMb: 0, streams: 0 };
  }
}

const FIGURES = `select (select sum(size) from pg_ls_waldir())::float8 as wal, pg_database_size(current_database())::float8 as store,
  (select count(*) from pg_stat_activity where backend_type = 'client backend')::int as connections`;

async function databaseFigures(
  connectionString: string,
): Promise<Pick<Sample, "walMb" | "storeMb" | "connections"> | null> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 5_000, query_timeout: 5_000 });
  client.on("error", () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<{ wal: number; store: number; connections: number }>(FIGURES);
    const [{ wal, store, connections } = { wal: 0, store: 0, connections: 0 }] = rows;
    return { walMb: Math.round(wal / MB), storeMb: Math.round(store / MB), connections };
  } catch {
    return null;
  } finally {
    await client.end().catch(() => undefined);
  }
}

const FIGURE_NAMES = [
  "rssMb",
  "heapMb",
  "descriptors",
  "streams",
  "walMb",
  "storeMb",
  "connections",
] as const;

/** Each figure at the beginning and at the end (a sixth of the time each), its maximum and its slope per hour. */
export function trends(samples: readonly Sample[]): readonly object[] {
  const part = Math.max(1, Math.floor(samples.length / 6));
  return FIGURE_NAMES.map((name) => {
    const values = samples
      .map((sample) => ({ x: sample.minute / 60, y: sample[name] }))
      .filter(({ y }) => y > 0);
    const mean = (some: typeof values): number =>
      Math.round((some.reduce((sum, { y }) => sum + y, 0) / Math.max(1, some.length)) * 10) / 10;
    const [x, y] = [mean(values.map((one) => ({ x: 0, y: one.x * 1e6 }))) / 1e6, mean(values)];
    const over = values.reduce((sum, one) => sum + (one.x - x) * (one.y - y), 0);
    const under = values.reduce((sum, one) => sum + (one.x - x) ** 2, 0);
    return {
      figure: name,
      first: mean(values.slice(0, part)),
      last: mean(values.slice(-part)),
      max: Math.max(0, ...values.map((one) => one.y)),
      perHour: under === 0 ? 0 : Math.round((over / under) * 10) / 10,
    };
  });
}
