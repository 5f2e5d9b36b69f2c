import { existsSync } from "node:fs";
import { basename, join } from "node:path";

/** Says where the compiled programs of a run are. */
export const PROGRAMS_VARIABLE = "HOLDFAST_TEST_PROGRAMS";

/** The program to start for a source file: the one that was compiled for this run, else the source itself. */
export function programFile(source: string): string {
  const folder = process.env[PROGRAMS_VARIABLE];
  const compiled = folder === undefined ? null : join(folder, `${basename(source, ".ts")}.js`);
  return compiled !== null && existsSync(compiled) ? compiled : source;
}
