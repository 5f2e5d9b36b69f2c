/** Reads that no window bounds run in a thread of their own, and answer what the others do. */
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openHoldfast } from "#open";
import type { EntryBody } from "#log/entry";
import { parseSpaceId } from "#log/ids";
import { Reader } from "#stores/sqlite/read/reader";
import { tempDir } from "../../support/temp-dir.ts";
import { spaceOf } from "#conversation/on-space";

const said = (n: number): EntryBody => ({
  type: "message",
  id: `m${n}`,
  message: { role: n % 2 === 0 ? "user" : "assistant", content: [{ type: "text", text: `word ${n}` }] },
});

test("a whole log and a whole branch are read past the point where another thread takes over", async () => {
  using dir = tempDir();
  await using holdfast = await openHoldfast({ store: `sqlite:${join(dir.path, "h.db")}` });
  const conversation = await holdfast.create({ id: "c" });
  await conversation.append(Array.from({ length: 4_000 }, (_, n) => said(n)));
  await conversation.hide("m7");
  const log = await Array.fromAsync(conversation.log());
  expect(log.map((entry) => entry.seq)).toEqual(Array.from({ length: 4_002 }, (_, n) => n + 1));
  const branch = await conversation.branch();
  expect(branch.slice(1).map((entry) => entry.id)).toEqual(Array.from({ length: 4_000 }, (_, n) => `m${n}`));
  expect(branch.filter((entry) => entry.hidden).map((entry) => entry.id)).toEqual(["m7"]);
});

test("what was just appended is seen from the other thread", async () => {
  using dir = tempDir();
  await using holdfast = await openHoldfast({ store: `sqlite:${join(dir.path, "h.db")}` });
  const conversation = await holdfast.create({ id: "c" });
  for (let n = 0; n < 20; n++) {
    await conversation.append(said(n));
    const request = { conversation: conversation.id, limit: 100, scan: true };
    expect((await spaceOf(holdfast).read(request)).at(-1)?.id).toBe(`m${n}`);
    expect((await spaceOf(holdfast).page(request)).entries[0]?.id).toBe(`m${n}`);
  }
});

test("a scan fails like every other read", async () => {
  using dir = tempDir();
  await using holdfast = await openHoldfast({ store: `sqlite:${join(dir.path, "h.db")}` });
  const { id } = await holdfast.create();
  const space = holdfast.store.space(parseSpaceId("elsewhere"));
  const read = space.read({ conversation: id, limit: 1, scan: true });
  await expect(read).rejects.toMatchObject({ code: "conversation_not_found" });
});

test("a file that is only read is scanned without anything being written beside it", async () => {
  using dir = tempDir();
  const store = `sqlite:${join(dir.path, "h.db")}`;
  {
    await using holdfast = await openHoldfast({ store });
    const conversation = await holdfast.create({ id: "c" });
    await conversation.append(Array.from({ length: 3_000 }, (_, n) => said(n)));
  }
  await using holdfast = await openHoldfast({ store, readOnly: true });
  expect((await (await holdfast.conversation("c")).branch()).length).toBe(3_001);
});

test("a read of several types takes each of its rows from the file once", async () => {
  using dir = tempDir();
  const path = join(dir.path, "h.db");
  const turns = Array.from({ length: 200 }, (_, n): readonly EntryBody[] => [
    said(n),
    { type: "turn_start", turn: `t${n}` },
    { type: "attempt", turn: `t${n}`, model: "one" },
    { type: "turn_end", turn: `t${n}`, outcome: "completed" },
  ]);
  {
    await using holdfast = await openHoldfast({ store: `sqlite:${path}` });
    await (await holdfast.create({ id: "c" })).append(turns.flat());
  }
  const reader = new Reader(new DatabaseSync(path, { readOnly: true }));
  let rows = 0;
  const all = reader.sql.all.bind(reader.sql);
  reader.sql.all = <Row>(...asked: Parameters<typeof all>): Row[] => {
    const found = all<Row>(...asked);
    rows += found.length;
    return found;
  };
  const facts = ["turn_start", "attempt", "turn_end"] as const;
  for (const types of [facts, ["message", ...facts], ["message"]] as const)
    for (const newestFirst of [false, true]) {
      rows = 0;
      const read = reader.read("default", { conversation: "c", limit: 100, types, newestFirst });
      const seqs = read.map(({ seq }) => seq);
      expect([read.length, rows]).toEqual([100, 100]);
      expect(seqs).toEqual(seqs.toSorted((one, other) => (newestFirst ? other - one : one - other)));
      expect(new Set(read.map(({ type }) => type))).toEqual(new Set(types));
    }
  reader.close();
});
