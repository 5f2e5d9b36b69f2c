/**
 * Writes the golden files of the current format version, once: a JSONL store, a SQLite store, an export, and what was read
 * from them. What was released never changes, so a folder that is there is not written again.
 */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { FORMAT_VERSION } from "#log/entry";
import { openHoldfast } from "#open";
import { goldenChat } from "../test/compat/golden-chat.ts";
import { readingOf } from "../test/compat/reading.ts";
import { runCli } from "../test/edges/cli/cli-run.ts";

const golden = join(import.meta.dirname, "..", "test", "compat", "golden", `v${FORMAT_VERSION}`);
if (existsSync(golden)) throw new Error(`${golden} is there already`);
const work = mkdtempSync(join(tmpdir(), "holdfast-golden-"));
const readings: string[] = [];
for (const store of [`jsonl:${join(work, "jsonl")}`, `sqlite:${join(work, "store.db")}`]) {
  await using holdfast = await openHoldfast({ store });
  await goldenChat(holdfast);
  readings.push(`${JSON.stringify(await readingOf(holdfast), null, 2)}\n`);
}
const [expected = "", other] = readings;
if (expected !== other) throw new Error("The stores do not read the same");
const exported = await runCli(`jsonl:${join(work, "jsonl")}`, [
  "export",
  "chat",
  "-o",
  join(work, "export.jsonl"),
]);
if (exported.status !== 0) throw new Error(exported.err);
mkdirSync(golden, { recursive: true });
cpSync(join(work, "jsonl"), join(golden, "jsonl"), {
  recursive: true,
  filter: (path) => !path.endsWith(".lock"),
});
writeFileSync(join(golden, "store.db.gz"), gzipSync(readFileSync(join(work, "store.db")), { level: 9 }));
cpSync(join(work, "export.jsonl"), join(golden, "export.jsonl"));
writeFileSync(join(golden, "expected.json"), expected);
rmSync(work, { recursive: true });
