/** What a turn leaves, for any order of events; what of it is an error, a remark, or was said twice. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { EntryBody } from "#log/entry";
import type { Message } from "#log/message";
import { ReplayGuard } from "#upstream/rules/replay-guard";
import { transcriptMatches } from "#upstream/rules/transcript";
import { turnMessages } from "#turn/rules/turn-record";
import { withoutErrorText } from "#upstream/finish-turn";
import { turnText, type TurnEvent } from "#turn/rules/turn-event";

const text = (words: string, message?: string): TurnEvent => ({
  type: "text",
  text: words,
  ...(message === undefined ? {} : { message }),
});
const tool = (call: string, state: "started" | "done" | "failed"): TurnEvent => ({
  type: "tool",
  call,
  name: "do",
  input: {},
  state,
});

const someTool = fc
  .record({ call: fc.constantFrom("a", "b", "c"), state: fc.constantFrom("started", "done", "failed") })
  .map(({ call, state }) => tool(call, state));
const someWords = fc.string({ minLength: 1, maxLength: 4 });
const aside: readonly TurnEvent[] = [
  { type: "usage", usage: { inputTokens: 1 } },
  { type: "session", id: "s" },
  { type: "forward_only" },
  { type: "plan", data: {} },
];
const someEvents = (ids: readonly (string | undefined)[]): fc.Arbitrary<readonly TurnEvent[]> =>
  fc.array(
    fc.oneof(
      fc.tuple(someWords, fc.constantFrom(...ids)).map(([words, id]) => text(words, id)),
      someWords.map((words): TurnEvent => ({ type: "thinking", text: words })),
      someTool,
      fc.constantFrom(...aside),
    ),
    { maxLength: 25 },
  );

function left(events: readonly TurnEvent[]): readonly Message[] {
  const bodies = turnMessages(events, { model: null, stopReason: "endTurn" });
  return bodies.flatMap((body: EntryBody) => (body.type === "message" ? [body.message] : []));
}

const wordsOf = (messages: readonly Message[]): string =>
  messages
    .filter(({ role }) => role === "assistant")
    .flatMap(({ content }) => content.map((block) => (block.type === "text" ? block.text : "")))
    .join("");

function callsOf(message: Message): readonly string[] {
  return message.content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
}

describe("the messages of a turn, for any order of events", () => {
  test("have each call once, in the order they were told, each result right behind its message in that order", () => {
    fc.assert(
      fc.property(someEvents([undefined, "m", "n"]), (events) => {
        const tools = events.filter((event) => event.type === "tool");
        const ended = new Set(tools.filter(({ state }) => state !== "started").map(({ call }) => call));
        const messages = left(events);
        expect(messages.flatMap(callsOf)).toEqual([...new Set(tools.map(({ call }) => call))]);
        const expected = messages
          .filter(({ role }) => role === "assistant")
          .flatMap((message) => ["assistant"].concat(callsOf(message).filter((call) => ended.has(call))));
        expect(
          messages.map((message) => (message.role === "toolResult" ? message.toolCallId : message.role)),
        ).toEqual(expected);
      }),
      { numRuns: 1_000 },
    );
  });

  test("have every word in the order of the wire", () => {
    fc.assert(
      fc.property(someEvents([undefined]), (events) => {
        expect(wordsOf(left(events))).toBe(turnText(events));
      }),
    );
  });

  test("lack a part that broke off only when the whole of it follows under another id", () => {
    fc.assert(
      fc.property(someWords, someWords, fc.nat({ max: 4 }), (words, others, cut) => {
        const whole = words + others;
        expect(wordsOf(left([text(whole.slice(0, cut), "m"), text(whole, "n")]))).toBe(whole);
        const repeats = others.startsWith(words);
        const both = wordsOf(left([text(words, "m"), text(others, "n")]));
        expect(both).toBe(repeats ? others : words + others);
        expect(wordsOf(left([text(words, "m"), text(words + others, "m")]))).toBe(words + words + others);
        const between = [text(words, "m"), tool("a", "done"), text(words + others, "n")];
        expect(wordsOf(left(between))).toBe(words + words + others);
      }),
    );
  });

  test("keep the ids of the agent's messages and all it said of a call, beside what a model is sent", () => {
    const [first] = left([
      text("go", "m1"),
      { ...tool("a", "started"), detail: { title: "Do", kind: "edit" } } as TurnEvent,
      { ...tool("a", "started"), detail: { title: "Done" } } as TurnEvent,
    ]);
    expect(first?.details).toEqual({ messages: ["m1"], tools: { a: { title: "Done", kind: "edit" } } });
    expect(left([text("go")])[0]?.details).toBeUndefined();
  });
});

describe("what is left of an attempt that failed", () => {
  const kept = (events: readonly TurnEvent[], message: string): string =>
    turnText(withoutErrorText(events, message));
  const ERROR = "API Error: 529 Overloaded";

  test.each([
    ["an error said as an answer", [text(ERROR)], ""],
    ["one in pieces", [text("API Err"), text("or: 529 Over"), text("loaded\n")], ""],
    ["one with more around it", [text(`Sorry. ${ERROR}!`, "m")], ""],
    ["a part of it", [text("Error: 529 Overloaded", "m")], ""],
    ["an answer before it, with ids", [text("So far", "m"), text(ERROR, "n")], "So far"],
    ["an answer before it, without ids", [text("So "), text("far. "), text(ERROR)], "So far. "],
    ["an answer before a tool", [text("So far"), tool("a", "done"), text(ERROR)], "So far"],
    ["a part of it after a tool", [text("So far"), tool("a", "done"), text("529 Overloaded")], "So far"],
    ["an honest answer", [text("So far")], "So far"],
    ["a word that stands in the error", [text("Over")], "Over"],
    ["a remark of the program", [text("So far", "m"), { ...text("Hm", "n"), adapterText: true }], "So far"],
    ["a remark without an id", [text("So far"), { ...text("Hm"), adapterText: true }], "So far"],
  ] as const)("%s", (_, events, expected) => {
    expect(kept(events as readonly TurnEvent[], ERROR)).toBe(expected);
  });

  test("a remark goes also when the failure has no words", () => {
    expect(kept([{ ...text("Hm"), adapterText: true } as TurnEvent], "")).toBe("");
    expect(kept([text("So far")], "")).toBe("So far");
  });

  test("is everything but text, whatever the error", () => {
    fc.assert(
      fc.property(someEvents([undefined, "m"]), someWords, (events, message) => {
        const rest = withoutErrorText(events, message);
        const others = (all: readonly TurnEvent[]): readonly TurnEvent[] =>
          all.filter(({ type }) => type !== "text");
        expect(others(rest)).toEqual(others(events));
        expect(turnText(events).startsWith(turnText(rest))).toBe(true);
      }),
    );
  });
});

test.each(["permission", "forward_only"] as const)(
  "a %s that asks something lets through what was held",
  (type) => {
    const guard = new ReplayGuard(["The sky is blue"], true);
    expect(guard.add(text("The sky"), 1)).toEqual([]);
    const event: TurnEvent = type === "forward_only" ? { type, expectsAnswer: true } : { type, data: {} };
    expect(guard.add(event, 1)).toEqual([text("The sky"), event]);
    expect(guard.add(text(" is blue"), 500)).toHaveLength(1);
  },
);

test("a transcript is compared also when what is known begins in the middle of a reply", () => {
  const shown = [
    { role: "user", text: "hi" },
    { role: "assistant", text: "one" },
    { role: "assistant", text: "two" },
  ] as const;
  const known = (...texts: readonly string[]): boolean =>
    transcriptMatches(
      shown,
      texts.map((said) => ({ role: "assistant", text: said })),
    );
  const asked = { role: "user", text: "hi" } as const;
  expect(transcriptMatches(shown, [{ role: "assistant", text: "two" }, asked])).toBe(false);
  expect([known("two"), known("two", "one"), known("one"), known("two", "three")]).toEqual([
    true,
    true,
    false,
    false,
  ]);
});
