/** Whatever a tool returns becomes a result that the log holds and a provider takes. */
import { textOfBlocks } from "#log/message";
import fc from "fast-check";
import { expect, test } from "vitest";
import { normalOutput } from "#turn/effects/tool-output";
import type { Tool } from "#turn/effects/tool";
import { aConversation } from "../../support/a-log.ts";

const tool: Tool = { name: "probe", run: async () => "" };
const blobs = new Map<string, Uint8Array>();
const keepBlob = async (bytes: Uint8Array): Promise<string> => {
  const name = `b${blobs.size}`;
  blobs.set(name, bytes);
  return name;
};

const cycle: Record<string, unknown> = {};
cycle["self"] = cycle;

test.each([
  ["nothing", undefined],
  ["a number", 7],
  ["a list", ["text"]],
  ["an object without content", { details: {} }],
  ["content that is no list", { content: 7 }],
  ["a block without a type", { content: [{ text: "x" }] }],
  ["a text block without text", { content: [{ type: "text" }] }],
  ["a tool call", { content: [{ type: "toolCall", id: "c", name: "x", input: {} }] }],
  ["an image without a media type", { content: [{ type: "image", data: "AAAA" }] }],
  ["an image that is not base64", { content: [{ type: "image", mediaType: "image/png", data: "%%%" }] }],
  ["details with a cycle", { content: "x", details: cycle }],
  ["a provider's block with a cycle", { content: [{ type: "x_y", cycle }] }],
  ["details with a BigInt", { content: "x", details: { n: 1n } }],
  ["details with undefined in a list", { content: "x", details: [undefined] }],
  ["details that are a function", { content: "x", details: () => 1 }],
  ["details with a Map", { content: "x", details: new Map() }],
  ["details that pretend to be state", { content: "x", details: { stateUpdate: {} } }],
  ["state that is no object", { content: "x", state: [1] }],
  [
    "a getter that throws",
    {
      get content(): string {
        throw new Error("no");
      },
    },
  ],
])("%s is a failed result that says so, and the log takes it", async (_, given) => {
  const { isError, content } = await normalOutput(given, tool, keepBlob);
  expect(isError).toBe(true);
  expect(textOfBlocks(content)).toContain("probe");
  const message = { role: "toolResult", toolCallId: "c1", isError, content } as const;
  await aConversation({ type: "message", message });
});

test("a text and blocks are kept; an image goes beside the log; details and state are kept together", async () => {
  expect(await normalOutput("fine", tool, null)).toEqual({
    isError: false,
    content: [{ type: "text", text: "fine" }],
  });
  const given = {
    content: [
      { type: "text", text: "a" },
      { type: "image", mediaType: "image/png", data: "AAEC" },
    ],
    details: { type: "seen" },
    state: { count: 1, old: null },
    isError: true,
  };
  const { content, details, isError } = await normalOutput(given, tool, keepBlob);
  const blob = content[1]?.type === "image" ? content[1].blob : undefined;
  expect(blobs.get(blob ?? "")).toEqual(Buffer.from([0, 1, 2]));
  expect(content[1]).toEqual({ type: "image", mediaType: "image/png", blob });
  expect([details, isError]).toEqual([{ type: "seen", stateUpdate: { count: 1, old: null } }, true]);
  expect((await normalOutput({ content: "", state: { a: 1 } }, tool, null)).details).toEqual({
    stateUpdate: { a: 1 },
  });
  expect((await normalOutput({ content: "", details: 7, state: {} }, tool, null)).details).toEqual({
    value: 7,
    stateUpdate: {},
  });
});

test("fifty megabytes are shown by their beginning and their end; the whole is a blob, and nothing else is in the log", async () => {
  const whole = `first ${"x".repeat(50_000_000)} last`;
  const { content, isError } = await normalOutput(whole, tool, keepBlob);
  const text = textOfBlocks(content);
  expect([isError, text.length < 41_000, text.startsWith("first "), text.endsWith(" last")]).toEqual([
    false,
    true,
    true,
    true,
  ]);
  const [, leftOut = "", all = "", blob = ""] =
    /\[(\d+) of (\d+) characters .* blob (\S+)\]/.exec(text) ?? [];
  expect([Number(leftOut), Number(all)]).toEqual([whole.length - 40_000, whole.length]);
  expect(Buffer.from(blobs.get(blob) ?? []).equals(Buffer.from(whole))).toBe(true);
});

test("without a place for blobs, or with one that fails, it is cut and said to be", async () => {
  for (const keep of [null, () => Promise.reject(new Error("disk full"))]) {
    const { content } = await normalOutput("y".repeat(100_000), { ...tool, outputChars: 100 }, keep);
    expect(textOfBlocks(content)).toMatch(/\n\[99900 of 100000 characters [^\]]+\]\n/);
    const image = { type: "image", mediaType: "image/png", data: "A".repeat(2_000_000) };
    const [shown] = (await normalOutput({ content: [image] }, tool, keep)).content;
    expect(shown).toMatchObject({ type: "text" });
  }
});

test("large details leave the log, too, and their state stays", async () => {
  const given = { content: "x", details: { big: "z".repeat(2_000_000) }, state: { a: 1 } };
  const { details, content } = await normalOutput(given, tool, keepBlob);
  const blob = (details as { blob: string }).blob;
  expect(details).toEqual({ blob, stateUpdate: { a: 1 } });
  expect(JSON.parse(Buffer.from(blobs.get(blob) ?? []).toString())).toEqual(given.details);
  expect(textOfBlocks(content)).toContain(blob);
});

test("any text, lone surrogates too, is shown within its limit and in sound Unicode", async () => {
  const texts = fc.array(fc.string({ unit: "binary", maxLength: 60 }), { minLength: 1, maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(texts, fc.integer({ min: 1, max: 80 }), async (words, outputChars) => {
      const content = [...words, "\ud800", "😀".repeat(outputChars % 7)].map((text) => ({
        type: "text",
        text,
      }));
      const shown = await normalOutput({ content }, { ...tool, outputChars }, null);
      const text = textOfBlocks(shown.content);
      expect(text.isWellFormed()).toBe(true);
      expect(text.length).toBeLessThanOrEqual(outputChars + 100);
    }),
  );
});
