import type { Sayable } from "#transfer/messages/shape";
import fc from "fast-check";
import { expect, test } from "vitest";
import {
  fromAiSdk,
  fromAnthropic,
  fromOpenAI,
  toAiSdk,
  toAnthropic,
  toOpenAI,
} from "#transfer/messages/index";
import type { ContentBlock, Message } from "#log/message";

const json = fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 })) as fc.Arbitrary<never>;
const base64 = fc.uint8Array({ maxLength: 9 }).map((bytes) => Buffer.from(bytes).toString("base64"));
/** That no service refuses, also at the end of a request. */
const words = fc.string({ minLength: 1 }).filter((one) => one.trim() !== "" && one.trimEnd() === one);

/** What JSON makes of a value: members that are undefined are none. */
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const some = <T>(arbitrary: fc.Arbitrary<T>, maxLength: number = 3): fc.Arbitrary<T[]> =>
  fc.array(arbitrary, { maxLength });

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
    { role: "user", content: "hi" },
  ]);
  expect(toAnthropic([message("user", "Sing"), message("assistant", "La, ")]).at(-1)?.content).toBe("La,");
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
    outputs: fc.array(words, { minLength: 3, maxLength: 3 }),
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
