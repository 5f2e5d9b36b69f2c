import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { EntryType } from "#log/entry";
import {
  FACT_TYPES,
  NODE_TYPES,
  OUTSIDE_TYPES,
  plannedMembers,
  SEARCHED_TYPES,
  SETTING_TYPES,
  typeNumber,
} from "#log/entry-types";

const all: readonly EntryType[] = [...NODE_TYPES, ...FACT_TYPES];

/** They stand in files: a number that is changed or given twice would find entries of another type. */
const NUMBERS: { readonly [number: number]: EntryType } = {
  1: "compaction",
  2: "reset",
  3: "model_change",
  4: "config_change",
  5: "skill_change",
  6: "state_change",
  7: "conversation",
  8: "seed",
  9: "branch_summary",
  10: "custom",
  20: "run_start",
  21: "run_end",
  22: "turn_start",
  23: "attempt",
  24: "turn_end",
  25: "tool_intent",
  26: "permission",
  27: "plan",
  28: "steer",
  29: "upstream_link",
  30: "leaf",
  31: "hide",
  32: "label",
  33: "title",
  34: "upstream_end",
  35: "attempt_end",
  36: "permission_answer",
  37: "metadata",
  38: "cwd",
  39: "memory",
};

test("a type keeps its number, and no two have the same", () => {
  for (const [number, type] of Object.entries(NUMBERS))
    expect([type, typeNumber(type)]).toEqual([type, Number(number)]);
  const numbers = all.flatMap((type) => typeNumber(type) ?? []);
  expect(new Set(numbers).size).toBe(numbers.length);
});

test("what anyone may add are facts, and what decides a setting or is searched is in the table once", () => {
  expect(OUTSIDE_TYPES.filter((type) => !(FACT_TYPES as readonly string[]).includes(type))).toEqual([]);
  expect(SETTING_TYPES.filter((type) => !(NODE_TYPES as readonly string[]).includes(type))).toEqual([]);
  // A setting is found by its number.
  expect(SETTING_TYPES.filter((type) => typeNumber(type) === null)).toEqual([]);
  expect([...SEARCHED_TYPES].toSorted()).toEqual([
    "branch_summary",
    "compaction",
    "custom",
    "label",
    "memory",
    "message",
    "title",
  ]);
});

test("a target is among the members that a store carries to where plans are made", () => {
  expect(plannedMembers("hide")).toEqual(["target", "hidden"]);
  expect(plannedMembers("branch_summary")).toEqual(["fromId"]);
  expect(plannedMembers("message")).toEqual([]);
});

const FORMAT = readFileSync(join(import.meta.dirname, "..", "..", "docs", "reference", "format.md"), "utf8");

test("the page on the format has every type of the table and no other", () => {
  const section = FORMAT.slice(FORMAT.indexOf("### Node types"), FORMAT.indexOf("### What `append` takes"));
  const tables = section.split(/\n\n/).filter((part) => /^\| type +\|/.test(part));
  const named = tables.flatMap((table) =>
    [...table.matchAll(/^\| `(\w+)`/gm)].flatMap(([, type]) => type ?? []),
  );
  const begins = /\*\*Where it all begins\*\*: `(\w+)`/.exec(section)?.[1];
  expect([...named, begins ?? ""].toSorted()).toEqual([...all].toSorted());
});

test("the page on the format lists what may come from outside", () => {
  const listed = /From outside come only([^.]*)\./.exec(FORMAT)?.[1] ?? "";
  const named = [...listed.matchAll(/`(\w+)`/g)].flatMap(([, type]) => type ?? []);
  expect(named.toSorted()).toEqual([...OUTSIDE_TYPES].toSorted());
});
