import { existsSync } from "node:fs";
import { basename, join } from "node:path";

const ROOT = join(import.meta.dirname, "..", "..");
/** Of all that is compiled for a run. */
export const PROGRAMS_BASE: string = join(ROOT, "node_modules", ".cache", "holdfast-programs");
// As deep as the command line is in the sources, whose modules find package.json and each other by their places.
export const PROGRAMS_FOLDER: string = join(PROGRAMS_BASE, "edges", "cli", "programs");

/** Says where the compiled programs of a run are. */
export const PROGRAMS_VARIABLE = "HOLDFAST_TEST_PROGRAMS";

/** The program to start for a source file: the one that was compiled for this run, else the source itself. */
export function programFile(source: string): string {
  const folder = process.env[PROGRAMS_VARIABLE];
  const compiled = folder === undefined ? null : join(folder, `${basename(source, ".ts")}.js`);
  return compiled !== null && existsSync(compiled) ? compiled : source;
}
