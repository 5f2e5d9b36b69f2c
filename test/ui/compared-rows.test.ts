import { expect, test } from "vitest";
import { assistant, user } from "#log/message";
import { openHoldfast } from "#open";
import { diffJson } from "#transfer/views/diff-json";
import { type Compared, comparedRows, differs } from "../../ui/src/pages/diff/compared-rows.ts";

const call = (id: string, path: string) =>
  assistant([
    { type: "text", text: `I read ${path} as ${id}` },
    { type: "toolCall", id, name: "read", input: { path } },
  ]);

async function compared(left: readonly string[], right: readonly string[]): Promise<Compared> {
  await using holdfast = await openHoldfast({ store: "memory:" });
  const chat = await holdfast.create({ id: "chat", entries: [user("Read them")] });
  const fork = await chat.fork({ id: "fork" });
  for (const [at, path] of left.entries()) await chat.append(call(`a${at}`, path));
  for (const [at, path] of right.entries()) await fork.append(call(`b${at}`, path));
  const [diff] = await holdfast.compare({ conversation: "chat" }, [{ conversation: "fork" }]);
  if (diff === undefined) throw new Error("nothing was compared");
  const side = (letter: string, conversation: string) => ({
    letter,
    address: conversation,
    conversation,
    entry: null,
  });
  const named = { a: side("A", "chat"), b: side("B", "fork"), diff };
  return JSON.parse([...diffJson(named, { isStat: false, hasAll: true })].join("")) as Compared;
}

const told = (of: Compared, hasAll = false): readonly string[] =>
  comparedRows(of, hasAll).map((row) =>
    row.kind === "fork" ? "fork" : `${row.kind} ${row.change.op}${row.isBefore ? " before" : ""}`,
  );

test("the fork is drawn at the first call that is another, not at the words before it", async () => {
  expect(told(await compared(["x", "y"], ["x", "z"]))).toEqual([
    "text changed before",
    "call same before",
    "text changed before",
    "fork",
    "call changed",
  ]);
});

test("the fork is drawn also where one side has nothing, and what differs behind it is gone to", async () => {
  for (const [left, right] of [
    [["x"], ["x", "z"]],
    [["x", "z"], ["x"]],
  ] as const) {
    const rows = comparedRows(await compared(left, right), false);
    expect(rows.filter(({ kind }) => kind === "fork")).toHaveLength(1);
    const at = rows.findIndex(({ kind }) => kind === "fork");
    expect(rows.slice(0, at).some(differs)).toBe(false);
    expect(rows.slice(at + 1).some(differs)).toBe(true);
  }
});

test("what is the same has no fork, and its words only where everything is wanted", async () => {
  await using holdfast = await openHoldfast({ store: "memory:" });
  const chat = await holdfast.create({ id: "chat", entries: [user("Hello"), assistant("Hi")] });
  await holdfast.create({ id: "other", entries: [user("Hello"), assistant("Hi")] });
  const [diff] = await holdfast.compare({ conversation: chat.id }, [{ conversation: "other" }]);
  if (diff === undefined) throw new Error("nothing was compared");
  const side = { letter: "A", address: "chat", conversation: "chat", entry: null };
  const pieces = diffJson({ a: side, b: side, diff }, { isStat: false, hasAll: true });
  const same = JSON.parse([...pieces].join("")) as Compared;
  expect(told(same)).toEqual(["turn same before"]);
  expect(told(same, true)).toEqual(["turn same before", "text same before"]);
});
