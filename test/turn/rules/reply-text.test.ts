/** Which of an agent's words a turn keeps, when the agent itself begins again or says what counts. */
import { expect, test } from "vitest";
import { withMember } from "#log/json/json-text";
import { turnMessages } from "#turn/rules/turn-record";
import { withoutErrorText } from "#upstream/finish-turn";
import type { TurnEvent } from "#turn/rules/turn-event";

const said = (message: string, text: string): TurnEvent => ({ type: "text", message, text });
const kept = (message: string, text: string): TurnEvent => ({ type: "final_text", message, text });
const call: TurnEvent = { type: "tool", call: "c", name: "bash", input: {}, state: "done", output: "ok" };

function words(...events: readonly TurnEvent[]): readonly string[] {
  return turnMessages(events, { model: null, stopReason: "endTurn" }).flatMap((body) =>
    body.type === "message" && body.message.role === "assistant"
      ? body.message.content.flatMap((block) => (block.type === "text" ? [block.text] : []))
      : [],
  );
}

test("a reply that is begun again under another id is kept once, whole", () => {
  expect(words(said("m1", "alpha "), said("m1", "beta "), said("m2", "alpha beta gamma"))).toEqual([
    "alpha beta gamma",
  ]);
});

test("a reply that goes on under another id, or after a tool, is kept in all its parts", () => {
  expect(words(said("m1", "alpha "), said("m2", "gamma"))).toEqual(["alpha ", "gamma"]);
  expect(words(said("m1", "alpha"), call, said("m2", "alpha beta"))).toEqual(["alpha", "alpha beta"]);
});

test("where the agent says what it keeps, words it gave up are left out and a rest is made whole", () => {
  expect(words(said("m1", "alpha beta "), said("m2", "other words"), kept("m2", "other words"))).toEqual([
    "other words",
  ]);
  expect(words(said("m1", "alpha beta "), kept("m2", "alpha beta gamma"), said("m2", "gamma"))).toEqual([
    "alpha beta gamma",
  ]);
  expect(words(said("m1", "one"), kept("m1", "one"), said("m2", "two"), kept("m2", "two"))).toEqual([
    "one",
    "two",
  ]);
});

test("what was being said when the turn was cut off stays, also when the agent says what it keeps", () => {
  expect(words(said("m1", "one"), kept("m1", "one"), call, said("m2", "half a"))).toEqual(["one", "half a"]);
  expect(words(said("m1", "half a"))).toEqual(["half a"]);
});

test("an error that was said as if it were an answer is no part of it; what was answered before is", () => {
  const failed = (...events: readonly TurnEvent[]): readonly string[] =>
    words(...withoutErrorText(events, "Internal error: Rate limited (429)"));
  expect(failed(said("m1", "Looking."), said("e", "Rate limited (429)"))).toEqual(["Looking."]);
  expect(failed(said("m1", "Looking."))).toEqual(["Looking."]);
  expect(
    words(...withoutErrorText([{ type: "text", message: "u", text: "Invalid key", adapterText: true }], "")),
  ).toEqual([]);
});

test("a member is put where there is none, and what is there stays as it was", () => {
  expect(withMember("{}", ["a", "b"], "1")).toBe('{"a":{"b":1}}');
  expect(withMember('{"x": 1e400}', ["a"], "2")).toBe('{"x":1e400,"a":2}');
  expect(withMember('{"a":{"c":3}}', ["a", "b"], "1")).toBe('{"a":{"c":3,"b":1}}');
  expect(withMember('{"a":{"b":false}}', ["a", "b"], "1")).toBe('{"a":{"b":false}}');
  expect(withMember('{"a":null}', ["a", "b"], "1")).toBe('{"a":null}');
});
