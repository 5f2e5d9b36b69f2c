/**
 * Goal: the file of a fork carries every fact that its sources had about nodes it inherited, also of types nobody thought of
 * when the export was written.
 * Method: the table of facts has one row more, as a new type would add it.
 */
import { expect, test, vi } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import { inMemoryStore } from "#stores/in-memory/index";
import { exportLines } from "#transfer/bundles/export-lines";
import { user } from "../../support/a-log.ts";

vi.mock(import("#log/table/fact-table"), async (original) => {
  const { FACT_TABLE } = await original();
  const rating = { ...FACT_TABLE.label, number: 9_999, shape: () => undefined, planned: [] };
  const { inherited: _state, searched: _words, ...row } = rating;
  return { FACT_TABLE: { ...FACT_TABLE, rating: row } };
});

async function entriesOf(conversation: Conversation): Promise<readonly Record<string, unknown>[]> {
  const options = { exportedAt: "2026-01-01T12:00:00.000Z", onMissing: () => undefined };
  const entries: Record<string, unknown>[] = [];
  for await (const { kind, text } of exportLines([conversation], options))
    if (kind === "entry") entries.push(JSON.parse(text) as Record<string, unknown>);
  return entries;
}

const rate = (id: string, target: string, stars: number): string =>
  JSON.stringify({ type: "rating", id, target, stars });

test("a fork's file has each fact about a node it inherited, by the table, and none about others", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "s");
  const top = await holdfast.create({ id: "top" });
  await top.append([user("one", "u1"), user("two", "u2")]);
  await top.append([rate("r1", "u1", 1), rate("r2", "u1", 5), rate("r3", "u2", 2)]);
  await top.label("u1", "first");
  await top.label("u1", "good");
  const middle = await top.fork({ id: "middle", at: "u1" });
  await top.append([rate("r4", "u1", 3)]); // later than the fork, so nothing it may see
  await middle.append([user("three", "u3"), rate("r5", "u1", 4), rate("r6", "u3", 4)]);
  const fork = await middle.fork({ id: "fork", at: "u3" });
  await fork.append([rate("r1", "u1", 0)]); // the id that a fact of its source has is free here
  const facts = (await entriesOf(fork)).filter(({ target }) => target !== undefined);
  expect(facts.map(({ type, target, stars, label }) => [type, target, stars ?? label])).toEqual([
    ["label", "u1", "good"],
    ["rating", "u1", 1],
    ["rating", "u1", 5],
    ["rating", "u1", 4],
    ["rating", "u3", 4],
    ["rating", "u1", 0],
  ]);
  const ids = (await entriesOf(fork)).map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  expect(await entriesOf(fork)).toEqual(await entriesOf(fork));
  await holdfast.close();
});
