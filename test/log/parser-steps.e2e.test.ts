/**
 * Goal: no text from outside takes more than its share of time, whatever is in it.
 * Method: a program of its own counts the steps of every parser for a text and for one eight times as long.
 */
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { readJson } from "#log/json/read-json";

interface Row {
  readonly parser: string;
  readonly text: string;
  /** How many times more steps than characters were added. */
  readonly growth: number;
}

test("the steps of every parser grow with the length of its text and no faster", async () => {
  const program = join(import.meta.dirname, "..", "support", "parser-steps.ts");
  const { stdout } = await promisify(execFile)(process.execPath, [program]);
  const rows = stdout
    .trim()
    .split("\n")
    .map((line) => readJson(line) as unknown as Row);
  expect(rows.length).toBeGreaterThan(300);
  expect(rows.filter(({ growth }) => growth > 2)).toEqual([]);
});
