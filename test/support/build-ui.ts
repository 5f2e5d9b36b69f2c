/** The web UI as it is shipped, built once before the tests that look at it, and only where its sources are newer. */
import { existsSync, globSync, statSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";

const ROOT = join(import.meta.dirname, "..", "..");
// Where the compiled command line looks for it, too.
export const UI_FOLDER: string = join(ROOT, "node_modules", ".cache", "dist", "ui");
const SOURCES = ["ui/**/*.{ts,tsx,css,html,svg}", "src/edges/http/{client,routes}/*.ts", "src/log/**/*.ts"];

export async function setup(): Promise<void> {
  const built = join(UI_FOLDER, "index.html");
  if (existsSync(built) && newest() < statSync(built).mtimeMs) return;
  await build({
    configFile: join(ROOT, "ui", "vite.config.ts"),
    logLevel: "error",
    build: { outDir: UI_FOLDER, emptyOutDir: true },
  });
}

function newest(): number {
  const files = SOURCES.flatMap((pattern) => globSync(pattern, { cwd: ROOT }));
  return Math.max(...files.map((file) => statSync(join(ROOT, file)).mtimeMs));
}
