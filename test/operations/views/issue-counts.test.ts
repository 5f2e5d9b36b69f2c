import { expect, test } from "vitest";
import { IssueCounts } from "#operations/views/views";
import { user } from "#log/message";
import { openHoldfast } from "#open";
import { countedStore } from "../../support/counted-store.ts";

test("a long log is counted over several requests, and what was read is not read again", async () => {
  const { store, count } = countedStore();
  await using holdfast = await openHoldfast({ store });
  const chat = await holdfast.create({ id: "a" });
  const turns = Array.from({ length: 40 }, (_, n) => `t${n}`); // more than the head names
  await chat.append([user("one"), ...turns.map((turn) => ({ type: "turn_start", turn }) as const)]);
  const counts = new IssueCounts(25);
  expect(await counts.read(holdfast, ["a"])).toEqual([null]);
  expect(await Promise.all([counts.read(holdfast, ["a"]), counts.read(holdfast, ["a"])])).toEqual([
    [40],
    [40],
  ]);
  const before = count();
  expect(await counts.read(holdfast, ["a"])).toEqual([40]);
  expect(count()).toBe(before);
  await chat.append(turns.map((turn) => ({ type: "turn_end", turn, outcome: "completed" }) as const));
  expect(await counts.read(holdfast, ["a"])).toEqual([null]);
  expect(await counts.read(holdfast, ["a"])).toEqual([0]);
  const short = await holdfast.create({ id: "short" });
  await short.append([{ type: "turn_start", turn: "t" }]);
  expect(await new IssueCounts(1).read(holdfast, ["short"])).toEqual([1]);
  expect(await counts.read(holdfast, ["nobody", "../x"])).toEqual([null, null]);
  await chat.erase();
  const other = await holdfast.create({ id: "a" });
  await other.append([user("x")]);
  expect(await counts.read(holdfast, ["a"])).toEqual([0]);
});
