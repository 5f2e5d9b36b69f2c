import { availableParallelism } from "node:os";
import { join } from "node:path";
import { defineConfig, type ViteUserConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// `npm run test:soak` takes its time: a thousand kills, thousands of conversations.
const slowMs = process.env["HOLDFAST_SOAK"] === undefined ? 540_000 : 7_200_000;
const slow = ["test/**/*.e2e.test.ts", "test/experiments/**/*.test.ts"];

// From source, every writer thread strips types with a WebAssembly module; threads that come and go at the same time
// can trip over each other in V8 (nodejs/node#64500) when such code is compiled anew.
const execArgv = ["--wasm-wrapper-tiering-budget=2000000000"];

// Every process and thread that is started from source would strip the types of the same files again.
process.env["NODE_COMPILE_CACHE"] ??= join(import.meta.dirname, "node_modules", ".cache", "compiled");

const globalSetup = "test/support/compile-programs.ts";

// Only a hang meets it: a busy machine takes its time.
const expect = { poll: { timeout: 150_000 } };

/** Those that take longest begin first, and the many that take little fill the end: no core waits for the last one. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isShort = (spec: TestSpecification): number => Number(spec.project.name !== "slow");
    const byLength = super.sort.bind(this);
    return (await byLength(files)).toSorted((a, b) => isShort(a) - isShort(b));
  }
}

const config: ViteUserConfig = defineConfig({
  test: {
    // Many tests wait for a process or a disk; the default leaves a core idle, which is half of a small machine.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    sequence: { sequencer: LongFirst },
    projects: [
      {
        test: {
          name: "fast",
          globalSetup,
          expect,
          include: ["test/**/*.test.ts"],
          exclude: slow,
          testTimeout: 180_000,
          hookTimeout: 180_000,
          execArgv,
        },
      },
      {
        test: {
          name: "slow",
          globalSetup: [globalSetup, "test/support/build-ui.ts"],
          expect,
          include: slow,
          testTimeout: slowMs,
          hookTimeout: 180_000,
          execArgv,
        },
      },
    ],
  },
});

export default config;
