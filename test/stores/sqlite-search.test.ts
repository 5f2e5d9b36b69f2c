/** A search stops when it has enough, and answers as if it had looked at everything. */
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Holdfast } from "#conversation/holdfast";
import { openHoldfast } from "#open";
import type { EntryBody } from "#log/entry";
import { tempDir } from "../support/temp-dir.ts";

const said = (id: string, text: string, time?: string): EntryBody => ({
  type: "message",
  id,
  message: { role: "user", content: [{ type: "text", text }] },
  ...(time === undefined ? {} : { time }),
});

async function found(
  holdfast: Holdfast,
  query: string,
  more: { limit: number; conversation?: string },
): Promise<readonly string[]> {
  return (await holdfast.search(query, more)).map((hit) => hit.entry);
}

test("a word that is common elsewhere is found in one conversation, wherever its entries lie in the file", async () => {
  using dir = tempDir();
  await using holdfast = await openHoldfast({ store: `sqlite:${join(dir.path, "h.db")}` });
  const small = await holdfast.create({ id: "small" });
  const crowd = await holdfast.create({ id: "crowd" });
  await small.append([said("s1", "the first"), said("s2", "no such word"), said("s3", "the second")]);
  await crowd.append(Array.from({ length: 2_500 }, (_, n) => said(`c${n}`, `the ${n}`)));
  expect(await found(holdfast, "the", { limit: 9, conversation: "small" })).toEqual(["s3", "s1"]);
  await small.append(said("s4", "and the third"));
  expect(await found(holdfast, "the", { limit: 9, conversation: "small" })).toEqual(["s4", "s3", "s1"]);
  expect(await found(holdfast, "the", { limit: 2, conversation: "small" })).toEqual(["s4", "s3"]);
  expect(await found(holdfast, "the", { limit: 3 })).toEqual(["s4", "c2499", "c2498"]);
  expect(await found(holdfast, "e", { limit: 9, conversation: "small" })).toEqual(["s4", "s3", "s1"]);
  await small.hide("s4");
  expect(await found(holdfast, "the", { limit: 1, conversation: "small" })).toEqual(["s3"]);
});

test("whatever the order of writing and the times given, SQLite finds what a store does that looks at all", async () => {
  using dir = tempDir();
  await using sqlite = await openHoldfast({ store: `sqlite:${join(dir.path, "h.db")}` });
  await using memory = await openHoldfast({ store: "memory:" });
  let state = 7;
  const random = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;
  const ids = ["a", "b", "c", "d"];
  const clocks = new Map<string, number>(ids.map((id, n) => [id, n * 40]));
  for (const holdfast of [sqlite, memory]) for (const id of ids) await holdfast.create({ id });
  for (let n = 0; n < 60; n++) {
    const id = ids[random(ids.length)] ?? "a";
    const words = ["alpha", "beta", "gamma"].filter(() => random(2) === 0).join(" ");
    const minute = (clocks.get(id) ?? 0) + 1 + random(3); // times rise in a conversation, not across them
    clocks.set(id, minute);
    const time = new Date(Date.UTC(2020, 0, 1) + minute * 60_000 + n).toISOString();
    for (const holdfast of [sqlite, memory])
      await (await holdfast.conversation(id)).append(said(`m${n}`, words, time));
    for (const limit of [1, 3, 10])
      for (const conversation of [undefined, id]) {
        const more = { limit, ...(conversation === undefined ? {} : { conversation }) };
        expect(await found(sqlite, "beta", more)).toEqual(await found(memory, "beta", more));
      }
  }
});
