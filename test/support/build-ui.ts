/** The web UI as it is shipped, built once before the tests that look at it, and only where its sources are newer. */
import { join } from "node:path";
import { buildUi } from "../../scripts/build-ui.ts";

const ROOT = join(import.meta.dirname, "..", "..");
// Where the compiled command line looks for it, too.
export const UI_FOLDER: string = join(ROOT, "node_modules", ".cache", "dist", "ui");

export function setup(): Promise<void> {
  return buildUi(UI_FOLDER);
}
