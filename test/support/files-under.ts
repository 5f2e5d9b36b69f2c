import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";

/** Everything in a folder and below it. */
export function filesUnder(dir: string): readonly string[] {
  return readdirSync(dir, { recursive: true, withFileTypes: true }).map((found) =>
    join(found.parentPath, found.name),
  );
}

/** Those that hold a text, in their bytes or their names. */
export function secretsUnder(dir: string, secret: string): readonly string[] {
  return filesUnder(dir).filter(
    (path) => path.includes(secret) || (statSync(path).isFile() && readFileSync(path).includes(secret)),
  );
}
