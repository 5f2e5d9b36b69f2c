import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

/** The pages of the web UI as they were built: shipped with the package; null in a checkout where they were not. */
export function builtUi(): string | null {
  const folder = fileURLToPath(new URL("../../../../dist/ui", import.meta.url));
  return existsSync(folder) ? folder : null;
}
