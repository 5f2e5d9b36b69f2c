import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Json } from "#log/json/json-text";
import { conversationIdFor } from "#transfer/migrate/ready-pieces";
import { addedByEach, lookWhole, messagesOfStep, orderSteps } from "#transfer/migrate/checkpoint-steps";
import { foreignProblem, readForeign, shapeOf, writeForeign } from "#transfer/migrate/foreign-messages";
import { columnsOf, parseColumns, messageOfRow, parseExact, timeOf } from "#transfer/migrate/table-row";

describe("the order of steps", () => {
  const steps = (names: readonly string[]): { checkpoint: string; time: string }[] =>
    names.map((checkpoint, at) => ({ checkpoint, time: `2026-01-01T00:00:${String(at).padStart(2, "0")}Z` }));
  const names = (list: readonly { readonly checkpoint: string }[]): readonly string[] =>
    list.map(({ checkpoint }) => checkpoint);
  const ran = [
    "start",
    "loop",
    ...Array.from({ length: 10 }, (_, at) => `loop#${at + 2}`),
    "mail",
    "loop#12",
  ];

  test("is that in which they ran, in whichever order they are read", () => {
    fc.assert(
      fc.property(fc.shuffledSubarray(steps(ran), { minLength: ran.length }), (read) => {
        expect(names(orderSteps(read))).toEqual(ran);
      }),
    );
  });

  test("is that of their numbers where one was written again later", () => {
    const late = steps(ran);
    for (const step of late) if (step.checkpoint === "loop#3") step.time = "2027";
    // The step of another name stands one further back: nothing tells where it was.
    expect(names(orderSteps(late)).filter((name) => name !== "mail")).toEqual(
      ran.filter((name) => name !== "mail"),
    );
  });

  test("is refused where one is missing", () => {
    const lost = steps(ran).filter(({ checkpoint }) => checkpoint !== "loop#4");
    expect(() => orderSteps(lost)).toThrow(expect.objectContaining({ code: "invalid_entry" }));
  });
});

test("messages are found in what a step gives: under the usual names, as a list, or as one; a pointer has none", () => {
  const hi = { role: "user", content: "hi" };
  for (const state of [
    { appendedMessages: [hi] },
    { newMessages: [hi], finishReason: "x" },
    { messages: [hi] },
    [hi],
    hi,
  ])
    expect(messagesOfStep(state, null)).toEqual([hi]);
  expect(messagesOfStep({ added: [hi], messages: [] }, "added")).toEqual([hi]);
  for (const state of [{ v: 1, fromSeq: 1, toSeq: 2 }, null, 3, "x", [], [1], { role: "admin" }])
    expect(messagesOfStep(state, null)).toEqual([]);
  for (const state of [
    { appendedMessages: "x" },
    { appendedMessages: [1] },
    { newMessages: [{ role: "king", content: "x" }] },
  ])
    expect(() => messagesOfStep(state, null)).toThrow(expect.objectContaining({ code: "invalid_entry" }));
});

test("lists that grow from step to step are told from what steps appended, and what each adds is known", () => {
  const [a, b, c] = ["a", "b", "c"].map((content) => ({ role: "user", content }));
  const [one, two] = [a ?? null, b ?? null];
  const grown = [
    [one, two],
    [one, two, c ?? null],
  ];
  expect([lookWhole(grown), lookWhole([[one], [one, two]])]).toEqual([true, true]);
  expect(addedByEach(grown)).toEqual([[one, two], [c]]);
  // Two steps that say the same are no list that grows.
  expect([lookWhole([[one], [one]]), lookWhole([[one, two], [c ?? null]]), lookWhole([[one, two]])]).toEqual([
    false,
    false,
    false,
  ]);
  expect(addedByEach([[one, two], [one]])).toBeNull();
});

const SHAPES: readonly (readonly [string, readonly Json[]])[] = [
  [
    "openai",
    [
      {
        role: "assistant",
        content: null,
        tool_calls: [{ id: "a", type: "function", function: { name: "ls", arguments: "{ }" } }],
      },
    ],
  ],
  ["openai", [{ role: "tool", tool_call_id: "a", content: "x" }]],
  [
    "openai",
    [{ role: "user", content: [{ type: "image_url", image_url: { url: "data:image/png;base64,aGk=" } }] }],
  ],
  ["openai", [{ role: "user", content: "plain", name: "bob" }]],
  ["anthropic", [{ role: "assistant", content: [{ type: "tool_use", id: "a", name: "ls", input: {} }] }]],
  [
    "anthropic",
    [
      {
        role: "user",
        content: [
          { type: "tool_result", tool_use_id: "a", content: "x" },
          { type: "text", text: "y" },
        ],
      },
    ],
  ],
  [
    "ai-sdk",
    [{ role: "assistant", content: [{ type: "tool-call", toolCallId: "a", toolName: "ls", input: {} }] }],
  ],
  [
    "ai-sdk",
    [
      {
        role: "tool",
        content: [
          { type: "tool-result", toolCallId: "a", toolName: "ls", output: { type: "json", value: [1] } },
        ],
      },
    ],
  ],
  [
    "holdfast",
    [
      {
        role: "assistant",
        content: [{ type: "toolCall", id: "a", name: "ls", arguments: { b: 1 } }],
        api: "x",
        usage: { input: 3 },
      },
    ],
  ],
  ["holdfast", [{ role: "toolResult", toolCallId: "a", content: "text", details: { type: "sentEmail" } }]],
];

test.each(SHAPES)(
  "a message of %s is known by what only it has, and is the same on the way back",
  (name, messages) => {
    const shape = shapeOf(messages);
    expect(shape).toBe(name);
    const read = readForeign(shape, messages);
    expect(read.length).toBeGreaterThan(0);
    const written = writeForeign(shape, read);
    expect(readForeign(shape, written)).toEqual(read);
    if (name !== "holdfast") expect(written).toEqual(messages);
  },
);

test("what details a message has of its own stay as they are", () => {
  const [read] = readForeign("holdfast", [
    { role: "toolResult", toolCallId: "a", content: "text", details: { type: "sentEmail" } },
  ]);
  expect(read?.details).toEqual({ type: "sentEmail" });
});

test("what is no message is told as what it lacks", () => {
  const wrong: readonly Json[] = [
    1,
    {},
    { role: "king", content: "x" },
    { role: "user" },
    { role: "user", content: 3 },
    { role: "user", content: [{ text: "x" }] },
    { role: "assistant", content: null, tool_calls: [{ id: 1 }] },
  ];
  for (const message of wrong) expect(foreignProblem(message), JSON.stringify(message)).not.toBeNull();
  expect(foreignProblem({ role: "user", content: "" })).toBeNull();
});

test("a row is text, blocks or a whole message; JSON that somebody typed stays text", () => {
  const row = (role: string | null, text: string, json = false): Json =>
    messageOfRow({ role, content: { text, json }, members: {} });
  expect(row("human", "hi")).toEqual({ role: "user", content: "hi" });
  expect(row("user", '{"a":1}')).toEqual({ role: "user", content: '{"a":1}' });
  expect(row("ai", '[{"type":"text","text":"x"}]')).toEqual({
    role: "assistant",
    content: [{ type: "text", text: "x" }],
  });
  expect(row(null, '{"role":"user","content":"x"}')).toEqual({ role: "user", content: "x" });
  expect(row("user", '"x"', true)).toEqual({ role: "user", content: "x" });
  expect(() => row("user", '{"a":1}', true)).toThrow(expect.objectContaining({ code: "invalid_entry" }));
  const called = messageOfRow({
    role: "assistant",
    content: { text: null, json: false },
    members: {
      tool_calls: { text: '[{"id":"a","type":"function"}]', json: false },
      name: { text: null, json: false },
    },
  });
  expect(called).toEqual({ role: "assistant", content: null, tool_calls: [{ id: "a", type: "function" }] });
});

test("no number is rounded without a word", () => {
  for (const text of ["12345678901234567890", "[1e400]", '{"a":0.12345678901234567890}'])
    expect(() => parseExact(text)).toThrow(expect.objectContaining({ code: "invalid_entry" }));
  expect(parseExact('{"a":"12345678901234567890","b":[1000000000000000000000,1.50,-0.1e-7]}')).toEqual({
    a: "12345678901234567890",
    b: [1e21, 1.5, -0.1e-7],
  });
});

test("times of databases are read as moments", () => {
  const moment = "2026-01-01T10:00:00.000Z";
  for (const text of [
    "2026-01-01 10:00:00",
    "2026-01-01 11:00:00+01",
    "2026-01-01T10:00:00Z",
    "1767261600",
    "1767261600000",
    "1767261600000000",
  ])
    expect(timeOf(text), text).toBe(moment);
  expect(timeOf(null)).toBeNull();
  expect(() => timeOf("yesterday")).toThrow(expect.objectContaining({ code: "invalid_entry" }));
});

test("columns are found by their usual names, in either spelling, or as given", () => {
  const usual = columnsOf(["id", "chatId", "role", "content", "createdAt"]);
  expect(usual).toMatchObject({ conversation: "chatId", order: ["createdAt", "id"], content: "content" });
  const numbered = columnsOf(["session_id", "ordinal", "role", "content", "tool_calls"]);
  expect(numbered).toMatchObject({ order: ["ordinal"], created: null, members: ["tool_calls"] });
  expect(columnsOf(["a", "b"])).toBeNull();
  // A store of ours in the same database is no source.
  expect(columnsOf(["conversation", "seq", "segment", "payload"])).toBeNull();
  expect(columnsOf(["a", "b", "c"], parseColumns("conversation=a, ordinal=b, content=c"))).toMatchObject({
    role: null,
  });
  expect(() => parseColumns("chat=a")).toThrow(expect.objectContaining({ code: "invalid_request" }));
});

test("a name that can be an id is the id; any other has one that follows from it", () => {
  expect(conversationIdFor("thread-1")).toBe("thread-1");
  expect(conversationIdFor("a@b")).toBe(conversationIdFor("a@b"));
  expect(conversationIdFor("a@b")).not.toBe(conversationIdFor("a@c"));
});
