import { execFile } from "node:child_process";
import { cpSync, readdirSync } from "node:fs";
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
