import { expect, test } from "vitest";
import { assistant, type EntryBody, user } from "#index";
import { firstMessageFor, promptsToReplay } from "#agent/replay/replay-source";
import { Holdfast } from "#conversation/holdfast";
import type { BranchEntry } from "#conversation/history-pages";
import { inMemoryStore } from "#stores/in-memory/index";

async function branchOf(entries: readonly EntryBody[]): Promise<readonly BranchEntry[]> {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  return (await holdfast.create({ id: "c", entries })).branch();
}

const named = (body: EntryBody, id: string): EntryBody => ({ ...body, id });
const inShort = ({ prompts, keptTo }: ReturnType<typeof promptsToReplay>): object => ({
  keptTo,
  prompts: prompts.map(({ messageNumber, entry, before, end }) => [
    messageNumber,
    entry.id,
    before.map((one) => (one.type === "message" ? one.id : one.type)),
    end,
  ]),
});

const TALK = [
  named(user("one"), "p1"),
  named(assistant("1"), "a1"),
  named(user("two"), "p2"),
  named(assistant("2"), "a2"),
  named(user("three"), "p3"),
];

test("every prompt of a branch is sent again, in order, with what came of it", async () => {
  const branch = await branchOf(TALK);
  expect(inShort(promptsToReplay(branch))).toEqual({
    keptTo: branch[0]?.id,
    prompts: [
      [1, "p1", [], "a1"],
      [3, "p2", [], "a2"],
      [5, "p3", [], "p3"],
    ],
  });
});

test("from a message on, those before it are kept and the first prompt from it on is sent", async () => {
  const branch = await branchOf(TALK);
  const from = (message: number): object => inShort(promptsToReplay(branch, { from: message }));
  expect(from(3)).toEqual({
    keptTo: "a1",
    prompts: [
      [3, "p2", [], "a2"],
      [5, "p3", [], "p3"],
    ],
  });
  expect(from(4)).toEqual({ keptTo: "p2", prompts: [[5, "p3", [], "p3"]] });
  expect(from(6)).toEqual({ keptTo: null, prompts: [] });
  expect(promptsToReplay(branch, { from: 6 }).messages).toBe(5);
});

test("messages are counted from where the replayed part begins", async () => {
  const branch = await branchOf(TALK);
  expect(inShort(promptsToReplay(branch, { start: 3, from: 2 }))).toEqual({
    keptTo: "p2",
    prompts: [[3, "p3", [], "p3"]],
  });
  expect(inShort(promptsToReplay(branch, { start: 3 }))).toEqual({
    keptTo: "a1",
    prompts: [
      [1, "p2", [], "a2"],
      [3, "p3", [], "p3"],
    ],
  });
});

test("words that nothing answered are said before the prompt that was asked, and a context that began anew does so again", async () => {
  const branch = await branchOf([
    named(user("by the way"), "w1"),
    named(user("one"), "p1"),
    named(assistant("1"), "a1"),
    { type: "reset", reason: "cleared", id: "r" },
    named(user("two"), "p2"),
    named(assistant("2"), "a2"),
  ]);
  expect(inShort(promptsToReplay(branch))).toEqual({
    keptTo: branch[0]?.id,
    prompts: [
      [2, "p1", ["w1"], "a1"],
      [4, "p2", ["reset"], "a2"],
    ],
  });
});

test("seeds do not count, and what is hidden is not sent again", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const seed = { type: "seed", id: "s", run: "r", messages: [{ role: "user", content: "seeded" }] } as const;
  const chat = await holdfast.create({ id: "c", entries: [seed, ...TALK] });
  await chat.hide("p2");
  expect(inShort(promptsToReplay(await chat.branch()))).toEqual({
    keptTo: "s",
    prompts: [
      [1, "p1", [], "a2"],
      [5, "p3", [], "p3"],
    ],
  });
});

test("a replay from an entry begins with the prompt that it is, or came of", async () => {
  const branch = await branchOf([
    ...TALK,
    named(user("four"), "p4"),
    named(assistant("4"), "a4"),
    { type: "title", title: "Later" },
  ]);
  const first = (entry: string, start = 0): number | null => firstMessageFor(branch, entry, { start });
  expect(["p1", "a1", "p2", "a2", "p3", "p4", "a4"].map((entry) => first(entry))).toEqual([
    1, 1, 3, 3, 5, 6, 6,
  ]);
  // What comes before every prompt is before the first of them, and a run counts its own messages.
  expect(first(branch[0]?.id ?? "")).toBe(1);
  expect([first("a2", 3), first("a1", 3)]).toEqual([1, 1]);
  expect(first("elsewhere")).toBeNull();
});

test("state and skills that the host set between two turns are set again, what a turn set itself is not", async () => {
  const result = { role: "toolResult", toolCallId: "1", toolName: "t", content: [] } as const;
  const call = { type: "toolCall", id: "1", name: "t", input: {} } as const;
  const branch = await branchOf([
    { type: "skill_change", skills: [] },
    named(user("one"), "p1"),
    { type: "message", id: "a1", message: { role: "assistant", content: [call] } },
    { type: "state_change", state: { by: "the tool" } },
    { type: "message", id: "r1", message: result },
    named(assistant("1"), "a2"),
    { type: "state_change", state: { by: "the host" } },
    named(user("unanswered"), "p2"),
    { type: "state_change", state: { by: "the host again" } },
    named(user("three"), "p3"),
  ]);
  expect(inShort(promptsToReplay(branch, { start: 1 }))).toMatchObject({
    prompts: [
      [1, "p1", [], "a2"],
      [6, "p3", ["state_change", "p2", "state_change"], "p3"],
    ],
  });
});
