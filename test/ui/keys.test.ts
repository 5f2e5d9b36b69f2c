/** The table of keys: they are bound by it, and shown from it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { isModPressed, isSingle, KEY_TABLE, type KeyRow, keyWords } from "../../ui/src/frame/key-table.ts";
import { filesUnder } from "../support/files-under.ts";

const ROWS: readonly KeyRow[] = Object.values(KEY_TABLE);
const UI = join(import.meta.dirname, "../../ui/src");
const on = (where: string): readonly string[] =>
  ROWS.filter((row) => row.where === where || row.where === "everywhere").map(({ keys }) => keys);

test("a conversation has a key for everything that is done often", () => {
  const wanted = "mod+k / mod+f j k J K [ ] ( ) h l t d f e x o v y s ? Escape";
  expect(on("conversation")).toEqual(expect.arrayContaining([...wanted.split(" "), "g l"]));
  expect(on("history")).toEqual(expect.arrayContaining(["mod+k", "/", "j", "k", "?"]));
});

test.each([...new Set(ROWS.map(({ where }) => where))])("on %s no key means two things", (where) => {
  const keys = on(where);
  expect(new Set(keys).size).toBe(keys.length);
  // What begins two keys in a row would be done on the way to them.
  const first = new Set(keys.filter((one) => one.includes(" ")).map((one) => one.split(" ")[0]));
  expect(keys.filter((one) => first.has(one))).toEqual([]);
});

test("letters alone can be switched off, and keys are told by what is printed on them", () => {
  expect(ROWS.filter(({ keys }) => !isSingle(keys)).map(({ keys }) => keys)).toEqual(
    expect.arrayContaining(["mod+k", "Escape"]),
  );
  expect(["g l", "?", "J"].every(isSingle)).toBe(true);
  const shown = (isMac: boolean): readonly string[] =>
    ["mod+k", "Escape", "g l"].map((keys) => keyWords(keys, isMac));
  expect([shown(false), shown(true)]).toEqual([
    ["Ctrl K", "Esc", "g l"],
    ["⌘K", "Esc", "g l"],
  ]);
  expect(ROWS.filter(({ does }) => does === "")).toEqual([]);
});

test("B34: on a Mac shortcuts have Cmd, and Ctrl is left to editing", () => {
  const [ctrl, cmd] = [
    { ctrlKey: true, metaKey: false },
    { ctrlKey: false, metaKey: true },
  ];
  expect([isModPressed(ctrl, true), isModPressed(cmd, true)]).toEqual([false, true]);
  expect([isModPressed(ctrl, false), isModPressed(cmd, false)]).toEqual([true, true]);
});

test("B4: no key of ours has Alt, which browsers go back and forward with", () => {
  expect(ROWS.filter(({ keys }) => /alt/i.test(keys))).toEqual([]);
});

test("every key is bound by its row, and every row by somebody", () => {
  const sources = filesUnder(UI).filter((file) => /\.tsx?$/.test(file) && !file.endsWith("key-table.ts"));
  const text = sources.map((file) => readFileSync(file, "utf8")).join("\n");
  const bound = [...text.matchAll(/\b(?:onKey\(\s*|act=)"(\w+)"/g)].map(([, act]) => act);
  expect(new Set(bound)).toEqual(new Set(Object.keys(KEY_TABLE)));
  expect(text).not.toMatch(/\bkeys: "/);
});
