/** The web UI as it is shipped, built once before the tests that look at it, and only where its sources are newer; and the browser. */
import { join } from "node:path";
import chromium from "@sparticuz/chromium";

const ROOT = join(import.meta.dirname, "..", "..");
// Where the compiled command line looks for it, too.
export const UI_FOLDER: string = join(ROOT, "node_modules", ".cache", "dist", "ui");

export async function setup(): Promise<void> {
  // Tests import this file for the folder, and have no use for what builds it.
  const { buildUi } = await import("../../scripts/build-ui.ts");
  await buildUi(UI_FOLDER);
  // It unpacks itself: of two files that ask at the same time, one would start what the other has half written.
  await chromium.executablePath();
}
