/**
 * Messages of other libraries go into a log and come back out of its context, as the guide shows it. What is compared is what
 * the service is told: a text alone and a list of one text are the same to it, and so are neighbours of one role.
 */
import type { Omission } from "#transfer/messages/shape";
import fc from "fast-check";
import { expect, test } from "vitest";
import { fromAiSdk, fromOpenAI, toAiSdk, toOpenAI } from "#transfer/messages/index";
import {
  base64,
  type Fields,
  listed,
  maybe,
  object,
  parts,
  throughLog,
  turns,
  type Wires,
  withoutNulls,
  words,
} from "./log-rig.ts";

const openAiAlike = (wires: Wires): Wires =>
  wires.map((wire) => {
    const { refusal, content, ...rest } = withoutNulls(wire);
    const refused = refusal === undefined ? [] : [{ type: "refusal", refusal }];
    const calls = rest["tool_calls"] as Wires | undefined;
    return {
      ...rest,
      content: [...listed(content), ...refused],
      ...(calls === undefined ? {} : { tool_calls: calls.map(withoutNulls) }),
    };
  });

test("OpenAI: files, sounds, details, refusals, names and arguments that are not JSON come back", async () => {
  const text = fc.record({ type: fc.constant("text"), text: words });
  const url = fc.oneof(
    base64.map((data) => `data:image/png;base64,${data}`),
    fc.webUrl(),
  );
  const image = fc.record({
    type: fc.constant("image_url"),
    image_url: fc.record({ url, detail: fc.constantFrom(undefined, "low") }),
  });
  const format = fc.constantFrom("wav", "mp3");
  const audio = fc.record({
    type: fc.constant("input_audio"),
    input_audio: fc.record({ data: base64, format }),
  });
  const pdf = base64.map((data) => `data:application/pdf;base64,${data}`);
  const file = fc.record({
    type: fc.constant("file"),
    file: fc.oneof(fc.record({ filename: maybe(words), file_data: pdf }), fc.record({ file_id: words })),
  });
  const json = fc.jsonValue({ maxDepth: 2 }).map((value) => JSON.stringify(value));
  const wires = turns({
    asks: fc.record({
      role: fc.constant("user"),
      content: fc.oneof(words, parts(text, image, audio, file)),
      name: maybe(words),
    }),
    call: (id) =>
      fc.record({
        id: fc.constant(id),
        type: fc.constant("function"),
        function: fc.record({
          name: words,
          arguments: fc.oneof(json, fc.string(), fc.constant('{"a": 1.0}')),
        }),
        extra_content: maybe(object),
      }),
    says: (calls) =>
      fc.record({
        role: fc.constant("assistant"),
        content: fc.oneof(words, parts(text)),
        refusal: fc.constantFrom(undefined, null, "No."),
        reasoning_content: maybe(words),
        ...(calls.length === 0 ? {} : { tool_calls: fc.constant(calls) }),
      }),
    results: (ids) =>
      fc
        .tuple(...ids.map(() => fc.oneof(words, parts(text))))
        .map((contents) => contents.map((content, at) => ({ role: "tool", tool_call_id: ids[at], content }))),
  });
  await fc.assert(
    fc.asyncProperty(wires, async (given) => {
      const messages = await throughLog(fromOpenAI(given as never).messages);
      const omitted: Omission[] = [];
      const back = toOpenAI(messages, { onOmission: (one) => omitted.push(one) });
      expect(openAiAlike(back as unknown as Wires)).toEqual(openAiAlike(given));
      expect(omitted).toEqual([]);
    }),
  );
});

/** An image of a person may be given as a file as well. */
function asFile(part: Fields): Fields {
  const { type, image, ...rest } = part;
  return type === "image" ? { ...rest, type: "file", data: image } : part;
}

/** One text is an output as text or as a list of it. */
function asText(part: Fields): Fields {
  const { type, value } = (part["output"] ?? {}) as { readonly type?: string; readonly value?: Wires };
  const [only] = type === "content" && value?.length === 1 ? value : [];
  const isText = only?.["type"] === "text" && only["providerOptions"] === undefined;
  return isText ? { ...part, output: { type: "text", value: only["text"] } } : part;
}

const aiSdkAlike = (wires: Wires): Wires =>
  wires.map((wire) => {
    const content = listed(wire["content"]).map((part) => asText(asFile(part)));
    return Object.assign(withoutNulls(wire), { content });
  });

test("the AI SDK: files, options of every provider, encrypted reasoning and outputs of every kind come back", async () => {
  const options = fc.constantFrom(
    undefined,
    { openai: { itemId: "rs_1", reasoningEncryptedContent: "enc", none: null } },
    { google: { thoughtSignature: "sig" } },
    { anthropic: { cacheControl: { type: "ephemeral" }, signature: "sig" } },
    { "some-other": { a: [1, { b: null }] } },
  );
  const kind = (
    type: string,
    rest: { readonly [name: string]: fc.Arbitrary<unknown> },
  ): fc.Arbitrary<Fields> => fc.record({ type: fc.constant(type), ...rest, providerOptions: options });
  const text = kind("text", { text: words });
  const mediaType = fc.constantFrom("application/pdf", "text/csv", "audio/wav");
  const file = kind("file", { data: base64, mediaType, filename: maybe(words) });
  const address = kind("file", { data: fc.webUrl(), mediaType });
  const image = kind("image", { image: fc.oneof(base64, fc.webUrl()), mediaType: fc.constant("image/png") });
  const imageFile = kind("file", { data: base64, mediaType: fc.constant("image/png") });
  const value = fc.oneof(
    kind("text", { text: words }),
    fc.record({
      type: fc.constantFrom("media", "file-data"),
      data: base64,
      mediaType,
      filename: maybe(words),
    }),
    fc.record({ type: fc.constant("file-url"), url: fc.webUrl() }),
  );
  const output = fc.oneof(
    fc.record({ type: fc.constantFrom("text", "error-text"), value: words }),
    fc.record({ type: fc.constantFrom("json", "error-json"), value: fc.jsonValue({ maxDepth: 2 }) }),
    fc.record({ type: fc.constant("content"), value: fc.array(value, { minLength: 1, maxLength: 3 }) }),
    fc.record({ type: fc.constant("execution-denied"), reason: maybe(words) }),
  );
  const wires = turns({
    asks: fc.record({
      role: fc.constant("user"),
      content: fc.oneof(words, parts(text, file, address, image, imageFile)),
      providerOptions: options,
    }),
    call: (id) =>
      kind("tool-call", {
        toolCallId: fc.constant(id),
        toolName: words,
        input: fc.jsonValue({ maxDepth: 2 }),
      }),
    says: (calls) =>
      parts(text, kind("reasoning", { text: words }), file, kind("custom", { kind: words })).map(
        (spoken) => ({
          role: "assistant",
          content: [...spoken, ...calls],
        }),
      ),
    results: (ids) =>
      fc
        .tuple(
          ...ids.map((id) => kind("tool-result", { toolCallId: fc.constant(id), toolName: words, output })),
        )
        .map((content) => [{ role: "tool", content }]),
  });
  await fc.assert(
    fc.asyncProperty(wires, async (given) => {
      const messages = await throughLog(fromAiSdk(given as never).messages);
      const omitted: Omission[] = [];
      const back = toAiSdk(messages, { onOmission: (one) => omitted.push(one) });
      const plain = JSON.parse(JSON.stringify(back)) as Wires;
      expect(aiSdkAlike(plain)).toEqual(aiSdkAlike(given));
      expect(omitted).toEqual([]);
    }),
  );
});
