/**
 * Goal: processes with one memory lose nothing that was acknowledged and bring nothing back that was erased, also when one of them is
 * killed in the middle of any write.
 * Method: real processes save and erase at the same time on a real store; what each was told is compared with what is remembered.
 */
import { spawn } from "node:child_process";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { Memory } from "#agent/memory/memory";
import { Holdfast } from "#conversation/holdfast";
import { openStore } from "#open";
import { tempDir } from "../../support/temp-dir.ts";
import { programFile } from "../../support/programs.ts";

const WRITER = programFile(join(import.meta.dirname, "../../support/memory-writer.ts"));

interface Ran {
  readonly keys: readonly string[];
  readonly killed: boolean;
}

async function run(...args: readonly (string | number)[]): Promise<Ran> {
  const child = spawn(process.execPath, [WRITER, ...args.map(String)], { stdio: ["ignore", "pipe", "pipe"] });
  const ended = new Promise<boolean>((resolve) =>
    child.on("exit", (_, signal) => resolve(signal === "SIGKILL")),
  );
  const [out, err] = await Promise.all([text(child.stdout), text(child.stderr)]);
  expect(err).toBe("");
  return { keys: out.split("\n").filter(Boolean), killed: await ended };
}

async function remembered(address: string): Promise<readonly string[]> {
  await using store = await openStore(address);
  const live = await new Memory(new Holdfast(store, "default")).list("user");
  return live.map(({ key }) => key).toSorted();
}

// Every write is met by a soak; its neighbours meet one another otherwise.
const STRIDE = process.env["HOLDFAST_SOAK"] === undefined ? 3 : 1;

test.each(["sqlite", "jsonl"])(
  "%s: three at once keep all that was acknowledged, and nothing that was erased",
  async (kind) => {
    using dir = tempDir();
    const address = `${kind}:${join(dir.path, "store")}`;
    const ran = await Promise.all(["a", "b", "c"].map((name) => run(address, name, 12)));
    expect(ran.map(({ killed }) => killed)).toEqual([false, false, false]);
    expect(await remembered(address)).toEqual(ran.flatMap(({ keys }) => keys).toSorted());
  },
);

test.each(["sqlite", "jsonl"])(
  "%s: one that is killed at any write leaves a memory that the next one goes on with",
  async (kind) => {
    for (let dieAt = 2; ; dieAt += STRIDE) {
      using dir = tempDir();
      const address = `${kind}:${join(dir.path, "store")}`;
      const first = await run(address, "a", 3, dieAt);
      if (!first.killed) {
        expect(dieAt).toBeGreaterThan(14);
        break;
      }
      const second = await run(address, "b", 2);
      const live = await remembered(address);
      expect(live).toEqual(expect.arrayContaining([...first.keys, ...second.keys]));
      // What was being saved when it died may be there or not; all else is known.
      const known = new Set([...first.keys, ...second.keys]);
      expect(live.filter((key) => !known.has(key)).length).toBeLessThanOrEqual(1);
    }
  },
);
