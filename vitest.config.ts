import { availableParallelism } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification, type Vite } from "vitest/node";
import { isolatedFiles } from "./test/support/isolated-files.ts";
import { PROGRAMS_FOLDER } from "./test/support/programs.ts";

const slow = ["test/**/*.e2e.test.ts", "test/experiments/**/*.test.ts"];
const isolated = isolatedFiles();
const isSlow = (file: string): boolean => /\.e2e\.test\.ts$|^test\/experiments\//.test(file);

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

const IS_SOAK = process.env["HOLDFAST_SOAK"] !== undefined;

/** A test that takes longer hangs, also on a busy machine; `npm run test:soak` repeats tests a thousand times. */
function limits(seconds: number): NonNullable<ViteUserConfig["test"]> {
  const ms = IS_SOAK ? 7_200_000 : seconds * 1_000;
  return { testTimeout: ms, hookTimeout: Math.max(ms, 120_000), expect: { poll: { timeout: (ms * 3) / 4 } } };
}

// Starting a process, loading our modules and starting a browser takes longer than most files; each worker does it once.
const shared = { globalSetup, isolate: false };
const alone = { globalSetup, isolate: true };

/**
 * Those that take longest begin first, and the many that take little fill the end: no core waits for the last one. What shares
 * its processes stands together.
 */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const order = (spec: TestSpecification): number =>
      ["slow", "slow-isolated", "fast-isolated", "fast"].indexOf(spec.project.name);
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
          ...shared,
          ...limits(20),
          name: "fast",
          include: ["test/**/*.test.ts"],
          exclude: [...slow, ...isolated],
        },
      },
      {
        plugins: [compiledPrograms],
        test: {
          ...alone,
          ...limits(20),
          name: "fast-isolated",
          include: isolated.filter((file) => !isSlow(file)),
        },
      },
      {
        plugins: [compiledPrograms],
        test: {
          ...alone,
          ...limits(120),
          name: "slow-isolated",
          include: isolated.filter(isSlow),
        },
      },
      {
        plugins: [compiledPrograms],
        test: {
          ...shared,
          ...limits(120),
          name: "slow",
          globalSetup: [globalSetup, "test/support/build-ui.ts"],
          include: slow,
          exclude: [...isolated],
        },
      },
    ],
  },
});

export default config;
