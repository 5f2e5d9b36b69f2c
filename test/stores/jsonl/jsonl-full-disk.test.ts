import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { user } from "#store/contract/rig";
import { jsonlStore } from "#stores/jsonl/index";
import { append, create, idsIn, SPACE } from "../../support/jsonl-rig.ts";
import { tempDir } from "../../support/temp-dir.ts";

test.runIf(process.platform !== "win32")(
  "a disk without room is told as one, by every verb that writes",
  async () => {
    using dir = tempDir();
    const space = jsonlStore({ dir: dir.path }).space(SPACE);
    await create(space, "a", [user("kept", "m1")]);
    await append(space, "a", [user("kept too", "m2")]);
    const writer = join(import.meta.dirname, "../../support/full-disk-writer.ts");
    // No file of the child may grow: to a program that is what a full disk is.
    const said = execFileSync("sh", [
      "-c",
      'ulimit -f 0 && exec "$0" "$@"',
      process.execPath,
      writer,
      dir.path,
    ]);
    expect(JSON.parse(said.toString())).toEqual(["disk_full", "disk_full", "disk_full", "disk_full"]);
    expect(await idsIn(space)).toEqual(["a-root", "m1", "m2"]);
    await append(space, "a", [user("room again", "m3")]);
    expect((await idsIn(space)).at(-1)).toBe("m3");
  },
);
