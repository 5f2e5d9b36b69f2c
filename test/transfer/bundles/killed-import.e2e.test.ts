/**
 * Goal: an import that was killed anywhere leaves nothing that could be taken for whole, and run again it is as if it had never been cut off.
 * Method: a process that dies by SIGKILL around each of its writes, then the same import once more.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { isLogError } from "#log/errors";
import { openHoldfast } from "#open";
import { inMemoryStore } from "#stores/in-memory/index";
import { importBundle } from "#transfer/bundles/import-bundle";
import { user } from "../../support/a-log.ts";
import { bundleText, fileOfText } from "../../support/bundle-text.ts";
import { wholeFamily } from "../../support/hostile-bundles.ts";
import { runProgram } from "../../support/process-life.ts";
import { tempDir } from "../../support/temp-dir.ts";

const SOAK = process.env["HOLDFAST_SOAK"] !== undefined;
const PROGRAM = join(import.meta.dirname, "../../support/killed-import.ts");
const family = await wholeFamily(new Holdfast(inMemoryStore(), "s"));
const text = await bundleText(family);
const WRITES = 11; // of the import of that family: a test says so

describe.each(["sqlite", "jsonl"])("into %s", (kind) => {
  const moments = Array.from({ length: WRITES * 2 }, (_, at) => at + 2);
  const some = SOAK ? moments : moments.filter((at) => at % 7 === (kind === "sqlite" ? 5 : 1));

  test.each(some)(
    "killed at moment %i, nothing looks whole, and the next run completes it",
    async (dieAt) => {
      using dir = tempDir();
      const file = join(dir.path, "family.jsonl");
      writeFileSync(file, text);
      const address =
        kind === "sqlite" ? `sqlite:${join(dir.path, "store.db")}` : `jsonl:${join(dir.path, "store")}`;
      const { signal } = await runProgram(PROGRAM, address, file, String(dieAt));
      expect(signal).toBe("SIGKILL");
      await using holdfast = await openHoldfast({ store: address });
      for await (const { conversation, headSeq } of holdfast.listAll()) {
        const chat = await holdfast.conversation(conversation);
        const whole = (await family.find(({ id }) => id === conversation)?.head())?.headSeq;
        // Behind its first batch it has not been taken yet; from then on nobody goes on with a part of it.
        const begun = headSeq === (conversation === "root" ? 2 : 1);
        if (headSeq === whole || begun) continue;
        const went = await chat.append(user("on")).catch((error: unknown) => isLogError(error) && error.code);
        expect(went).toBe("busy");
      }
      await importBundle(holdfast, fileOfText(text)).catch((error: unknown) => {
        // All of it may have been there; then that is what it says.
        expect(isLogError(error, "conversation_exists")).toBe(true);
      });
      const copies = [await holdfast.conversation("root"), await holdfast.conversation("fork")];
      expect(await bundleText(copies)).toBe(text);
      for (const copy of copies) expect((await copy.head()).lease).toBeNull();
      expect(await holdfast.check({ repair: false })).toEqual([]);
    },
  );
});

test("an import that nothing kills makes as many writes as there are moments", async () => {
  using dir = tempDir();
  const file = join(dir.path, "family.jsonl");
  writeFileSync(file, text);
  const { stdout } = await runProgram(PROGRAM, `jsonl:${join(dir.path, "store")}`, file);
  expect(Number(stdout)).toBe(WRITES);
});
