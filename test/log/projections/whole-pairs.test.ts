import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Message } from "#log/message";
import { wholePairs } from "#log/projections/whole-pairs";

const says = (...ids: readonly string[]): Message => ({
  role: "assistant",
  content: ids.map((id) => ({ type: "toolCall", id, name: "look", input: {} })),
});
const user: Message = { role: "user", content: [{ type: "text", text: "u" }] };
const result = (toolCallId: string, text = "r"): Message => ({
  role: "toolResult",
  toolCallId,
  content: [{ type: "text", text }],
});
const inShort = (messages: readonly Message[]): readonly string[] =>
  messages.map((message) => {
    if (message.role === "toolResult") return `${message.toolCallId}${message.isError === true ? "?" : "="}`;
    if (message.role === "user") return "u";
    return message.content.map((block) => (block.type === "toolCall" ? block.id : "")).join("+");
  });

describe("a list of messages becomes whole", () => {
  test.each<[string, readonly Message[], readonly string[], readonly string[]]>([
    ["a whole one stays", [user, says("a", "b"), result("a"), result("b")], ["u", "a+b", "a=", "b="], []],
    ["results in another order", [says("a", "b"), result("b"), result("a")], ["a+b", "a=", "b="], []],
    ["a result without a call", [user, result("x")], ["u"], ["orphan_result x 1"]],
    [
      "a result before its call",
      [result("a"), says("a")],
      ["a", "a?"],
      ["orphan_result a 0", "missing_result a 1"],
    ],
    ["a call without a result", [says("a"), user], ["a", "a?", "u"], ["missing_result a 0"]],
    ["a call at the end", [says("a", "b"), result("b")], ["a+b", "a?", "b="], ["missing_result a 0"]],
    ["a second result", [says("a"), result("a"), result("a")], ["a", "a="], ["duplicate_result a 2"]],
    ["a result that came late", [says("a"), user, result("a")], ["a", "a=", "u"], ["moved_result a 2"]],
    ["an id in two answers", [says("a"), result("a"), says("a"), result("a")], ["a", "a=", "a", "a="], []],
    [
      "an id in two answers, one of them without a result",
      [says("a"), says("a"), result("a")],
      ["a", "a?", "a", "a="],
      ["missing_result a 0"],
    ],
    [
      "an id twice in one answer",
      [says("a", "a", "a_2"), result("a"), result("a_2"), result("a")],
      ["a+a_3+a_2", "a=", "a_3=", "a_2="],
      ["renamed_call a 0"],
    ],
  ])("%s", (_, given, messages, repairs) => {
    const whole = wholePairs(given);
    expect(inShort(whole.messages)).toEqual(messages);
    expect(whole.repairs.map(({ kind, call, at }) => `${kind} ${call} ${at}`)).toEqual(repairs);
    expect(whole.repairs.every(({ message }) => message.length > 0)).toBe(true);
  });

  test("whatever it was, every call has one result right behind it, and mending twice is mending once", () => {
    const ids = fc.constantFrom("a", "b", "a_2", "");
    const messages = fc.array(
      fc.oneof(
        fc.constant(user),
        ids.map((id) => result(id)),
        fc.array(ids, { maxLength: 3 }).map((list) => says(...list)),
      ),
      { maxLength: 12 },
    );
    fc.assert(
      fc.property(messages, (given) => {
        const { messages: whole, repairs } = wholePairs(given);
        let open: string[] = [];
        for (const message of whole) {
          if (message.role === "toolResult") expect(open.shift()).toBe(message.toolCallId);
          else {
            expect(open).toEqual([]);
            open = message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
            expect(new Set(open).size).toBe(open.length);
          }
        }
        expect(open).toEqual([]);
        expect(wholePairs(whole)).toEqual({ messages: whole, repairs: [] });
        if (repairs.length === 0) expect(inShort(whole).toSorted()).toEqual(inShort(given).toSorted());
      }),
    );
  });
});
