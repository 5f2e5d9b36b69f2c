import { expect, test } from "vitest";
import type { ModelEvent } from "#agent/models/model";
import { ask, call, finish, type Part, streamed, text } from "../../support/streamed-model.ts";

test("an answer is its blocks in order, with its usage and what it cost", async () => {
  const events: ModelEvent[] = [];
  const parts: readonly Part[] = [
    { type: "stream-start", warnings: [{ type: "other", message: "careful" }] },
    { type: "reasoning-start", id: "r" },
    { type: "reasoning-delta", id: "r", delta: "hm" },
    { type: "reasoning-delta", id: "r", delta: "", providerMetadata: { p: { signature: "sig" } } },
    { type: "reasoning-end", id: "r", providerMetadata: { p: { item: 1 } } },
    ...text("yes"),
    { type: "tool-input-start", id: "c", toolName: "read" },
    { type: "tool-input-delta", id: "c", delta: '{"n": 1.0}' },
    call("c", '{"n": 1.0}'),
    finish("tool-calls"),
  ];
  const { answer } = await ask(streamed(parts), { onEvent: (event) => void events.push(event) });
  expect(answer).toEqual({
    content: [
      { type: "thinking", thinking: "hm", providerMetadata: { p: { signature: "sig", item: 1 } } },
      { type: "text", text: "yes" },
      {
        type: "toolCall",
        id: "c",
        name: "read",
        input: { n: 1 },
        providerMetadata: { holdfast: { input: '{"n": 1.0}' } },
      },
    ],
    brokenCalls: [],
    finish: "calls",
    usage: {
      inputTokens: 40,
      outputTokens: 7,
      cacheReadTokens: 50,
      cacheWriteTokens: 10,
      costMicros: 40 + 70 + 5 + 20,
    },
    warnings: ["other: careful"],
  });
  expect(events).toEqual([
    { type: "thinking", text: "hm" },
    { type: "text", text: "yes" },
    { type: "call", call: "c", name: "read", chars: 0 },
    { type: "call", call: "c", name: "read", chars: 10 },
  ]);
});

test("empty blocks are kept where they carry something, and redacted thinking is its own kind", async () => {
  const { answer } = await ask(
    streamed([
      { type: "reasoning-start", id: "a", providerMetadata: { anthropic: { redactedData: "x" } } },
      { type: "reasoning-end", id: "a" },
      { type: "text-start", id: "b" },
      { type: "text-end", id: "b", providerMetadata: { google: { thoughtSignature: "t" } } },
      { type: "text-start", id: "c" },
      { type: "text-end", id: "c" },
      finish("stop"),
    ]),
  );
  expect(answer?.content).toEqual([
    { type: "redactedThinking", data: "x" },
    { type: "text", text: "", providerMetadata: { google: { thoughtSignature: "t" } } },
  ]);
});

test("calls that repeat an id or have none get one of their own", async () => {
  const { answer } = await ask(
    streamed([call("a", "{}"), call("a", "{}"), call("", ""), call("", "{}"), finish("stop")]),
  );
  const calls = answer?.content.flatMap((block) => (block.type === "toolCall" ? [block] : [])) ?? [];
  expect(calls.map(({ id }) => id)).toEqual(["a", "a_2", "call", "call_2"]);
  expect(calls.map(({ input }) => input)).toEqual([{}, {}, {}, {}]);
  expect(answer?.finish).toBe("calls");
});

test("an input that is no JSON, or nests without end, is kept as the text it is and not run", async () => {
  const deep = `${"[".repeat(6_000)}${"]".repeat(6_000)}`;
  const { answer } = await ask(
    streamed([call("a", '{"path": "x'), call("b", deep), call("c", "{}"), finish("tool-calls")]),
  );
  expect(answer?.brokenCalls).toEqual(["a", "b"]);
  expect(answer?.content.map((block) => (block.type === "toolCall" ? block.input : null))).toEqual([
    '{"path": "x',
    deep,
    {},
  ]);
});

test.each([
  ["length", "length"],
  ["other", "length"],
  ["content-filter", "filtered"],
] as const)("no call is run of an answer that ended by %s", async (unified, how) => {
  const { answer } = await ask(streamed([call("a", "{}"), finish(unified)]));
  expect([answer?.finish, answer?.brokenCalls]).toEqual([how, ["a"]]);
});

test("what a provider ran itself, and parts nobody knows, are kept word for word", async () => {
  const search: Part = { ...call("s", '{"q":1}'), providerExecuted: true } as Part;
  const found: Part = {
    type: "tool-result",
    toolCallId: "s",
    toolName: "web",
    result: { hits: 2 },
    providerMetadata: { p: { k: 1 } },
  };
  const strange = { type: "hologram", depth: 3 } as unknown as Part;
  const drawn: Part = {
    type: "file",
    mediaType: "image/png",
    data: { type: "data", data: new Uint8Array([1, 2]) },
  };
  const { answer } = await ask(
    streamed([search, found, strange, drawn, ...text("ok"), finish("stop", "pause_turn")]),
  );
  expect(answer?.finish).toBe("paused");
  expect(answer?.content).toEqual([
    { type: "part/tool-call", part: search },
    {
      type: "part/tool-result",
      part: { type: "tool-result", toolCallId: "s", toolName: "web", result: { hits: 2 } },
      providerMetadata: { p: { k: 1 } },
    },
    { type: "part/hologram", part: strange },
    { type: "image", mediaType: "image/png", data: "AQI=" },
    { type: "text", text: "ok" },
  ]);
});

test.each([
  ["no finish", []],
  ["an interrupted one", [finish("interrupted")]],
  ["a finish by error", [finish("error", "MALFORMED_FUNCTION_CALL")]],
  [
    "an error in between",
    [{ type: "error", error: { message: "Overloaded", type: "overloaded_error" } }, finish("stop")],
  ],
  ["lost data", [{ type: "error", error: named("AI_JSONParseError") }, finish("stop")]],
] as const)(
  "an answer with %s is none: its calls are not run, and what came is handed back",
  async (_, end) => {
    const asked = await ask(streamed([...text("half"), call("a", "{}"), ...(end as readonly Part[])]));
    expect(asked.answer).toBeNull();
    expect(asked.ending?.class).toBe("overloaded");
    expect(asked.answer === null && asked.partial.length).toBe(2);
  },
);

function named(name: string): Error {
  return Object.assign(new Error('quotes {"the prompt"}'), { name });
}

test("an event that only a newer Anthropic knows spoils nothing", async () => {
  const parts: readonly Part[] = [
    { type: "error", error: named("AI_TypeValidationError") },
    ...text("ok"),
    finish("stop"),
  ];
  expect((await ask(streamed(parts, "anthropic.messages"))).answer?.finish).toBe("stop");
  expect((await ask(streamed(parts))).answer).toBeNull();
});

test("a model without usage gives none, and one that was cut off what it said at its start", async () => {
  const none = {
    inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
    outputTokens: { total: undefined, text: undefined, reasoning: undefined },
  };
  const silent: Part = { type: "finish", finishReason: { unified: "stop", raw: undefined }, usage: none };
  expect((await ask(streamed([...text("a"), silent]))).answer?.usage).toBeNull();
  const start: Part = {
    type: "custom",
    kind: "anthropic.message_start",
    providerMetadata: { anthropic: { usage: { input_tokens: 9, cache_read_input_tokens: 90 } } },
  };
  const asked = await ask(streamed([start, ...text("a")]));
  expect(asked.answer === null && asked.usage).toEqual({
    inputTokens: 9,
    cacheReadTokens: 90,
    costMicros: 18,
  });
  expect(asked.answer === null && asked.partial).toEqual([{ type: "text", text: "a" }]);
});
