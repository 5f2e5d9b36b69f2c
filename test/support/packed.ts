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
  symlinkSync,
} from "node:fs";
import { basename, join } from "node:path";
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

/** Copies the dependencies of the package, and links their programs: npm asks the registry for a package without its links. */
export function installDependencies(folder: string): void {
  const { dependencies = {} } = readPackage(ROOT);
  const links = join(folder, "node_modules", ".bin");
  mkdirSync(links, { recursive: true });
  for (const name of Object.keys(dependencies)) {
    const source = join(ROOT, "node_modules", name);
    cpSync(source, join(folder, "node_modules", name), { recursive: true });
    const { bin = {} } = readPackage(source);
    const programs = typeof bin === "string" ? { [basename(name)]: bin } : bin;
    for (const [program, file] of Object.entries(programs))
      symlinkSync(join("..", name, file), join(links, program));
  }
}

interface Package {
  readonly dependencies?: { readonly [name: string]: string };
  readonly bin?: string | { readonly [program: string]: string };
}

function readPackage(folder: string): Package {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as Package;
}
