import { execFile } from "node:child_process";
import { cpSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const ROOT = join(import.meta.dirname, "..", "..");

/** Builds and packs what would be published, in a folder of its own: another test may do the same. Returns the file. */
export async function packInto(folder: string): Promise<string> {
  const stage = join(folder, "stage");
  for (const part of ["package.json", "README.md", "LICENSE", "CHANGELOG.md", "docs"])
    cpSync(join(ROOT, part), join(stage, part), { recursive: true });
  const tsc = join(ROOT, "node_modules/.bin/tsc");
  await run(tsc, ["-p", join(ROOT, "tsconfig.build.json"), "--outDir", join(stage, "dist")]);
  await run(process.execPath, [join(ROOT, "scripts/relative-imports.ts"), join(stage, "dist")]);
  await run("npm", ["pack", "--ignore-scripts", "--pack-destination", folder], { cwd: stage });
  return join(folder, readdirSync(folder).find((file) => file.endsWith(".tgz")) ?? "");
}

/** Puts what the package depends on beside it, as it is installed here: no network is asked. */
export function installDependencies(folder: string): void {
  const { dependencies = {} } = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
    dependencies?: { readonly [name: string]: string };
  };
  for (const name of Object.keys(dependencies))
    cpSync(join(ROOT, "node_modules", name), join(folder, "node_modules", name), { recursive: true });
}
