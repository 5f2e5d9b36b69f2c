import { expect, test } from "vitest";
import { type Fence, fenceNotes } from "#stores/postgres/check";
import { type FencedTable, fenceTable, isFenced } from "#stores/postgres/tables/row-security";

const whole: FencedTable = {
  name: "entries",
  enabled: true,
  forced: true,
  policies: ["one_space"],
  owned: true,
};
const bare: FencedTable = { ...whole, enabled: false, forced: false, policies: [] };
const fence: Fence = { role: "app", superuser: false, bypasses: false, tables: [whole], wanted: false };

test("says nothing where the fence holds, or where there is none and nobody asked for one", () => {
  expect(fenceNotes(fence)).toEqual([]);
  expect(fenceNotes({ ...fence, wanted: true })).toEqual([]);
  expect(fenceNotes({ ...fence, tables: [bare], superuser: true })).toEqual([]);
});

test.each<[string, Partial<Fence>]>([
  ["a superuser", { superuser: true }],
  ["a role that bypasses it", { bypasses: true }],
  ["a wish that was not carried out", { wanted: true, tables: [bare] }],
  ["a table that was left out", { tables: [whole, { ...bare, name: "runs" }] }],
  ["an owner that it is not forced on", { tables: [{ ...whole, forced: false }] }],
  ["an owner elsewhere that it is not forced on", { tables: [{ ...whole, forced: false, owned: false }] }],
  ["a table without its policy", { tables: [{ ...whole, policies: ["other"] }] }],
])("says why it does not hold for %s, once", (_, changed) => {
  expect(fenceNotes({ ...fence, ...changed })).toHaveLength(1);
});

test("puts up what is missing of the fence and nothing else", () => {
  expect(fenceTable(whole)).toEqual([]);
  expect(fenceTable(bare)).toHaveLength(3);
  expect(fenceTable({ ...whole, forced: false })).toEqual(["alter table @.entries force row level security"]);
  expect(isFenced({ ...whole, name: "conversations" })).toBe(false);
  expect(fenceTable({ ...whole, name: "conversations" })).toHaveLength(1);
});
