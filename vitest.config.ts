import { availableParallelism } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification, type Vite } from "vitest/node";
import { PROGRAMS_FOLDER } from "./test/support/programs.ts";

const slow = ["test/**/*.e2e.test.ts", "test/experiments/**/*.test.ts"];
// They put other modules in the place of ours, so they get modules that nobody else has loaded.
const alone = ["test/simulation/planted.test.ts", "test/transfer/inherited-facts.test.ts"];

/** Threads and processes that our sources start are those that were compiled for the run (test/support/compile-programs.ts). */
const compiledPrograms: Vite.Plugin = {
  name: "compiled-programs",
  enforce: "pre",
  transform: (code) =>
    code.includes('import.meta.url.endsWith(".ts")')
      ? code.replaceAll("import.meta.url", JSON.stringify(pathToFileURL(join(PROGRAMS_FOLDER, "a.js")).href))
      : undefined,
};

// Every process and thread that is started from source would strip the types of the same files again.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules", ".cache", "compiled");

const globalSetup = "test/support/compile-programs.ts";

const every = {
  globalSetup,
  // Starting a process, loading our modules and starting a browser takes longer than most files; each worker does it once.
  isolate: false,
  // Only a hang meets these: a busy machine takes its time, and so does `npm run test:soak`, with a thousand kills.
  expect: { poll: { timeout: 150_000 } },
  testTimeout: process.env["HOLDFAST_SOAK"] === undefined ? 540_000 : 7_200_000,
  hookTimeout: 180_000,
};

/**
 * Those that take longest begin first, and the many that take little fill the end: no core waits for the last one. What shares
 * its processes stands together.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = (spec: TestSpecification): number =>
      ["slow", "fast-alone", "fast"].indexOf(spec.project.name);
    const byLength = super.sort.bind(this);
    return (await byLength(files)).toSorted((a, b) => order(a) - order(b));
  }
}

const config: ViteUserConfig = defineConfig({
  test: {
    // Many tests wait for a process or a disk; the default leaves a core idle, which is half of a small machine.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    sequence: { sequencer: LongFirst },
    projects: [
      {
        plugins: [compiledPrograms],
        test: {
          ...every,
          name: "fast",
          include: ["test/**/*.test.ts"],
          exclude: [...slow, ...alone],
        },
      },
      { plugins: [compiledPrograms], test: { ...every, name: "fast-alone", include: alone, isolate: true } },
      {
        plugins: [compiledPrograms],
        test: {
          ...every,
          name: "slow",
          globalSetup: [globalSetup, "test/support/build-ui.ts"],
          include: slow,
        },
      },
    ],
  },
});

export default config;
