/**
 * Goal: nothing acknowledged is lost and no batch is half there, however a process dies.
 * Method: a real process writes to a real store and dies by SIGKILL at a seeded point, 40 times per store (1,000 with HOLDFAST_SOAK);
 * after each death the store is opened again and compared with every acknowledgement ever printed.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { openHoldfast } from "#index";
import { runProgram } from "../support/process-life.ts";
import { tempDir } from "../support/temp-dir.ts";

const KILLS = process.env["HOLDFAST_SOAK"] === undefined ? 40 : 1_000;
const CONVERSATIONS = 3;
const writer = join(import.meta.dirname, "../support/kill-writer.ts");

async function namesIn(address: string): Promise<ReadonlyMap<string, number>> {
  await using holdfast = await openHoldfast({ store: address });
  const parts = new Map<string, number>();
  for (let n = 0; n < CONVERSATIONS; n++) {
    const conversation = await holdfast.conversation(`kill-${n}`);
    let seq = 0;
    for await (const stored of conversation.log()) {
      // A million calls of `expect` would take longer than all the deaths.
      if (stored.seq !== ++seq) expect(stored.seq).toBe(seq);
      const name = /"name":"([^"]+)"/.exec(stored.payload)?.[1];
      if (name !== undefined) parts.set(name, (parts.get(name) ?? 0) + 1);
    }
  }
  return parts;
}

test.concurrent.each(["sqlite", "jsonl"])(
  "the %s store loses nothing acknowledged to kill -9",
  async (kind) => {
    using dir = tempDir("disk");
    const address = `${kind}:${join(dir.path, "store")}`;
    {
      await using holdfast = await openHoldfast({ store: address });
      for (let n = 0; n < CONVERSATIONS; n++) await holdfast.create({ id: `kill-${n}` });
    }
    const acknowledged = new Set<string>();
    for (let seed = 0; seed < KILLS; seed++) {
      const died = await runProgram(writer, address, String(seed), String(CONVERSATIONS));
      expect([died.signal, died.stderr]).toEqual(["SIGKILL", ""]);
      for (const name of died.stdout.split("\n").filter(Boolean)) acknowledged.add(name);
      const found = await namesIn(address);
      const lost = [...acknowledged].filter((name) => found.get(name) !== 3);
      const half = [...found].filter(([, parts]) => parts !== 3);
      expect({ seed, lost, half }).toEqual({ seed, lost: [], half: [] });
    }
    expect(acknowledged.size).toBeGreaterThan(KILLS / 2);
  },
);
