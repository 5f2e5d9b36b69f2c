import fc from "fast-check";
import type { ContentBlock, Message } from "#log/message";
import type { Json } from "#log/json/json-text";

const text = (words: string): ContentBlock => ({ type: "text", text: words });

const words = fc.oneof(
  fc.string({ minLength: 1, unit: "grapheme" }).filter((some) => some.trim() !== ""),
  fc.constantFrom(
    "[Request interrupted by user]",
    "<command-name>/x</command-name>",
    "\\ud800 \u2028",
    "a\nb\0",
  ),
);
const someText = words.map(text);
const someImage = fc
  .record({ mediaType: fc.constantFrom("image/png", "image/webp"), bytes: fc.uint8Array({ minLength: 1 }) })
  .map(({ mediaType, bytes }): ContentBlock => {
    return { type: "image", mediaType, data: Buffer.from(bytes).toString("base64") };
  });
const someInput = fc.array(fc.oneof(someText, someImage), { minLength: 1, maxLength: 3 });
const someName = fc.stringMatching(/^[a-zA-Z0-9_-]{1,20}$/);
/** As our log gives it back: there is no negative zero in it. */
const logged = (value: unknown): Json => JSON.parse(JSON.stringify(value)) as Json;
const someFields = fc.dictionary(fc.string(), fc.jsonValue(), { noNullPrototype: true }).map(logged);
const counts = fc.record({
  inputTokens: fc.nat(),
  outputTokens: fc.nat(),
  cacheReadTokens: fc.nat(),
  cacheWriteTokens: fc.nat(),
});
const someTurn = fc
  .record({
    asked: fc.array(
      someInput.map((content): Message => ({ role: "user", content })),
      { maxLength: 2 },
    ),
    thought: fc.option(words),
    said: fc.array(someText, { maxLength: 2 }),
    calls: fc.array(
      fc.record({ name: someName, input: someFields, output: someInput, isError: fc.boolean() }),
    ),
    usage: counts,
  })
  .filter(({ said, calls }) => said.length + calls.length > 0);

/** Turns as our log holds them once they are settled: every call with its result behind it. */
export const someConversation: fc.Arbitrary<readonly Message[]> = fc
  .array(someTurn, { minLength: 1, maxLength: 5 })
  .map((turns): readonly Message[] => {
    let n = 0;
    return turns.flatMap(({ asked, thought, said, calls, usage }): readonly Message[] => {
      const named = calls.map(({ name, input, output, isError }) => {
        return { id: `toolu-${n++}`, name, input, output, isError };
      });
      const thinking: readonly ContentBlock[] =
        thought === null ? [] : [{ type: "thinking", thinking: thought, signature: "c2ln" }];
      const blocks = named.map(({ id, name, input }): ContentBlock => ({
        type: "toolCall",
        id,
        name,
        input,
      }));
      const message: Message = {
        role: "assistant",
        content: [...thinking, ...said, ...blocks],
        model: "claude-opus-5-5",
        stopReason: named.length > 0 ? "tool_use" : "end_turn",
        usage,
      };
      const results = named.map(({ id, name, output, isError }): Message => {
        const outcome: Message = { role: "toolResult", toolCallId: id, toolName: name, content: output };
        return isError ? Object.assign(outcome, { isError }) : outcome;
      });
      return [...asked, message, ...results];
    });
  });

/** Anything our log could hold, settled or not. */
const anyBlock: fc.Arbitrary<ContentBlock> = fc.oneof(
  fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("\ud800", "\\\udfff", "\\ud800")).map(text),
  someImage,
  fc.constantFrom<ContentBlock>(
    { type: "image", mediaType: "image/tiff", data: "AAAA" },
    { type: "image", mediaType: "image/png", data: "not base64" },
    { type: "image", mediaType: "image/png", blob: "kept elsewhere" },
    { type: "thinking", thinking: "unsigned" },
    { type: "thinking", thinking: "signed", signature: "x" },
  ),
  fc.record({
    type: fc.constant("toolCall" as const),
    id: fc.oneof(fc.constantFrom("a", "a_1", "a_1_2", "a_x", "call:1/2", ""), fc.string()),
    name: fc.string({ unit: "binary" }),
    input: fc.jsonValue() as fc.Arbitrary<Json>,
  }),
);
export const anyMessage: fc.Arbitrary<Message> = fc.oneof(
  fc.record({ role: fc.constant("user" as const), content: fc.array(anyBlock) }),
  fc.record({
    role: fc.constant("assistant" as const),
    content: fc.array(anyBlock),
    model: fc.constantFrom("claude-x", "gpt-x"),
  }),
  fc.record({
    role: fc.constant("toolResult" as const),
    toolCallId: fc.constantFrom("a", "a_1", "call:1/2", "b"),
    content: fc.array(anyBlock),
    isError: fc.boolean(),
  }),
);
