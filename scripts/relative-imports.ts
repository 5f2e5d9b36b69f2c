/**
 * Names the neighbours of compiled files by their paths. Sources import each other as `#log/entry`, which the `imports` of the
 * package lead into `src`; what is published has no sources, and not every bundler reads a package.json further down.
 * `node scripts/relative-imports.ts FOLDER` rewrites the files in a folder, `dist` unless it is given.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join, posix } from "node:path";
import { fileURLToPath } from "node:url";

/** The text of a compiled file whose path below the top is given, with `/` between its parts. */
export function withRelativeImports(text: string, path: string): string {
  return text.replaceAll(/((?:\bfrom|\bimport)\s*\(?\s*")#([^"]+)"/g, (_, start: string, target: string) => {
    const way = posix.relative(posix.dirname(path), target);
    return `${start}${way.startsWith(".") ? way : `./${way}`}.js"`;
  });
}

function rewrite(folder: string): void {
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" });
  for (const file of files.filter((name) => /\.(?:js|d\.ts)$/.test(name))) {
    const path = join(folder, file);
    const text = readFileSync(path, "utf8");
    const rewritten = withRelativeImports(text, file.replaceAll("\\", "/"));
    if (rewritten !== text) writeFileSync(path, rewritten);
  }
  // An earlier build had one here.
  rmSync(join(folder, "package.json"), { force: true });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) rewrite(process.argv[2] ?? "dist");
