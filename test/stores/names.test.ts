/** Entries by label and by the start of an id: the same in every store, and flat in SQLite. */
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { openHoldfast } from "#open";
import type { EntryBody } from "#log/entry";
import { parseConversationId, parseEntryId, parseSpaceId } from "#log/ids";
import { rowsRead } from "../support/rows-read.ts";
import { tempDir } from "../support/temp-dir.ts";

const said = (id: string): EntryBody => ({
  type: "message",
  id,
  message: { role: "user", content: [{ type: "text", text: id }] },
});

/** Texts that SQLite, JSON or UTF-8 could take for others, or lose. */
const ODD: readonly string[] = [
  "plain",
  "12",
  "\0",
  "a\0b",
  "\ud800",
  "\udfff",
  '"quoted" \\ /',
  "caf\u00e9",
  "cafe\u0301",
  "\u{1f600}",
  "x".repeat(40_000),
];

async function openAll(dir: string): Promise<readonly Holdfast[]> {
  return Promise.all(
    [`sqlite:${join(dir, "h.db")}`, "memory:", `jsonl:${join(dir, "j")}`].map((store) =>
      openHoldfast({ store }),
    ),
  );
}

test("odd labels name the same nodes in every store, whatever else stands beside them", async () => {
  using dir = tempDir();
  const stores = await openAll(dir.path);
  for (const holdfast of stores) {
    const conversation = await holdfast.create({ id: "c" });
    await conversation.append(ODD.map((_, n) => said(`m${n}`)));
    for (const [n, label] of ODD.entries()) await conversation.label(`m${n}`, label);
    const deep = `${"[".repeat(1_500)}${"]".repeat(1_500)}`;
    await conversation.append(`{"type":"label","target":"m0","label":"deep","more":${deep}}`);
    await conversation.append('{"type":"label","targ\\u0065t":"m1","l\\u0061bel":"\\u0065scaped"}');
    const names = await Promise.all(ODD.map((label) => conversation.named(label)));
    expect(names).toEqual(ODD.map((_, n) => (n > 1 ? [`m${n}`] : [])));
    expect(await conversation.named("deep")).toEqual(["m0"]);
    expect(await conversation.named("escaped")).toEqual(["m1"]);
    await holdfast.close();
  }
});

test("labels given, changed and taken away in forks of forks name the same nodes in every store", async () => {
  using dir = tempDir();
  const stores = await openAll(dir.path);
  let state = 11;
  const random = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;
  const labels = ["x", "y", "z"];
  const lines = stores.map((): Conversation[] => []);
  const each = async (work: (all: Conversation[], holdfast: Holdfast) => Promise<unknown>): Promise<void> => {
    for (const [n, holdfast] of stores.entries()) await work(lines[n] ?? [], holdfast);
  };
  await each(async (all, holdfast) => {
    all.push(await holdfast.create({ id: "c0" }));
    await all[0]?.append(Array.from({ length: 6 }, (_, n) => said(`m${n}`)));
  });
  for (let step = 0; step < 60; step++) {
    const [act, at, node] = [random(12), random(lines[0]?.length ?? 1), `m${random(6)}`];
    const label = random(4) === 0 ? null : (labels[random(3)] ?? "x");
    await each(async (all) => {
      const it = all[at] as Conversation;
      // A fork that was cut before the node does not see it.
      if (act < 2)
        all.push(
          await it.fork({ id: `c${step + 1}`, at: node }).catch(() => it.fork({ id: `c${step + 1}` })),
        );
      else if (act === 2 && all.length > 3) await all.splice(at, 1)[0]?.erase();
      else await it.label(node, label).catch(() => undefined);
    });
    const named = await Promise.all(
      lines.map((all) => Promise.all(all.flatMap((it) => labels.map((text) => it.named(text))))),
    );
    const sorted = named.map((line) => line.map((ids) => ids.toSorted()));
    for (const other of sorted) expect(other).toEqual(sorted[0]);
  }
  for (const holdfast of stores) await holdfast.close();
});

test("a fork asks the logs that hold a name, not all that it stands on, and a label is not looked for among the others", async () => {
  const cost = async (forks: number, others: number): Promise<readonly number[]> => {
    using dir = tempDir();
    const path = join(dir.path, "h.db");
    await using holdfast = await openHoldfast({ store: `sqlite:${path}` });
    let conversation = await holdfast.create({ id: "c" });
    await conversation.append([said("first"), said("second")]);
    await conversation.label("first", "start");
    for (let n = 0; n < others; n++) await conversation.label("second", `other ${n}`);
    for (let n = 0; n < forks; n++) {
      conversation = await conversation.fork({ id: `c${n}` });
      await conversation.append(said(`m${n}`));
    }
    const space = parseSpaceId("default");
    const id = parseConversationId(conversation.id);
    const reads = [
      await rowsRead(path, (reader) => reader.entry(space, id, parseEntryId("first")).id),
      await rowsRead(path, (reader) => reader.ids(space, { conversation: id, prefix: "fir", limit: 9 })[0]),
      await rowsRead(
        path,
        (reader) => reader.labelled(space, { conversation: id, label: "start", limit: 9 })?.length,
      ),
    ];
    expect(reads.map(({ answer }) => answer)).toEqual(["first", "first", 1]);
    return reads.map(({ rows }) => rows);
  };
  expect(await cost(30, 100)).toEqual(await cost(2, 1));
});
