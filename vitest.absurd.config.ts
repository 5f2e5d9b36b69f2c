import { defineConfig, type ViteUserConfig } from "vitest/config";

/** Absurd on a real PostgreSQL: its SQL is in no package, so this runs where the file is given. */
const config: ViteUserConfig = defineConfig({
  test: {
    include: ["test/absurd/**/*.absurd.ts"],
    fileParallelism: false,
    testTimeout: 120_000,
    hookTimeout: 120_000,
  },
});

export default config;
