import { execFile } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { newestChangeMs } from "../../scripts/newest-change.ts";
import { HANG_MS } from "./hang.ts";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..", "..");
const CACHE = join(ROOT, "node_modules", ".cache", "holdfast-packed");
const PACKED = join(CACHE, "packed.tgz");
const BESIDE = ["package.json", "README.md", "LICENSE", "CHANGELOG.md", "docs"];
const SOURCES = [...BESIDE, "docs/**", "src/**", "scripts/relative-imports.ts", "tsconfig*.json"];

/** What would be published, built and packed by the first that asks, and again only where something of it is newer. */
export async function packedFile(): Promise<string> {
  mkdirSync(CACHE, { recursive: true });
  // Others that ask meanwhile wait, in whatever process; the lock of one that dies is gone with it.
  using lock = new DatabaseSync(join(CACHE, "lock.db"), { timeout: HANG_MS });
  lock.exec("begin exclusive");
  if (!existsSync(PACKED) || newestChangeMs(SOURCES) >= statSync(PACKED).mtimeMs) await pack();
  return PACKED;
}

async function pack(): Promise<void> {
  const stage = join(CACHE, "stage");
  rmSync(stage, { recursive: true, force: true });
  for (const part of BESIDE) cpSync(join(ROOT, part), join(stage, part), { recursive: true });
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  // What is compiled is the same whether its types are checked or not; `npm run check` has checked them.
  await run(tsc, ["-p", join(ROOT, "tsconfig.build.json"), "--noCheck", "--outDir", join(stage, "dist")]);
  await run(process.execPath, [join(ROOT, "scripts/relative-imports.ts"), join(stage, "dist")]);
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", stage], { cwd: stage });
  const made = readdirSync(stage).find((file) => file.endsWith(".tgz")) ?? "";
  renameSync(join(stage, made), PACKED);
}

/** Puts what the package depends on beside it, as it is installed here: no network is asked. */
export function installDependencies(folder: string): void {
  const { dependencies = {} } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    dependencies?: { readonly [name: string]: string };
  };
  for (const name of Object.keys(dependencies))
    cpSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name), { recursive: true });
}
