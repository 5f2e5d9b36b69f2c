import { expect, test } from "vitest";
import { IssueCounts } from "#edges/http/lists/issue-counts";
import { user } from "#log/say";
import { openHoldfast } from "#open";
import { countedStore } from "../../support/counted-store.ts";

test("a long log is counted over several requests, and what was read is not read again", async () => {
  const { store, count } = countedStore();
  await using holdfast = await openHoldfast({ store });
  const chat = await holdfast.create({ id: "a" });
  await chat.append([user("one"), user("two"), { type: "turn_start", turn: "t" }, user("three")]);
  const counts = new IssueCounts(3);
  expect(await counts.read(holdfast, ["a"])).toEqual([null]);
  expect(await Promise.all([counts.read(holdfast, ["a"]), counts.read(holdfast, ["a"])])).toEqual([[1], [1]]);
  const before = count();
  expect(await counts.read(holdfast, ["a"])).toEqual([1]);
  expect(count()).toBe(before);
  await chat.append([{ type: "turn_end", turn: "t", outcome: "completed" }]);
  expect(await counts.read(holdfast, ["a"])).toEqual([0]);
  expect(await counts.read(holdfast, ["nobody", "../x"])).toEqual([null, null]);
  await chat.erase();
  const other = await holdfast.create({ id: "a" });
  await other.append([user("x")]);
  expect(await counts.read(holdfast, ["a"])).toEqual([0]);
});
