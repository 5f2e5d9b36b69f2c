import { expect, test } from "vitest";
import { unrecordedEvents } from "#upstream/rules/agent-record";
import type { TurnEvent } from "#turn/rules/turn-event";
import type { NativeMessage } from "#upstream/upstream";

const made = (message: NativeMessage["message"]): NativeMessage => ({ id: null, time: null, message });
const user = (text: string): NativeMessage => made({ role: "user", content: [{ type: "text", text }] });
const call = (id: string): NativeMessage =>
  made({ role: "assistant", content: [{ type: "toolCall", id, name: "sh", input: { cmd: "x" } }] });
const result = (toolCallId: string, text: string): NativeMessage =>
  made({ role: "toolResult", toolCallId, content: [{ type: "text", text }] });
const nothing = (): boolean => false;

function unheardCalls(
  record: readonly NativeMessage[],
  asked: string,
  known: (id: string) => boolean,
): readonly TurnEvent[] {
  return unrecordedEvents(record, { prompt: asked, text: null, isKnown: ({ id }) => known(id) });
}

const tool = { type: "tool", name: "sh", input: { cmd: "x" } };

test("a call without an outcome, or whose outcome is that it was cut off, has begun and no more is known", () => {
  const record = [
    user("old"),
    call("a"),
    result("a", "out"),
    user("before\nrun it"),
    call("b"),
    call("c"),
    { ...result("c", "Wall time: 0.1 seconds\naborted by user"), cutOff: true },
  ];
  expect(unheardCalls(record, "run it", nothing)).toEqual([
    { ...tool, call: "b", state: "started" },
    { ...tool, call: "c", state: "started" },
  ]);
});

test("a call that had ended is known to have ended", () => {
  expect(unheardCalls([user("run it\n"), call("a"), result("a", "out")], "run it", nothing)).toEqual([
    { ...tool, call: "a", state: "started" },
    { ...tool, call: "a", state: "done", output: "out" },
  ]);
});

test("a call that failed is not done, and one that never ran did not start", () => {
  const failed = (id: string): NativeMessage =>
    made({ role: "toolResult", toolCallId: id, isError: true, content: [{ type: "text", text: "no" }] });
  const record = [user("run it"), call("a"), failed("a"), call("b"), { ...failed("b"), notRun: true }];
  expect(unheardCalls(record, "run it", nothing)).toEqual([
    { ...tool, call: "a", state: "started" },
    { ...tool, call: "a", state: "failed", output: "no" },
    { ...tool, call: "b", state: "started" },
    { ...tool, call: "b", state: "failed", output: "no", details: { notRun: true } },
  ]);
});

test("what was told, and what belongs to another prompt, is not told again", () => {
  const record = [user("run it"), call("a"), call("b")];
  expect(unheardCalls(record, "run it", (id) => id === "a")).toMatchObject([{ call: "b" }]);
  expect(unheardCalls(record, "something else", nothing)).toEqual([]);
  expect(unheardCalls([], "run it", nothing)).toEqual([]);
});

test("words that go on where those that came ended are told, and none once the two have parted", () => {
  const said = (text: string): NativeMessage =>
    made({ role: "assistant", content: [{ type: "text", text }] });
  const record = [user("tell"), said("one two"), call("a"), said("three")];
  const heard = (words: string): readonly TurnEvent[] =>
    unrecordedEvents(record, { prompt: "tell", text: words, isKnown: () => true });
  expect(heard("one ")).toEqual([
    { type: "text", text: "two" },
    { type: "text", text: "three" },
  ]);
  expect(heard("one twoth")).toEqual([{ type: "text", text: "ree" }]);
  expect(heard("one twothree")).toEqual([]);
  expect(heard("won two")).toEqual([]);
});

test("a line break behind the words that came is no text of its own: a service rejects a blank one", () => {
  const said = made({ role: "assistant", content: [{ type: "text", text: "one two\n" }] });
  const record = [user("tell"), said, call("a")];
  const events = unrecordedEvents(record, { prompt: "tell", text: "one two", isKnown: () => false });
  expect(events).toEqual([{ ...tool, call: "a", state: "started" }]);
});
