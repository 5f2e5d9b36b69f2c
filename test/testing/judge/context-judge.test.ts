import { expect, test } from "vitest";
import type { ContextMessage } from "#log/projections/pairs";
import { judgeContext } from "../../../src/testing/judge/context-judge.ts";

const said = (role: "user" | "assistant", text: string, ...calls: readonly string[]): ContextMessage => ({
  role,
  content: [
    ...(text === "" && calls.length > 0 ? [] : [{ type: "text", text } as const]),
    ...calls.map((id) => ({ type: "toolCall", id, name: "t", input: {} }) as const),
  ],
  entryId: null,
});
const result = (toolCallId: string): ContextMessage => ({
  role: "toolResult",
  toolCallId,
  content: [{ type: "text", text: "ok" }],
  entryId: null,
});

test("whole conversations pass, also with prompts in a row and parallel calls in any order of results", () => {
  const whole = [
    said("user", "one"),
    said("user", "two"),
    said("assistant", "", "a", "b"),
    result("b"),
    result("a"),
    said("user", "and"),
    said("assistant", "done"),
  ];
  expect(judgeContext(whole)).toEqual([]);
  expect(judgeContext([])).toEqual([]);
});

test("an answer of thinking alone is left out, as it is of requests", () => {
  const thinking: ContextMessage = {
    role: "assistant",
    content: [{ type: "thinking", thinking: "hm" }],
    entryId: null,
  };
  expect(judgeContext([said("user", "x"), thinking, said("user", "y")])).toEqual([]);
});

test.each<[string, readonly ContextMessage[], "both" | "Anthropic"]>([
  ["a call without a result", [said("user", "x"), said("assistant", "", "a"), said("user", "y")], "both"],
  ["a call without a result at the end", [said("user", "x"), said("assistant", "", "a")], "both"],
  ["a result without a call", [said("user", "x"), result("a")], "both"],
  ["a result twice", [said("user", "x"), said("assistant", "", "a"), result("a"), result("a")], "both"],
  [
    "a result behind the next words",
    [said("user", "x"), said("assistant", "", "a"), said("user", "y"), result("a")],
    "both",
  ],
  [
    "a result of another call",
    [said("user", "x"), said("assistant", "", "a"), result("b"), said("user", "y")],
    "both",
  ],
  ["an empty message", [said("user", " ")], "both"],
  ["an assistant that begins", [said("assistant", "x")], "Anthropic"],
  [
    "one id for two calls",
    [said("user", "x"), said("assistant", "", "a", "a"), result("a"), result("a")],
    "both",
  ],
])("%s is refused", (_, messages, by) => {
  const broken = judgeContext(messages).join("\n");
  expect(broken).toContain("Anthropic");
  if (by === "both") expect(broken).toContain("OpenAI");
});
