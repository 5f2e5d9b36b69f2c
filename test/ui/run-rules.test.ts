import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { decodeEntry } from "#log/codec";
import type { Entry, EntryBody } from "#log/entry";
import { assistant, toolResult, user } from "#log/message";
import { inMemoryStore } from "#stores/in-memory/index";
import { restoredMessages } from "../../ui/src/pages/runs/restored-messages.ts";
import { stepsOf } from "../../ui/src/pages/runs/run-steps.ts";
import { runMs, runState, triggerKinds, triggerText } from "../../ui/src/pages/runs/run-words.ts";

const CALLS: EntryBody = {
  type: "message",
  message: {
    role: "assistant",
    model: "m",
    content: [
      { type: "text", text: "On it." },
      { type: "toolCall", id: "c1", name: "send", input: { to: "anna" } },
      { type: "toolCall", id: "c2", name: "send", input: { to: "ben" } },
      { type: "toolCall", id: "c3", name: "look", input: {} },
    ],
    usage: { inputTokens: 10, outputTokens: 2, costMicros: 5 },
  },
};
const RUN: readonly EntryBody[] = [
  {
    type: "seed",
    id: "s",
    run: "r",
    messages: [
      { role: "system", content: "Be brief" },
      { role: "user", content: "Hi", isNew: true },
    ],
  },
  { type: "run_start", run: "r", trigger: "email", triggerId: "7", seed: "s", seedCount: 2 },
  { type: "turn_start", turn: "t", run: "r" },
  user("Write to both"),
  { type: "attempt", turn: "t", model: "m" },
  CALLS,
  { type: "tool_intent", call: "c1", name: "send", input: { to: "anna" }, turn: "t" },
  { type: "tool_intent", call: "c2", name: "send", input: { to: "ben" }, replay: "safe", turn: "t" },
  toolResult("c1", "sent"),
  {
    type: "message",
    message: {
      role: "toolResult",
      toolCallId: "c3",
      isError: true,
      content: [{ type: "text", text: "gone" }],
    },
  },
  { type: "state_change", state: { sent: 1 } },
  assistant("Done"),
  { type: "turn_end", turn: "t", outcome: "failed", class: "too_long" },
  { type: "run_end", run: "r", status: "failed", error: { message: "Too long", code: "too_long" } },
];

async function written(): Promise<{ readonly holdfast: Holdfast; readonly entries: readonly Entry[] }> {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const thread = await holdfast.create({ id: "thread" });
  await thread.append(RUN);
  const entries: Entry[] = [];
  for await (const stored of thread.log()) entries.push(decodeEntry(stored));
  return { holdfast, entries };
}

test("a run is told step by step; a call without an outcome is unknown, unless the run goes on", async () => {
  const { entries } = await written();
  const short = (isRunning: boolean): readonly (readonly unknown[])[] =>
    stepsOf(entries, isRunning).map(({ kind, what, words, outcome }) => [kind, what, words, outcome]);
  expect(short(false)).toEqual([
    ["prompt", "Run inputs", "2 messages", null],
    ["turn", "Turn starts", "t", null],
    ["prompt", "Prompt", "Write to both", null],
    ["answer", "Step 1: m", "On it. calls send, send, look", null],
    ["call", "send, recorded first", "anna (never repeated)", "done"],
    ["call", "send, recorded first", "ben (safe to repeat)", "unknown"],
    ["result", "send returned", "sent", "done"],
    ["result", "look returned", "gone", "failed"],
    ["setting", "State", '{"sent":1}', null],
    ["answer", "Step 2: an answer", "Done", null],
    ["turn", "Turn ends", "failed, too long", "failed"],
    ["end", "Run ends", "Too long", "failed"],
  ]);
  expect(short(true)[5]?.[3]).toBeNull();
  expect(stepsOf(entries)[3]?.usage).toMatchObject({ inputTokens: 10, costMicros: 5 });
});

test("what is restored is read message by message: the seeds, the run's own, and what is sent next", async () => {
  const { holdfast } = await written();
  const hydrated = await holdfast.hydrate("r");
  const read = (what: Parameters<typeof restoredMessages>[0]): readonly (readonly string[])[] =>
    restoredMessages(what, hydrated).map(({ role, words, note }) => [role, words, note]);
  expect(read("seeds")).toEqual([
    ["system", "Be brief", ""],
    ["user", "Hi", "new"],
  ]);
  expect(read("messages")[1]).toEqual([
    "assistant",
    "On it.\ncalls send anna\ncalls send ben\ncalls look {}",
    "",
  ]);
  expect(read("context").slice(0, 2)).toEqual([
    ["system", "Be brief", ""],
    ["user", "Hi", ""],
  ]);
  const long = restoredMessages("seeds", {
    ...hydrated,
    seeds: [{ role: "user", content: "x".repeat(5_000) }],
  });
  expect(long[0]?.words).toMatch(/1,000 more characters/);
});

test("how a run stands is said in words: who cut it off did not make it fail", () => {
  const state = (status: string, code: string | null = null): string =>
    runState({ status, error: status === "failed" ? { message: "", code } : null } as never).words;
  expect([state("running"), state("completed"), state("failed")]).toEqual(["running", "completed", "failed"]);
  expect([state("failed", "cancelled"), state("failed", "too_long")]).toEqual([
    "cancelled",
    "failed: too long",
  ]);
  expect(triggerText({ trigger: { type: "email", id: "7" } })).toBe("email 7");
  expect(triggerText({ trigger: { type: "chat", id: null } })).toBe("chat");
  const [began, ended] = ["2026-01-01T00:00:00Z", "2026-01-01T00:00:05Z"];
  expect(runMs({ startedAt: began, completedAt: ended }, 0)).toBe(5_000);
  expect(runMs({ startedAt: began, completedAt: null }, Date.parse(ended))).toBe(5_000);
  const of = (type: string): { readonly trigger: { readonly type: string; readonly id: null } } => ({
    trigger: { type, id: null },
  });
  expect(triggerKinds([of("chat"), of("replay"), of("chat")])).toEqual([
    ["chat", 2],
    ["replay", 1],
  ]);
});
