import { join } from "node:path";
import { expect, test } from "vitest";
import { conv, Rig, user } from "#store/contract/rig";
import { parseSpaceId } from "#log/ids";
import { decorateStore } from "#store/decorate";
import { sqliteStore } from "#stores/sqlite/index";
import type { Command, GroupCommand } from "#stores/sqlite/thread/messages";
import { writeVerbs } from "#stores/sqlite/verbs";
import { Writer } from "#stores/sqlite/write/writer";
import { createFile } from "#stores/sqlite/files";
import { tempDir } from "../../support/temp-dir.ts";

test("what is committed while a window is read is in nothing of it", async () => {
  using dir = tempDir();
  const path = join(dir.path, "s.db");
  await using rig = new Rig({ open: (nowMs) => sqliteStore({ path, nowMs }) });
  const store = await rig.open();
  const space = store.space(parseSpaceId("default"));
  await rig.create(space, "a", [user("one", "m1"), user("two", "m2")]);
  const writer = new Writer({ path: createFile(path), busyMs: 0, bytesMax: null });
  // It commits before it answers, within the very call: as another process may between two statements.
  const send = async (command: Command): Promise<unknown> => {
    const [outcome] = writer.runGroup([command as GroupCommand]);
    if (outcome?.ok !== true) throw new Error(outcome?.error.message);
    return outcome.value;
  };
  const atOnce = decorateStore(store, {
    verbs: (_, id) => writeVerbs({ space: id, send, nowMs: () => 0 }),
  }).space(parseSpaceId("default"));
  const hidden: Promise<unknown>[] = [];
  const ask = {
    conversation: conv("a"),
    settings: [],
    /** Asked for once the head was read. */
    get limit(): number {
      const author = { kind: "outside" } as const;
      if (hidden.length === 0)
        hidden.push(rig.append(atOnce, "a", [{ type: "hide", target: "m1" }], { author }));
      return 9;
    },
  };
  const before = await space.window(ask);
  expect(hidden).toHaveLength(1);
  await Promise.all(hidden);
  const after = await space.window({ conversation: conv("a"), settings: [], limit: 9 });
  writer.connection.close();
  expect([before.head.headSeq, [...before.page.hidden]]).toEqual([3, []]);
  expect([after.head.headSeq, [...after.page.hidden]]).toEqual([4, ["m1"]]);
});
