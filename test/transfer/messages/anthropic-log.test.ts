/**
 * Messages of other libraries go into a log and come back out of its context, as the guide shows it. What is compared is what
 * the service is told: a text alone and a list of one text are the same to it, and so are neighbours of one role.
 */
import type { Omission } from "#transfer/messages/shape";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fromAnthropic, toAiSdk, toAnthropic, toOpenAI } from "#transfer/messages/index";
import {
  base64,
  cache,
  type Fields,
  listed,
  maybe,
  merged,
  object,
  parts,
  throughLog,
  turns,
  type Wires,
  words,
} from "./log-rig.ts";

const anthropicAlike = (wires: Wires): Wires =>
  merged(wires, ({ role, content }) => ({
    role,
    content: listed(content).map((part) =>
      part["type"] === "tool_result" ? Object.assign(part, { content: listed(part["content"]) }) : part,
    ),
  }));

test("Anthropic: documents, addresses, cache marks, citations, signatures and blocks of its own come back", async () => {
  const text = fc.record({
    type: fc.constant("text"),
    text: words,
    cache_control: cache,
    citations: maybe(fc.array(object)),
  });
  const pdf = fc.record({
    type: fc.constant("base64"),
    media_type: fc.constant("application/pdf"),
    data: base64,
  });
  const plain = fc.record({ type: fc.constant("text"), media_type: fc.constant("text/plain"), data: words });
  const address = fc.record({ type: fc.constant("url"), url: fc.webUrl() });
  const png = fc.record({ type: fc.constant("base64"), media_type: fc.constant("image/png"), data: base64 });
  const image = fc.record({
    type: fc.constant("image"),
    source: fc.oneof(png, address),
    cache_control: cache,
  });
  const document = fc.record({
    type: fc.constant("document"),
    source: fc.oneof(pdf, plain, address),
    title: maybe(words),
    context: maybe(words),
    citations: fc.constantFrom(undefined, { enabled: true }),
    cache_control: cache,
  });
  const found = fc.record({
    type: fc.constant("search_result"),
    source: words,
    title: words,
    content: fc.array(text),
  });
  const thinking = fc.record({ type: fc.constant("thinking"), thinking: words, signature: words });
  const redacted = fc.record({ type: fc.constant("redacted_thinking"), data: words });
  const ownTool = fc.record({ type: fc.constant("server_tool_use"), id: words, name: words, input: object });
  const result = (id: string): fc.Arbitrary<Fields> =>
    fc.record({
      type: fc.constant("tool_result"),
      tool_use_id: fc.constant(id),
      content: fc.oneof(words, parts(text, image, document, found)),
      is_error: maybe(fc.boolean()),
      cache_control: cache,
    });
  const wires = turns({
    asks: fc.record({
      role: fc.constant("user"),
      content: fc.oneof(words, parts(text, image, document, found)),
    }),
    call: (id) =>
      fc.record({
        type: fc.constant("tool_use"),
        id: fc.constant(id),
        name: words,
        input: object,
        cache_control: cache,
      }),
    says: (calls) =>
      parts(text, thinking, redacted, ownTool).map((spoken) => ({
        role: "assistant",
        content: [...spoken, ...calls],
      })),
    results: (ids) => fc.tuple(...ids.map(result)).map((content) => [{ role: "user", content }]),
  });
  await fc.assert(
    fc.asyncProperty(wires, async (given) => {
      const messages = await throughLog(fromAnthropic(given as never));
      const omitted: Omission[] = [];
      const back = toAnthropic(messages, { onOmission: (one) => omitted.push(one) });
      expect(anthropicAlike(back as unknown as Wires)).toEqual(anthropicAlike(given));
      expect(omitted).toEqual([]);
    }),
  );
});

test("what another service has no place for is reported, and what it can show it is shown", async () => {
  const pdf = { type: "base64", media_type: "application/pdf", data: "JVBERg==" };
  const messages = await throughLog(
    fromAnthropic([
      {
        role: "user",
        content: [
          { type: "document", source: pdf, title: "a.pdf" },
          { type: "text", text: "Read" },
        ],
      },
      {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "hm", signature: "sig" },
          { type: "tool_use", id: "c", name: "look", input: {} },
        ],
      },
      {
        role: "user",
        content: [
          {
            type: "tool_result",
            tool_use_id: "c",
            content: [{ type: "document", source: pdf }],
            is_error: true,
          },
        ],
      },
    ]),
  );
  const omitted: Omission[] = [];
  const sent = toOpenAI(messages, { onOmission: (one) => omitted.push(one) });
  const file = { filename: "a.pdf", file_data: `data:application/pdf;base64,${pdf.data}` };
  expect(sent[0]?.content).toEqual([
    { type: "file", file },
    { type: "text", text: "Read" },
  ]);
  expect(sent[2]?.content).toBe("[application/pdf]");
  expect(omitted.map(({ message, block }) => [message, block])).toEqual([
    [1, "thinking"],
    [2, "file"],
    [2, "isError"],
  ]);
  // The AI SDK has a place for all of it.
  const none: Omission[] = [];
  const [asked, answered] = toAiSdk(messages, { onOmission: (one) => none.push(one) });
  expect(none).toEqual([]);
  expect(asked?.content[0]).toMatchObject({ type: "file", data: pdf.data, filename: "a.pdf" });
  expect(answered?.content[0]).toMatchObject({ providerOptions: { anthropic: { signature: "sig" } } });
});
