/** Builds the web UI into a folder where it is missing, or where something that it is made of is newer. `npm start` does so first. */
import { existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { newestChangeMs } from "./newest-change.ts";

const ROOT = join(import.meta.dirname, "..");
const SOURCES = [
  "ui/**",
  "src/edges/http/{client,routes}/*.ts",
  "src/log/**/*.ts",
  "src/operations/text.ts",
  "src/transfer/views/*.ts",
  "package-lock.json",
];

export async function buildUi(folder: string, onBuild: () => void = () => undefined): Promise<void> {
  const built = join(folder, "index.html");
  if (isWhole(folder, built) && newestChangeMs(SOURCES) < statSync(built).mtimeMs) return;
  onBuild();
  await build({
    configFile: join(ROOT, "ui", "vite.config.ts"),
    logLevel: "error",
    build: { outDir: folder, emptyOutDir: true },
  });
}

/** Whether all that the page names is there: a build that was cut off leaves less. */
function isWhole(folder: string, page: string): boolean {
  if (!existsSync(page)) return false;
  const named = readFileSync(page, "utf8").matchAll(/"\/(assets\/[\w.-]+)"/g);
  return [...named].every(([, path = ""]) => existsSync(join(folder, path)));
}

if (import.meta.main)
  await buildUi(join(ROOT, "dist", "ui"), () => process.stderr.write("Building the web UI …\n"));
