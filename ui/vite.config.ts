import { join } from "node:path";
import { defineConfig, type UserConfig } from "vite";

const config: UserConfig = defineConfig({
  root: import.meta.dirname,
  publicDir: false,
  build: {
    outDir: join(import.meta.dirname, "..", "dist", "ui"),
    emptyOutDir: true,
    target: "es2023",
    assetsInlineLimit: 0, // the content security policy knows no inline scripts or styles
    modulePreload: { polyfill: false },
    manifest: true,
    reportCompressedSize: false,
  },
});

export default config;
