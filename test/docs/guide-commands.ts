import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../edges/cli/cli-run.ts";

/** The command lines of a guide, in the order in which they stand there. */
export function guideCommands(guide: string): readonly string[] {
  const text = readFileSync(join(ROOT, "docs/how-to", guide), "utf8");
  return [...text.matchAll(/^```sh[^\n]*\n([\s\S]*?)^```$/gm)].flatMap(([, code = ""]) =>
    code.split("\n").filter(Boolean),
  );
}
