import { readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { transcriptText } from "#vendors/claude/transcript-text";
import type { ContentBlock, Message } from "#log/message";
import { isLogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import { countedIds, ID } from "../homes.ts";
import { ClaudeHome } from "./claude-home.ts";

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
const someConversation: fc.Arbitrary<readonly Message[]> = fc
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
const anyMessage: fc.Arbitrary<Message> = fc.oneof(
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

const claude = new ClaudeHome();

const NOW_MS = Date.parse("2026-01-02T03:04:05.678Z");

async function written(messages: readonly Message[]): Promise<string> {
  const made = claude.store.write?.({ cwd: claude.home.dir, messages, newId: countedIds(), nowMs: NOW_MS });
  return (await made) ?? "";
}

async function roundTrip(messages: readonly Message[]): Promise<readonly Message[]> {
  return ((await claude.store.read(await written(messages))) ?? []).map(({ message }) => message);
}

type Block = Readonly<Record<string, Json>>;
interface Written {
  readonly uuid: string;
  readonly parentUuid: string | null;
  readonly type: string;
  readonly message: { readonly model?: string; readonly content: readonly Block[] };
}

function recordsOf(messages: readonly Message[]): readonly Written[] {
  const lines = transcriptText(ID, { cwd: "/x", messages, newId: countedIds(), nowMs: NOW_MS });
  return lines
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Written);
}

/** What is written behind a prompt. */
function blocksAfter(messages: readonly Message[]): readonly Block[] {
  const records = recordsOf([{ role: "user", content: [{ type: "text", text: "go" }] }, ...messages]);
  return records.slice(1).flatMap(({ message }) => message.content);
}

const user = (...content: readonly ContentBlock[]): Message => ({ role: "user", content });
const answer = (...content: readonly ContentBlock[]): Message => ({ role: "assistant", content });
const call = (id: string, input: Json = {}): ContentBlock => ({ type: "toolCall", id, name: "Bash", input });
const result = (toolCallId: string, ...content: readonly ContentBlock[]): Message => ({
  role: "toolResult",
  toolCallId,
  content,
});

describe("a transcript that is written", () => {
  test("is read as the messages it was made from", async () => {
    await fc.assert(
      fc.asyncProperty(someConversation, async (messages) => {
        claude.home[Symbol.dispose]();
        expect(await roundTrip(messages)).toEqual(messages);
      }),
      { numRuns: 100 },
    );
  });

  test("has only what the model's API takes, whatever it was made from", () => {
    fc.assert(
      fc.property(fc.array(anyMessage, { maxLength: 12 }), (messages) => {
        const records = recordsOf(messages);
        const blocks = records.flatMap(({ message }) => message.content);
        const results = blocks.filter((block) => block["type"] === "tool_result");
        const calls = blocks.filter((block) => block["type"] === "tool_use");
        const ids = calls.map((block) => block["id"] as string);
        expect(results.map((block) => block["tool_use_id"])).toEqual(ids);
        expect(new Set(ids).size).toBe(ids.length);
        for (const [n, record] of records.entries()) {
          expect(record.parentUuid).toBe(records[n - 1]?.uuid ?? null);
          expect(record.message.content.length).toBeGreaterThan(0);
          expect(JSON.stringify(record).isWellFormed()).toBe(true);
          expect(JSON.stringify(record)).not.toMatch(/(?<!\\)(?:\\\\)*\\ud[89a-f]/);
        }
        for (const id of ids) {
          expect(id).toMatch(/^[a-zA-Z0-9_-]+$/);
          expect(ids.filter((other) => other !== id && id.replace(/(?:_\d+)+$/, "") === other)).toEqual([]);
        }
        for (const block of blocks) {
          if (block["type"] === "text") expect((block["text"] as string).trim()).not.toBe("");
          if (block["type"] === "tool_use") expect(block["input"]).toBeTypeOf("object");
        }
      }),
      { numRuns: 300 },
    );
  });

  test("is one file for its user alone, in the folder of its project, and nothing beside it", async () => {
    const id = await written([user(text("hi"))]);
    const path = join(
      claude.home.dir,
      "projects",
      claude.home.dir.replaceAll(/[^a-zA-Z0-9]/g, "-"),
      `${id}.jsonl`,
    );
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(path))).toEqual([`${id}.jsonl`]);
    expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
      parentUuid: null,
      isSidechain: false,
      type: "user",
      message: { role: "user", content: [{ type: "text", text: "hi" }] },
      promptSource: "sdk",
      origin: { kind: "human" },
      uuid: "00000000-0000-4000-8000-000000000002",
      timestamp: "2026-01-02T03:04:05.678Z",
      userType: "external",
      cwd: claude.home.dir,
      sessionId: id,
      version: "2.1.312",
      gitBranch: "",
    });
  });

  test("never takes the place of another", async () => {
    await written([user(text("first"))]);
    await expect(written([user(text("second"))])).rejects.toMatchObject({ code: "EEXIST" });
    expect(await claude.store.list()).toMatchObject([{ title: "first" }]);
  });

  test.each([
    ["an id that is no UUID", [user(text("hi"))], "../../x", "invalid_id"],
    ["nothing to say", [user(text(" "))], ID, "invalid_request"],
  ] as const)("is refused with %s", async (_case, messages, id, code) => {
    const made = claude.store.write?.({ cwd: claude.home.dir, messages, newId: () => id, nowMs: NOW_MS });
    await expect(made).rejects.toSatisfy((error) => isLogError(error, code));
  });
});

describe("an answer that nothing was said before", () => {
  test("gets a note before it, since the API wants a user first, and the note is nobody's words", async () => {
    const messages = [answer(text("I begin"))];
    expect(recordsOf(messages).map(({ type }) => type)).toEqual(["user", "assistant"]);
    expect(await roundTrip(messages)).toMatchObject(messages);
  });
});

describe("calls and results", () => {
  test("are put together, one result right behind the answer for each call, in the order of the calls", () => {
    const messages = [
      answer(call("1"), call("2")),
      user(text("meanwhile")),
      result("2", text("two")),
      result("1", text("one")),
    ];
    expect(
      blocksAfter(messages).map((block) => [block["type"], block["id"] ?? block["tool_use_id"] ?? ""]),
    ).toEqual([
      ["tool_use", "1"],
      ["tool_use", "2"],
      ["tool_result", "1"],
      ["tool_result", "2"],
      ["text", ""],
    ]);
  });

  test("tell the model when the outcome of a call is unknown", () => {
    expect(blocksAfter([answer(call("1"))])[1]).toMatchObject({
      tool_use_id: "1",
      is_error: true,
      content: expect.stringMatching(/outcome unknown.*verify/i) as string,
    });
  });

  test("take the last of several results, and none that has no call", () => {
    const blocks = blocksAfter([
      answer(call("1")),
      result("1", text("old")),
      result("1", text("new")),
      result("9"),
    ]);
    expect(blocks.slice(1)).toMatchObject([{ tool_use_id: "1", content: [{ text: "new" }] }]);
  });

  test("keep an id that was used before apart", () => {
    const turn = (word: string): readonly Message[] => [answer(call("1")), result("1", text(word))];
    const blocks = blocksAfter([...turn("first"), ...turn("second")]);
    expect(blocks[0]?.["id"]).toBe("1");
    expect(blocks[2]?.["id"]).not.toBe("1");
    expect(blocks[3]).toMatchObject({ tool_use_id: blocks[2]?.["id"], content: [{ text: "second" }] });
  });

  test("never use an id that Claude would take for a copy of another call", () => {
    const ids = blocksAfter([answer(call("call"), call("call_1"), call("call_2_3"), call("call_x"))])
      .filter((block) => block["type"] === "tool_use")
      .map((block) => block["id"]);
    expect(ids).toEqual([
      "call",
      expect.stringMatching(/^toolu_x/),
      expect.stringMatching(/^toolu_x/),
      "call_x",
    ]);
  });
});

describe("what another agent said", () => {
  const foreign: Message = {
    role: "assistant",
    model: "gpt-x",
    content: [{ type: "thinking", thinking: "mine", signature: "x" }, text("said")],
  };

  test("goes in without its model, which Claude would go on with, and without thoughts it signed", () => {
    expect(recordsOf([foreign])[1]?.message).toMatchObject({ model: "", content: [{ type: "text" }] });
  });
});
