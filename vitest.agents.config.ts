import { defineConfig, type ViteUserConfig } from "vitest/config";

/** Real agents: big to install, slow to start, so they run only when asked for, one file after the other. */
const config: ViteUserConfig = defineConfig({
  test: {
    include: ["test/agents/**/*.agents.ts"],
    fileParallelism: false,
    testTimeout: 240_000,
    hookTimeout: 900_000,
  },
});

export default config;
