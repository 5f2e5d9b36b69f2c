import { expect, test } from "vitest";
import { FORMAT_VERSION } from "#log/entry";
import { conv, entryId, texts, user } from "#store/contract/rig";
import { salvage } from "#stores/jsonl/salvage";
import { FaultyDisk } from "../../support/faulty-disk.ts";
import {
  append,
  bytesOf,
  commitEnds,
  create,
  DIR,
  failure,
  FILE,
  idsIn,
  snapshot,
  SPACE,
  spaceOn,
  threeBatches,
} from "../../support/jsonl-rig.ts";

test("the file can be read with JSON.parse and docs/reference/format.md alone", async () => {
  const disk = await threeBatches();
  const space = spaceOn(disk);
  await space.acquire({ conversation: conv("a"), writer: "w", leaseMs: 1_000 });
  const committed: Record<string, unknown>[] = [];
  let pending: Record<string, unknown>[] = [];
  let head: Record<string, unknown> = {};
  for (const line of new TextDecoder().decode(bytesOf(disk)).split("\n")) {
    if (line === "") continue;
    const { commit, ...entry } = JSON.parse(line) as { commit?: Record<string, unknown> };
    if (commit === undefined) pending.push(entry);
    else {
      committed.push(...pending);
      pending = [];
      head = commit;
    }
  }
  const stored = await space.read({ conversation: conv("a"), limit: 100 });
  const rebuilt = stored.map(({ v: _, payload, ...envelope }) =>
    Object.assign(envelope, JSON.parse(payload)),
  );
  expect(committed).toEqual(rebuilt);
  expect(head).toMatchObject({
    v: FORMAT_VERSION,
    to: 5,
    epoch: 4,
    leaf: "m4",
    cwd: "/w",
    lease: { writer: "w", untilMs: 1_000 },
  });
});

test("a tail cut at any byte costs its batch only, is set aside, and the next append is read", async () => {
  const bytes = bytesOf(await threeBatches());
  const [, second = 0, third = 0] = commitEnds(bytes);
  for (let cut = second; cut < third; cut++) {
    const disk = new FaultyDisk();
    disk.plant(FILE, bytes.slice(0, cut));
    const before = snapshot(disk);
    expect(await idsIn(spaceOn(disk, { readOnly: true }))).toEqual(["a-root", "m1", "m2", "m3"]);
    expect(snapshot(disk)).toEqual(before);
    await append(spaceOn(disk), "a", [user("next", "m5")]);
    const found = [await idsIn(spaceOn(disk)), await idsIn(spaceOn(disk))];
    expect(found).toEqual([
      ["a-root", "m1", "m2", "m3", "m5"],
      ["a-root", "m1", "m2", "m3", "m5"],
    ]);
    const torn = disk.files().get(`/logs/default/a.torn-${second}`) ?? new Uint8Array();
    expect(Buffer.from(torn).equals(bytes.slice(second, cut))).toBe(true);
  }
});

test("no changed byte is ever read as if nothing had happened", async () => {
  const bytes = bytesOf(await threeBatches());
  const [first = 0, second = 0] = commitEnds(bytes);
  const all = ["a-root", "m1", "m2", "m3", "m4"];
  for (let at = 0; at < bytes.length; at++) {
    const disk = new FaultyDisk();
    disk.plant(
      FILE,
      bytes.map((byte, nth) => (nth === at ? byte ^ 0x11 : byte)),
    );
    const before = snapshot(disk);
    const space = spaceOn(disk);
    if (at >= second) {
      // Nothing after the last batch proves that it was ever whole: it counts as cut off.
      expect(await idsIn(space)).toEqual(all.slice(0, 4));
      continue;
    }
    const { code, details } = await failure(idsIn(space));
    // A changed digit of the version reads as a version to come.
    if (code === "unsupported_version") continue;
    expect([at, code]).toEqual([at, "damaged"]);
    const position = Number(details["position"]);
    expect(position).toBeLessThanOrEqual(at);
    expect([position >= first, details["reachableSeq"]]).toEqual(at < first ? [false, 0] : [true, 2]);
    expect((await failure(append(space, "a", [user("x")]))).code).toBe("damaged");
    expect(snapshot(disk)).toEqual(before);
  }
});

test("a damaged middle is reported with its position, listed, and never touched", async () => {
  const disk = await threeBatches();
  const bytes = Buffer.from(bytesOf(disk));
  const at = bytes.indexOf("three");
  bytes.write("\u00ff", at, "latin1"); // not UTF-8
  const line = bytes.lastIndexOf(10, at) + 1;
  disk.plant(FILE, bytes);
  const before = snapshot(disk);
  const space = spaceOn(disk);
  expect((await space.read({ conversation: conv("a"), limit: 2 })).map((entry) => entry.id)).toEqual([
    "a-root",
    "m1",
  ]);
  expect((await space.entry(conv("a"), entryId("m1"))).seq).toBe(2);
  for (const work of [
    space.read({ conversation: conv("a"), limit: 3 }),
    space.read({ conversation: conv("a"), limit: 2, newestFirst: true }),
    space.read({ conversation: conv("a"), after: 2, limit: 1 }),
    space.read({ conversation: conv("a"), after: 3, limit: 1, types: ["message"] }),
    space.page({ conversation: conv("a"), limit: 1 }),
    space.head(conv("a")),
    space.entry(conv("a"), entryId("m4")),
    append(space, "a", [user("x")]),
  ]) {
    expect(await failure(work)).toMatchObject({
      code: "damaged",
      details: { position: line, reachableSeq: 2, resumesSeq: 5 },
    });
  }
  for (const after of [{ after: 4 }, { newestFirst: true }, { after: 4, types: ["message"] as const }]) {
    const [later] = await space.read({ conversation: conv("a"), limit: 1, ...after });
    expect(later?.id).toBe("m4");
  }
  const tailed: string[] = [];
  const tail = async (): Promise<void> => {
    for await (const entry of space.tail({ conversation: conv("a"), after: 0 })) tailed.push(entry.id);
  };
  expect((await failure(tail())).code).toBe("damaged");
  expect(tailed).toEqual(["a-root", "m1"]);
  const [listed] = (await space.list({ limit: 9 })).conversations;
  expect(listed?.damage).toEqual(expect.any(String));
  expect(await space.check({ repair: true })).toMatchObject([
    { severity: "damage", position: line, reachableSeq: 2, repaired: false },
  ]);
  expect(snapshot(disk)).toEqual(before);

  const saved = await salvage({ dir: DIR, space: SPACE, conversation: conv("a"), as: conv("a2"), disk });
  expect(saved).toMatchObject({ reachableSeq: 2, restEntries: 1, lost: [{ fromSeq: 3, toSeq: 4 }] });
  // Its parent is lost, so it is no part of the branch that can be read: that begins with what is lost.
  expect(await texts(space, "a2")).toEqual(["four"]);
  await append(space, "a2", [user("on", "m9")]);
  expect(await texts(spaceOn(disk), "a2")).toEqual(["four", "on"]);
  const [root, m1] = await space.read({ conversation: conv("a2"), limit: 2 });
  expect([root?.id, m1?.id]).toEqual(["a-root", "m1"]);
  expect(
    (await failure(salvage({ dir: DIR, space: SPACE, conversation: conv("a"), as: conv("a2"), disk }))).code,
  ).toBe("conversation_exists");
  expect(Buffer.from(bytesOf(disk)).equals(bytes)).toBe(true);
  await space.erase(conv("a"));
  expect((await failure(space.head(conv("a")))).code).toBe("conversation_not_found");
});

test("several damages are each named where a read comes to them, and all between is read and salvaged", async () => {
  const disk = await threeBatches();
  const space = spaceOn(disk);
  await append(space, "a", [{ type: "label", target: "m2", label: "lost" }, user("five", "m5")]);
  await append(space, "a", [{ ...user("side", "m6"), parentId: "m1" }]);
  await append(space, "a", [user("last", "m7")]);
  const bytes = Buffer.from(bytesOf(disk));
  for (const words of ["three", "side"]) bytes.fill(1, bytes.indexOf(words), bytes.indexOf(words) + 1);
  disk.plant(FILE, bytes);
  const spoilt = spaceOn(disk);
  const read = (after: number, limit: number): Promise<readonly { seq: number }[]> =>
    spoilt.read({ conversation: conv("a"), after, limit });
  expect((await read(4, 3)).map(({ seq }) => seq)).toEqual([5, 6, 7]);
  expect((await read(8, 9)).map(({ seq }) => seq)).toEqual([9]);
  for (const [after, reachableSeq, resumesSeq] of [
    [0, 2, 5],
    [3, 2, 5],
    [4, 7, 9],
    [7, 7, 9],
  ] as const)
    expect(await failure(read(after, 9))).toMatchObject({
      code: "damaged",
      details: { reachableSeq, resumesSeq },
    });
  expect(await failure(spoilt.read({ conversation: conv("a"), limit: 2, newestFirst: true }))).toMatchObject({
    details: { reachableSeq: 7, resumesSeq: 9 },
  });
  const saved = await salvage({ dir: DIR, space: SPACE, conversation: conv("a"), as: conv("a2"), disk });
  expect(saved).toMatchObject({
    reachableSeq: 2,
    restEntries: 3,
    lost: [
      { fromSeq: 3, toSeq: 4 },
      { fromSeq: 8, toSeq: 8 },
    ],
    leftOut: [6],
  });
  const copy = await spoilt.read({ conversation: conv("a2"), limit: 20 });
  const parents = copy.map(({ id, parentId, type }) => [type === "custom" ? "gap" : id, parentId]);
  const gaps = copy.filter(({ type }) => type === "custom").map(({ id }) => id);
  expect(parents).toEqual([
    ["a-root", null],
    ["m1", "a-root"],
    ["gap", "a-root"],
    ["m4", gaps[0]],
    ["m5", "m4"],
    ["gap", "a-root"],
    ["m7", gaps[1]],
  ]);
  expect(await spoilt.check({ repair: false })).toMatchObject([{ conversation: "a", reachableSeq: 2 }]);
});

test("a whole batch taken out of the middle is damage, even one without entries", async () => {
  const disk = await threeBatches();
  const space = spaceOn(disk);
  await space.acquire({ conversation: conv("a"), writer: "w", leaseMs: 0 });
  await append(space, "a", [user("five", "m5")]);
  const bytes = bytesOf(disk);
  const ends = [0, ...commitEnds(bytes)];
  for (const [nth, end] of ends.slice(1, -1).entries()) {
    const start = ends[nth] ?? 0;
    disk.plant(FILE, Buffer.concat([bytes.slice(0, start), bytes.slice(end)]));
    expect(await failure(idsIn(spaceOn(disk)))).toMatchObject({
      code: "damaged",
      details: { position: start },
    });
  }
});

test("a header that cannot be read is listed as damaged and keeps no other conversation from being used", async () => {
  const disk = await threeBatches();
  await create(spaceOn(disk), "b", [user("fine")]);
  for (const junk of ["", "not json\n", '{"id":"x"}\n', "42\n", "\0".repeat(5_000)]) {
    disk.plant(FILE, Buffer.from(junk));
    const space = spaceOn(disk);
    const listed = (await space.list({ limit: 9 })).conversations.map(
      (one) => `${one.conversation} ${one.damage === null}`,
    );
    expect(listed.toSorted()).toEqual(["a false", "b true"]);
    expect(await failure(space.head(conv("a")))).toMatchObject({
      code: "damaged",
      details: { position: 0, reachableSeq: 0 },
    });
    expect((await space.search({ query: "fine", limit: 9 })).length).toBe(1);
    expect((await failure(create(space, "a"))).code).toBe("conversation_exists");
    expect(Buffer.from(bytesOf(disk)).toString()).toBe(junk);
  }
});

test("check names an unfinished batch, and its repair sets it aside and nothing else", async () => {
  const disk = await threeBatches();
  const whole = bytesOf(disk);
  const [, second = 0] = commitEnds(whole);
  disk.plant(FILE, whole.slice(0, -9));
  const space = spaceOn(disk);
  expect(await space.check({ repair: false })).toMatchObject([
    { severity: "torn", position: second, reachableSeq: 4, repaired: false },
  ]);
  expect(bytesOf(disk).length).toBe(whole.length - 9);
  expect(await space.check({ repair: true })).toMatchObject([{ severity: "torn", repaired: true }]);
  expect(Buffer.from(bytesOf(disk)).equals(whole.slice(0, second))).toBe(true);
  expect(await space.check({ repair: false })).toEqual([]);
});

test("a newer version is refused and left untouched", async () => {
  const disk = await threeBatches();
  const bytes = Buffer.from(bytesOf(disk));
  bytes.write('"v":9', bytes.lastIndexOf(`"v":${FORMAT_VERSION}`));
  disk.plant(FILE, bytes);
  const before = snapshot(disk);
  const space = spaceOn(disk);
  for (const work of [idsIn(space), append(space, "a", [user("x")]), space.erase(conv("a"))]) {
    expect((await failure(work)).code).toBe("unsupported_version");
  }
  expect((await space.list({ limit: 9 })).conversations[0]?.damage).toEqual(expect.any(String));
  expect(await space.check({ repair: true })).toMatchObject([
    { conversation: "a", severity: "note", repaired: false },
  ]);
  expect(snapshot(disk)).toEqual(before);
});
