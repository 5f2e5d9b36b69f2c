/** A search stops when it has enough, and answers as if it had looked at everything. */
import { join } from "node:path";
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { openHoldfast } from "#open";
import type { EntryBody } from "#log/entry";
import { parseConversationId, parseSpaceId } from "#log/ids";
import { searchEntries } from "#stores/sqlite/read/search-query";
import { rowsRead } from "../../support/rows-read.ts";
import { tempDir } from "../../support/temp-dir.ts";

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

/** How many rows a search takes from the file. */
async function searchRows(path: string, query: string, conversation?: string): Promise<number> {
  const only = conversation === undefined ? {} : { conversation: parseConversationId(conversation) };
  const request = { query, limit: 20, ...only };
  const { rows, answer } = await rowsRead(path, (reader) =>
    searchEntries(reader, parseSpaceId("default"), request),
  );
  expect(answer.length).toBeGreaterThan(0);
  return rows;
}

/** A conversation that begins with so many messages and ends with some more. */
async function searchCost(messages: number, hidden: boolean): Promise<readonly number[]> {
  using dir = tempDir();
  const path = join(dir.path, "h.db");
  await using holdfast = await openHoldfast({ store: `sqlite:${path}` });
  const long = await holdfast.create({ id: "long" });
  await long.append(Array.from({ length: messages }, (_, n) => said(`m${n}`, `the ${n}`)));
  const hides = Array.from({ length: messages }, (_, n) => ({ type: "hide", target: `m${n}` }) as const);
  if (hidden) await long.append(hides);
  await long.append(Array.from({ length: 5 }, (_, n) => said(`end${n}`, `the end ${n}`)));
  await holdfast.search("the");
  return [await searchRows(path, "the"), await searchRows(path, "the", "long")];
}

test("a search for a common word reads as much of a long log as of a short one", async () => {
  expect(await searchCost(4_000, false)).toEqual(await searchCost(200, false));
});

test("a frequent word costs what it answers, however many conversations changed since the oldest hit", async () => {
  const cost = async (rounds: number): Promise<number> => {
    using dir = tempDir();
    const path = join(dir.path, "h.db");
    await using holdfast = await openHoldfast({ store: `sqlite:${path}` });
    const conversations: Conversation[] = [];
    for (let n = 0; n < 300; n++) conversations.push(await holdfast.create({ id: `c${n}` }));
    for (let round = 0; round < rounds; round++)
      for (const [n, conversation] of conversations.entries()) {
        const time = new Date(
          Date.UTC(2026, 0, 1) + (round * conversations.length + n) * 1_000,
        ).toISOString();
        await conversation.append(said(`m${round}.${n}`, n % 30 === 0 ? "a frequent word" : "others", time));
      }
    await holdfast.search("frequent");
    return searchRows(path, "frequent");
  };
  expect(await cost(14)).toBe(await cost(7));
});

test("a search does not step over what was hidden before the index came to it, however much of it there is", async () => {
  expect(await searchCost(1_000, true)).toEqual(await searchCost(50, true));
});

test("what is hidden, shown again and hidden again is found whenever it is shown", async () => {
  using dir = tempDir();
  await using holdfast = await openHoldfast({ store: `sqlite:${join(dir.path, "h.db")}` });
  const conversation = await holdfast.create({ id: "c" });
  await conversation.append([said("a", "the first"), said("b", "the second")]);
  const shown = async (hidden: boolean, searched: boolean): Promise<void> => {
    await conversation.hide("a", hidden);
    if (searched) expect(await found(holdfast, "the", { limit: 9 })).toEqual(hidden ? ["b"] : ["b", "a"]);
  };
  for (const searched of [true, false, true, true]) {
    await shown(true, searched);
    await shown(false, searched);
  }
  await shown(true, false);
  await shown(false, true);
  // A fork hides for itself what it inherits; its source still shows it.
  const fork = await conversation.fork({ id: "f" });
  await fork.hide("a");
  expect(await found(holdfast, "the", { limit: 9 })).toEqual(["b", "a"]);
});
