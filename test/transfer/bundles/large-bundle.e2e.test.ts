/**
 * Goal: the size of a bundle does not matter to memory, nor does what a hostile one pretends to be.
 * Method: a process whose heap is smaller than the bundle fills a store, exports it, imports that into another store and exports it
 * again; then it is given files that have no end. With HOLDFAST_SOAK the bundle has 1 GB.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { programFile } from "../../support/programs.ts";
import { tempDir } from "../../support/temp-dir.ts";

const SOAK = process.env["HOLDFAST_SOAK"] !== undefined;
const PROGRAM = join(import.meta.dirname, "../../support/large-bundle.ts");
const [MEGABYTES, HEAP_MB, STORES] = SOAK ? [1_024, 64, ["sqlite", "jsonl"]] : [48, 36, ["sqlite"]];

test.each(STORES)(`${MEGABYTES} MB go through %s in a heap of ${HEAP_MB} MB`, async (kind) => {
  using dir = tempDir();
  const heap = [`--max-old-space-size=${HEAP_MB}`, "--max-semi-space-size=1"];
  const { stdout } = await promisify(execFile)(process.execPath, [
    ...heap,
    programFile(PROGRAM),
    dir.path,
    String(MEGABYTES),
    kind,
  ]);
  if (SOAK) console.log(stdout);
  const told = JSON.parse(stdout) as { bytes: number; same: boolean; refused: object; conversations: number };
  expect(told.bytes).toBeGreaterThan(MEGABYTES * 1_000_000);
  expect([told.same, told.conversations]).toEqual([true, 2]);
  expect(told.refused).toEqual({
    oneLine: "damaged",
    nested: "damaged",
    rubbish: "damaged",
    noBatchEnds: "damaged",
    logs: "damaged",
  });
});
