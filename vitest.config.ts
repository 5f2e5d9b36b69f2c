import { defineConfig, type ViteUserConfig } from "vitest/config";

const slow = ["test/**/*.e2e.test.ts", "test/experiments/**/*.test.ts"];

const config: ViteUserConfig = defineConfig({
  test: {
    projects: [
      { test: { name: "fast", include: ["test/**/*.test.ts"], exclude: slow, testTimeout: 60_000 } },
      { test: { name: "slow", include: slow, testTimeout: 540_000, hookTimeout: 120_000 } },
    ],
  },
});

export default config;
