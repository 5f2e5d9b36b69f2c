/**
 * Goal: a queue that an app runs on is moved into a log message by message, while it runs.
 * Method: a real queue of Absurd, filled by its own SDK; what is brought is compared with the step results in its tables. With
 * HOLDFAST_ABSURD_ROWS=FILE its rows are recorded there, which `npm test` migrates, too.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { recordRows, rowLines } from "../support/absurd-rows.ts";
import { poolOf } from "../support/postgres-subject.ts";
import { tempDir } from "../support/temp-dir.ts";
import { checkMigrated } from "../transfer/migrate/absurd-cases.ts";
import type { QueueAddress } from "./absurd-lane.ts";
import { type AbsurdServer, startAbsurd } from "./absurd-server.ts";
import { fillQueue } from "./fill-queue.ts";

let server: AbsurdServer;

beforeAll(async () => {
  server = await startAbsurd();
});

afterAll(async () => {
  await server?.[Symbol.asyncDispose]();
});

test("a queue that runs is brought as far as it has come, and the rest behind it, each step's messages once", async () => {
  using folder = tempDir();
  const { url, queue } = JSON.parse(server.queue()) as QueueAddress;
  const pool = poolOf(url, 4);
  const filled = await fillQueue(pool, queue);
  const given = { pool, url, queue, store: `sqlite:${join(folder.path, "log.db")}` };
  const first = await checkMigrated(given);
  expect(first.conversations).toHaveLength(3);
  // What is behind a task that waits is brought when that has ended: so the order never changes.
  expect(first.messages).toBe(2 * (1 + 12 * 2 + 1) + 4 + 2);
  const rows = process.env["HOLDFAST_ABSURD_ROWS"];
  if (rows !== undefined) writeFileSync(rows, rowLines(await recordRows(pool, queue)));
  await filled.allow();
  const rest = await checkMigrated(given);
  expect(rest).toEqual({ messages: 2 + 4, conversations: ["files@example.org"] });
  await pool.end();
});
