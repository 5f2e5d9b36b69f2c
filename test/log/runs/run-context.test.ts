/** Goal: what a run sends is its seeds, the messages of the runs it continues, then its own, and nothing else. */
import { describe, expect, test } from "vitest";
import type { Entry, EntryBody } from "#log/entry";
import type { EntryId } from "#log/ids";
import {
  type NodeAtDepth,
  ownNodes,
  runContext,
  type RunContext,
  type TurnFact,
} from "#log/runs/run-context";
import { seedMessages } from "#log/runs/seed-messages";

const SETTINGS = { model: null, config: {}, skills: [], state: null };
const text = (words: string) => [{ type: "text", text: words }] as const;

function entry(seq: number, body: EntryBody): Entry {
  const { type, ...rest } = body;
  return { v: 2, id: `e${seq}`, seq, parentId: null, time: "", payload: "{}", type, ...rest } as Entry;
}

const user = (seq: number, words: string): Entry =>
  entry(seq, { type: "message", message: { role: "user", content: text(words) } });
const nodes = (...entries: readonly Entry[]): readonly NodeAtDepth[] =>
  entries.map((one) => ({ entry: one, depth: one.seq })).toReversed();
const start = (seq: number, run?: string): TurnFact =>
  entry(seq, { type: "turn_start", turn: `t${seq}`, ...(run === undefined ? {} : { run }) }) as TurnFact;
const end = (seq: number, turn: string): TurnFact =>
  entry(seq, { type: "turn_end", turn, outcome: "completed" }) as TurnFact;
const seqs = (found: readonly NodeAtDepth[]): readonly number[] => found.map(({ entry: { seq } }) => seq);

describe("the nodes of a run", () => {
  const all = [2, 4, 6, 8, 11, 13].map((seq) => user(seq, `said ${seq}`));

  test("are those of its turns, with the prompt before each", () => {
    const turns = [start(3, "a"), end(5, "t3"), start(7, "b"), end(9, "t7"), start(12, "a")];
    expect(seqs(ownNodes({ run: "a", nodes: nodes(...all), turns }))).toEqual([13, 11, 4, 2]);
    expect(seqs(ownNodes({ run: "b", nodes: nodes(...all), turns }))).toEqual([8, 6]);
  });

  test("are also those that no turn has followed yet, and none of a turn that names no run", () => {
    expect(seqs(ownNodes({ run: "a", nodes: nodes(...all), turns: [] }))).toEqual([13, 11, 8, 6, 4, 2]);
    const turns = [start(3), end(5, "t3")];
    expect(seqs(ownNodes({ run: "a", nodes: nodes(...all), turns }))).toEqual([13, 11, 8, 6]);
  });
});

describe("what a run with seeds sends", () => {
  const seed = {
    depth: 1,
    messages: [
      { role: "system", content: "Be brief.", timestamp: "2026-01-01T00:00:00Z" },
      { role: "user", content: text("An email"), isNew: true, details: { secret: 1 } },
    ],
  };
  const said = ({ messages }: RunContext): readonly unknown[] => messages.map(({ content }) => content);
  const made = (more: Partial<Parameters<typeof runContext>[0]> = {}): RunContext =>
    runContext({
      seed,
      own: nodes(user(9, "own")),
      before: nodes(user(5, "before")),
      hidden: new Set<EntryId>(),
      settings: SETTINGS,
      resetDepth: -1,
      leaf: "e9",
      ...more,
    });

  test("is the seeds, then what it continues, then its own; the record beside a seed is not sent", () => {
    const context = made();
    expect(context.system).toBe("Be brief.");
    expect(said(context)).toEqual([text("An email"), text("before"), text("own")]);
    expect(context.messages[0]).toEqual({ role: "user", content: text("An email"), entryId: null });
  });

  test("has a summary in place of what a compaction cuts off, behind the seeds", () => {
    const compaction = entry(8, { type: "compaction", summary: "short", firstKeptEntryId: "e9" });
    const later = entry(10, { type: "compaction", summary: "short", firstKeptEntryId: "e9" });
    const kept = [text("An email"), [expect.objectContaining({ text: expect.stringContaining("short") })]];
    expect(said(made({ own: nodes(user(9, "own"), later) }))).toEqual([...kept, text("own")]);
    // What it keeps first lies before the run: all of the run is sent.
    const far = made({ own: nodes(compaction), before: nodes(user(5, "before")) });
    expect(said(far)).toEqual([...kept, text("before")]);
    expect(far.issues).toEqual([]);
  });

  test("has nothing of before a reset: no message, and no seed", () => {
    const context = made({ resetDepth: 7 });
    expect([context.system, said(context)]).toEqual([null, [text("own")]]);
    expect(said(made({ resetDepth: 0 }))).toHaveLength(3);
  });
});

describe("seeds", () => {
  test("give every call one result, and strange ones are still said", () => {
    const { system, messages, issues } = seedMessages([
      { role: "system", content: "one" },
      { role: "assistant", content: [{ type: "toolCall", id: "c", name: "n", input: {} }], model: "m/x" },
      { role: "user", content: "" },
      { role: "alien", content: { any: 1 } },
      { role: "system", content: text("two") },
      "no object",
    ]);
    expect(system).toBe("one\n\ntwo");
    expect(messages.map(({ role }) => role)).toEqual(["assistant", "toolResult", "user"]);
    expect(messages[2]?.content).toEqual(text('{"any":1}'));
    expect(issues.map(({ kind }) => kind)).toEqual(["orphan_call"]);
  });
});
