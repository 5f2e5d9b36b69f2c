import { globSync, statSync } from "node:fs";
import { join } from "node:path";

const ROOT = join(import.meta.dirname, "..");

/** When the newest of these files and folders of the tree was changed. A folder changes when a file of it goes. */
export function newestChangeMs(patterns: readonly string[]): number {
  const files = patterns.flatMap((pattern) => globSync(pattern, { cwd: ROOT }));
  return Math.max(...files.map((file) => statSync(join(ROOT, file)).mtimeMs));
}
