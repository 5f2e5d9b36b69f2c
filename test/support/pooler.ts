import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { accessSync, constants } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { createInterface } from "node:readline";
import { AS_ROOT, LOGIN } from "./postgres-data.ts";

/** Set by the lane that runs the tests of PostgreSQL behind pgbouncer. */
export const POOLED: boolean = process.env["HOLDFAST_POOLED"] === "1";

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
export async function startPooler(at: {
  readonly port: number;
  readonly server: number;
}): Promise<AsyncDisposable> {
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
