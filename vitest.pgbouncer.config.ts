import { defineConfig, type ViteUserConfig } from "vitest/config";

/** Every test of the store in PostgreSQL behind pgbouncer, which is in no package: transactions of all share one connection. */
const config: ViteUserConfig = defineConfig({
  test: {
    include: [
      "test/stores/postgres/*.pgbouncer.ts",
      "test/stores/postgres/*.e2e.test.ts",
      "test/edges/cli/**/*postgres*.e2e.test.ts",
    ],
    // A standby takes the place of a server, and a pooler would only be told where it is; and a writer that waits for another's
    // transaction has the one connection to itself, so that nobody else is beside it.
    exclude: [
      "test/stores/postgres/postgres-standby.e2e.test.ts",
      "test/stores/postgres/postgres-feed.e2e.test.ts",
    ],
    globalSetup: "test/support/compile-programs.ts",
    env: { HOLDFAST_POOLED: "1" },
    expect: { poll: { timeout: 60_000 } },
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

export default config;
