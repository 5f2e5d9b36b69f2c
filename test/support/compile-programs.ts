/**
 * What tests start in processes of their own, put together once for a run. From source each process finds, reads and links
 * hundreds of modules, which takes longer than what most of them are started for.
 */
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, join } from "node:path";
import { rolldown } from "rolldown";
import type { TestProject } from "vitest/node";
import { PROGRAMS_BASE, PROGRAMS_FOLDER, PROGRAMS_VARIABLE } from "./programs.ts";

const ROOT = join(import.meta.dirname, "..", "..");
const OLD_MS = 3_600_000;

const SOURCES: readonly string[] = [
  "src/edges/cli/main.ts",
  "src/edges/cli/chat/demo-host.ts",
  "src/stores/sqlite/thread/writer-thread.ts",
  "src/stores/sqlite/read/reading-thread.ts",
  "src/stores/sqlite/copier.ts",
  "src/stores/sqlite/checker.ts",
  "src/agent/tools/search-thread.ts",
  ...readdirSync(join(ROOT, "examples")).flatMap((name) =>
    name.endsWith(".ts") ? [`examples/${name}`] : [],
  ),
  "test/support/scripted-agent/scripted-agent.ts",
  "test/agent/loop/run-host.ts",
  "test/agent/steps/steps-worker.ts",
  "test/support/agent-process.ts",
  "test/support/kill-at-act.ts",
  "test/support/kill-writer.ts",
  "test/support/killed-import.ts",
  "test/support/large-bundle.ts",
  "test/support/long-turn.ts",
  "test/support/mcp-host.ts",
  "test/support/memory-writer.ts",
  "test/support/node-process.ts",
  "test/support/pooled-host.ts",
  "test/support/process-writer.ts",
  "test/support/shell-host.ts",
];

/** Vitest calls it before the tests of a project, and again before those that are run again. */
export async function setup(project: TestProject): Promise<void> {
  project.onTestsRerun(compile);
  if (process.env[PROGRAMS_VARIABLE] === undefined) await compile();
  process.env[PROGRAMS_VARIABLE] = PROGRAMS_FOLDER;
}

async function compile(): Promise<void> {
  const input = Object.fromEntries(SOURCES.map((file) => [basename(file, ".ts"), join(ROOT, file)]));
  const external = (id: string): boolean => !/^[./#]/.test(id);
  await using build = await rolldown({ input, cwd: ROOT, platform: "node", external });
  const { output } = await build.generate({
    format: "esm",
    entryFileNames: "[name].js",
    chunkFileNames: "[name]-[hash].js",
  });
  mkdirSync(PROGRAMS_FOLDER, { recursive: true });
  copyFileSync(join(ROOT, "package.json"), join(PROGRAMS_BASE, "package.json"));
  put(join(PROGRAMS_FOLDER, "..", "main.js"), `import "./programs/main.js";\n`);
  // Parts before those that begin: another run may start them at any time.
  const parts = output.filter((one) => one.type === "chunk");
  for (const part of parts.toSorted((a, b) => Number(a.isEntry) - Number(b.isEntry)))
    put(join(PROGRAMS_FOLDER, part.fileName), part.code);
  const names = new Set(parts.map(({ fileName }) => fileName));
  for (const name of readdirSync(PROGRAMS_FOLDER)) {
    const file = join(PROGRAMS_FOLDER, name);
    if (!names.has(name) && Date.now() - statSync(file).mtimeMs > OLD_MS) rmSync(file, { force: true });
  }
}

/** Writes a file whole or not at all; one that is as it should be stays. */
function put(file: string, text: string): void {
  if (existsSync(file) && readFileSync(file, "utf8") === text) return;
  const beside = `${file}.${process.pid}`;
  writeFileSync(beside, text);
  renameSync(beside, file);
}
