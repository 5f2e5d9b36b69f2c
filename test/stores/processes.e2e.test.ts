/**
 * Goal: several processes on one store and on one conversation lose nothing, share no seq, and each loser is told.
 * Method: real processes race on a real store; what each was told it won is compared with the log.
 */
import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { openHoldfast } from "#index";
import { tempDir } from "../support/temp-dir.ts";
import { programFile } from "../support/programs.ts";

const writer = programFile(join(import.meta.dirname, "../support/process-writer.ts"));

async function run(...args: readonly string[]): Promise<readonly string[]> {
  const child = spawn(process.execPath, [writer, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(err).toBe("");
  return out.split("\n").filter(Boolean);
}

test.each(["sqlite", "jsonl"])(
  "the %s store gives each seq to one of many processes and tells the others",
  async (kind) => {
    using dir = tempDir();
    const address = `${kind}:${join(dir.path, "store")}`;
    await using holdfast = await openHoldfast({ store: address });
    const conversation = await holdfast.create({ id: "shared" });
    const lines = await Promise.all(["a", "b", "c", "d"].map((name) => run(address, "owner", name, "40")));
    const won = lines
      .flatMap((process) => process.filter((line) => line !== "lost").map(Number))
      .toSorted((a, b) => a - b);
    expect(won).toEqual(Array.from({ length: 160 }, (_, n) => n + 2));
    expect(lines.flat()).toContain("lost");
    const entries = await Array.fromAsync(conversation.log());
    expect(entries.map((entry) => entry.seq)).toEqual(Array.from({ length: 161 }, (_, n) => n + 1));
    expect(await conversation.branch()).toHaveLength(161);
  },
);

test.each(["sqlite", "jsonl"])(
  "labels and steers from other processes never disturb the owner of a turn on the %s store",
  async (kind) => {
    using dir = tempDir();
    const address = `${kind}:${join(dir.path, "store")}`;
    await using holdfast = await openHoldfast({ store: address });
    const conversation = await holdfast.create({ id: "shared" });
    await using owner = await conversation.own({ writer: "turn", leaseMs: 600_000 });
    let outside = 0;
    const others = ["x", "y"].map(async (name) => {
      const told = await run(address, "outside", name, "30");
      outside += told.length;
    });
    const finished = Promise.all(others).then(() => true);
    let turns = 0;
    while (
      !(await Promise.race([finished, new Promise<false>((resolve) => setImmediate(() => resolve(false)))]))
    ) {
      await owner.append({ type: "custom", customType: "turn", data: turns++ });
    }
    expect(outside).toBe(60);
    const branch = await conversation.branch();
    expect(branch.filter((entry) => entry.type === "custom").map((entry) => entry.data)).toEqual(
      Array.from({ length: turns }, (_, n) => n),
    );
    expect((await conversation.head()).headSeq).toBe(1 + turns + outside);
    expect(await conversation.queue()).toHaveLength(30);
  },
);

test("two processes that write without a pause do not make the log of the sqlite store grow for ever", async () => {
  using dir = tempDir();
  const path = join(dir.path, "store");
  await using holdfast = await openHoldfast({ store: `sqlite:${path}` });
  const conversation = await holdfast.create({ id: "shared" });
  await Promise.all(["a", "b"].map((name) => run(`sqlite:${path}`, "flood", name, "150")));
  expect((await conversation.head()).headSeq).toBe(1 + 2 * 40 * 150);
  // They wrote some 400 MB.
  expect(statSync(`${path}-wal`).size).toBeLessThan(200_000_000);
});
