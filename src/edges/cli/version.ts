import { readFileSync } from "node:fs";
import { readJson } from "#log/json/read-json";

/** The version in the package's own manifest, the same from the sources and from the build. */
export function packageVersion(): string {
  const manifest: unknown = readJson(readFileSync(new URL("../../../package.json", import.meta.url), "utf8"));
  return typeof manifest === "object" && manifest !== null && "version" in manifest
    ? String(manifest.version)
    : "unknown";
}
