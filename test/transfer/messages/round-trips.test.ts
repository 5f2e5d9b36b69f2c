import fc from "fast-check";
import { describe, expect, test } from "vitest";
import {
  type AnthropicMessageLike,
  fromAiSdk,
  fromAnthropic,
  fromOpenAI,
  type OpenAIMessageLike,
  type Sayable,
  toAiSdk,
  toAnthropic,
  toOpenAI,
} from "#transfer/messages/index";
import type { ContentBlock, Message } from "#log/message";

const word = fc.string({ minLength: 1, maxLength: 8 });
const json = fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<never>;
const base64 = fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString("base64"));
/** That no service refuses, also at the end of a request. */
const words = fc.string({ minLength: 1 }).filter((one) => one.trim() !== "" && one.trimEnd() === one);
const callId = fc.constantFrom("c1", "c2", "c3");

/** What JSON makes of a value: members that are undefined are none. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const some = <T>(arbitrary: fc.Arbitrary<T>, maxLength: number = 3): fc.Arbitrary<T[]> =>
  fc.array(arbitrary, { maxLength });
const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(arbitrary, { nil: undefined });

const text = fc.record({ type: fc.constant("text" as const), text: fc.string() });

describe("OpenAI", () => {
  const part = fc.oneof(
    text,
    fc.record({
      type: fc.constant("image_url"),
      image_url: fc.record({
        url: fc.oneof(
          base64.map((data) => `data:image/png;base64,${data}`),
          fc.webUrl(),
        ),
        detail: fc.constantFrom("low", "high", undefined),
      }),
    }),
    fc.record({ type: fc.constant("input_audio"), input_audio: json }),
  );
  const call = fc.record({
    id: callId,
    type: fc.constant("function"),
    function: fc.record({
      name: word,
      arguments: fc.oneof(
        json.map((value) => JSON.stringify(value)),
        fc.string(),
      ),
    }),
  });
  const wire = fc.oneof(
    fc.record({ role: fc.constant("user"), content: fc.oneof(fc.string(), some(part)), name: maybe(word) }),
    fc.record({
      role: fc.constant("assistant"),
      content: fc.oneof(fc.string(), fc.constant(null), some(text)),
      tool_calls: maybe(some(call)),
      refusal: fc.constantFrom(undefined, null, "No."),
    }),
    fc.record({
      role: fc.constant("tool"),
      tool_call_id: callId,
      content: fc.oneof(fc.string(), some(text)),
    }),
  );

  test("what comes from there goes back as it came", () => {
    fc.assert(
      fc.property(some(wire, 6), (wires) => {
        const { messages } = fromOpenAI(wires as readonly OpenAIMessageLike[]);
        expect(toOpenAI(plain(messages) as Message[])).toEqual(plain(wires));
      }),
    );
  });

  test("what is said to the model about itself is set apart", () => {
    const { system, messages } = fromOpenAI([
      { role: "system", content: "Be brief." },
      { role: "developer", content: [{ type: "text", text: "Be kind." }] },
      { role: "user", content: "Hi" },
    ]);
    expect([system, messages]).toEqual([
      ["Be brief.", "Be kind."],
      [{ role: "user", content: [{ type: "text", text: "Hi" }] }],
    ]);
  });
});

describe("Anthropic", () => {
  // It refuses a blank text, and a request that does not begin with the user.
  const said = fc.record({ type: fc.constant("text" as const), text: words });
  const asked = { role: "user", content: "Go on" };
  const image = fc.record({
    type: fc.constant("image"),
    source: fc.oneof(
      fc.record({
        type: fc.constant("base64"),
        media_type: fc.constantFrom("image/png", "image/webp"),
        data: base64,
      }),
      fc.record({ type: fc.constant("url"), url: fc.webUrl() }),
    ),
  });
  const marked = fc.record({ type: fc.constant("text"), text: words, cache_control: json });
  const result = fc.record({
    type: fc.constant("tool_result"),
    tool_use_id: callId,
    content: maybe(fc.oneof(fc.string(), some(fc.oneof(said, image)))),
    is_error: maybe(fc.boolean()),
  });
  const document = fc.record({ type: fc.constant("document"), source: json });
  const thinking = fc.record({
    type: fc.constant("thinking"),
    thinking: fc.string(),
    signature: maybe(word),
  });
  const redacted = fc.record({ type: fc.constant("redacted_thinking"), data: word });
  const use = fc.record({ type: fc.constant("tool_use"), id: callId, name: word, input: json });
  const wire = fc.oneof(
    fc.record({
      role: fc.constant("user"),
      content: fc.oneof(words, fc.array(fc.oneof(said, image, marked, document, result), { minLength: 1 })),
    }),
    fc.record({
      role: fc.constant("assistant"),
      content: fc.oneof(words, fc.array(fc.oneof(said, thinking, redacted, use), { minLength: 1 })),
    }),
  );
  const isResults = ({ role, content }: { role: string; content: unknown }): boolean =>
    role === "user" &&
    Array.isArray(content) &&
    content.length > 0 &&
    (content as { type: string }[]).every(({ type }) => type === "tool_result");

  test("what comes from there goes back as it came", () => {
    fc.assert(
      fc.property(some(wire, 6), (given) => {
        const wires = [asked, ...given, asked];
        // Messages of nothing but results that follow each other mean one, and are written as one.
        fc.pre(
          !wires.some(
            (one, at) => isResults(one) && wires[at + 1] !== undefined && isResults(wires[at + 1] ?? one),
          ),
        );
        const messages = fromAnthropic(wires as readonly AnthropicMessageLike[]);
        expect(toAnthropic(plain(messages) as Message[])).toEqual(plain(wires));
      }),
    );
  });

  test("what it would refuse is not sent: a first word of the assistant, blank texts, a space at the end", () => {
    const message = (role: "user" | "assistant", ...texts: readonly string[]): Sayable => ({
      role,
      content: texts.map((one) => ({ type: "text", text: one })),
    });
    const sent = toAnthropic([
      message("assistant", "Welcome!"),
      message("user", "hi", " "),
      message("user", ""),
    ]);
    expect(sent.map(({ role }) => role)).toEqual(["user", "assistant", "user"]);
    expect(sent.slice(1)).toEqual([
      { role: "assistant", content: "Welcome!" },
      { role: "user", content: [{ type: "text", text: "hi" }] },
    ]);
    expect(toAnthropic([message("user", "Sing"), message("assistant", "La, ")]).at(-1)?.content).toBe("La,");
  });
});

describe("the AI SDK", () => {
  const image = fc.record({ type: fc.constant("image"), image: base64, mediaType: fc.constant("image/png") });
  const file = fc.record({
    type: fc.constant("file"),
    data: base64,
    mediaType: fc.constantFrom("image/png", "text/csv"),
  });
  const reasoning = fc.record({
    type: fc.constant("reasoning"),
    text: fc.string(),
    providerOptions: maybe(word.map((signature) => ({ anthropic: { signature } }))),
  });
  const call = fc.record({ type: fc.constant("tool-call"), toolCallId: callId, toolName: word, input: json });
  const output = fc.oneof(
    fc.record({ type: fc.constantFrom("text", "error-text"), value: fc.string() }),
    fc.record({ type: fc.constantFrom("json", "error-json"), value: json }),
    fc.record({
      type: fc.constant("content"),
      value: some(
        fc.oneof(
          text,
          fc.record({ type: fc.constant("media"), data: base64, mediaType: fc.constant("image/png") }),
        ),
      ),
    }),
  );
  const result = fc.record({ type: fc.constant("tool-result"), toolCallId: callId, toolName: word, output });
  const wire = fc.oneof(
    fc.record({
      role: fc.constant("user"),
      content: fc.oneof(fc.string(), some(fc.oneof(text, image, file))),
    }),
    fc.record({
      role: fc.constant("assistant"),
      content: fc.oneof(fc.string(), some(fc.oneof(text, reasoning, call))),
    }),
    fc.record({ role: fc.constant("tool"), content: fc.array(result, { minLength: 1, maxLength: 3 }) }),
  );

  test("what comes from there goes back as it came", () => {
    fc.assert(
      fc.property(some(wire, 6), (wires) => {
        fc.pre(!wires.some(({ role }, at) => role === "tool" && wires[at + 1]?.role === "tool"));
        const { messages } = fromAiSdk(wires);
        expect(toAiSdk(plain(messages) as Message[])).toEqual(plain(wires));
      }),
    );
  });

  test("bytes and addresses are understood", () => {
    const bytes = new Uint8Array([1, 2, 3]);
    const { messages } = fromAiSdk([
      { role: "user", content: [{ type: "image", image: bytes, mediaType: "image/png" }] },
      { role: "user", content: [{ type: "image", image: new URL("data:image/gif;base64,AQID") }] },
    ]);
    expect(messages.map(({ content }) => content)).toEqual([
      [{ type: "image", mediaType: "image/png", data: "AQID" }],
      [{ type: "image", mediaType: "image/gif", data: "AQID" }],
    ]);
  });
});

/** A conversation as logs hold them: every call with its result right behind, what is said around them. */
const block: fc.Arbitrary<ContentBlock> = fc.oneof(
  fc.record({ type: fc.constant("text" as const), text: words }),
  fc.record({ type: fc.constant("image" as const), mediaType: fc.constant("image/png"), data: base64 }),
);
const turn: fc.Arbitrary<readonly Sayable[]> = fc
  .record({
    ask: fc.array(block, { minLength: 2, maxLength: 3 }),
    say: words,
    calls: fc.uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 3 }),
    outputs: fc.array(fc.string(), { minLength: 3, maxLength: 3 }),
    input: json,
  })
  .map(({ ask, say, calls, outputs, input }): readonly Sayable[] => {
    const asked: Sayable[] = [
      { role: "user", content: ask },
      {
        role: "assistant",
        content: [
          { type: "text", text: say },
          ...calls.map((id) => ({ type: "toolCall" as const, id, name: `t-${id}`, input })),
        ],
      },
    ];
    const results = calls.map((id, at): Sayable => ({
      role: "toolResult",
      toolCallId: id,
      content: [{ type: "text", text: outputs[at] ?? "" }],
    }));
    return asked.concat(results);
  });

const noNames = (messages: readonly Sayable[]): unknown =>
  plain(messages.map(({ role, content, toolCallId }) => ({ role, content, toolCallId })));

test.each([
  ["OpenAI", (messages: readonly Sayable[]) => fromOpenAI(toOpenAI(messages)).messages],
  ["Anthropic", (messages: readonly Sayable[]) => fromAnthropic(toAnthropic(messages))],
  ["the AI SDK", (messages: readonly Sayable[]) => fromAiSdk(toAiSdk(messages)).messages],
])("what a log says survives the way to %s and back, each call with its result", (_name, around) => {
  fc.assert(
    fc.property(some(turn, 4), (turns) => {
      const said = turns.flat();
      expect(noNames(around(said))).toEqual(noNames(said));
    }),
  );
});

test("a message that was changed since it came is written as it is now", () => {
  const [message] = fromAnthropic([{ role: "user", content: [{ type: "document", source: {} }] }]);
  const changed = { ...message, content: [{ type: "text", text: "Never mind" }] } as Message;
  expect(toAnthropic([changed])).toEqual([{ role: "user", content: "Never mind" }]);
});

test("an image that is only named is not left out without a word", () => {
  const content: ContentBlock[] = [{ type: "image", mediaType: "image/png", blob: "0".repeat(64) }];
  for (const to of [toOpenAI, toAnthropic, toAiSdk])
    expect(() => to([{ role: "user", content }])).toThrow(
      expect.objectContaining({ code: "invalid_request" }),
    );
});
