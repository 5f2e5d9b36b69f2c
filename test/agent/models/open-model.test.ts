import type { LanguageModelV4, LanguageModelV4StreamPart } from "@ai-sdk/provider";
import { afterEach, describe, expect, test, vi } from "vitest";
import { openModel } from "#agent/models/open-model";
import { modelFacts } from "#agent/models/model-table";
import { isLogError } from "#log/errors";
import { startModelServer } from "../../support/model-server.ts";

const keys = {
  ANTHROPIC_API_KEY: "dummy-a",
  OPENAI_API_KEY: "dummy-o",
  GOOGLE_GENERATIVE_AI_API_KEY: "dummy-g",
};
const baseUrl = "http://127.0.0.1:9/v1";

async function refusal(
  opening: Promise<unknown>,
): Promise<{ readonly code: string; readonly message: string }> {
  const error: unknown = await opening.then(
    () => null,
    (cause: unknown) => cause,
  );
  if (!isLogError(error)) throw new Error("It was not refused");
  return error;
}

test.each([
  ["anthropic/any-name", "anthropic.messages"],
  ["openai/any/name", "openai.responses"],
  ["google/any-name", "google.generative-ai"],
  ["openai-compatible/any-name", "openai-compatible.chat"],
])("opens %s by its package, whatever the name", async (id, provider) => {
  const opened = await openModel(id, { env: keys, baseUrl });
  expect([opened.id, opened.model.provider]).toEqual([id, provider]);
  expect(opened.model.modelId).toBe(id.slice(id.indexOf("/") + 1));
  expect([opened.price, opened.window]).toEqual([null, null]);
});

test.each(["nobody/x", "anthropic", "anthropic/", "", "/x", "constructor/x"])(
  "refuses %j, which names no provider and model",
  async (id) => {
    expect((await refusal(openModel(id, { env: keys }))).code).toBe("invalid_request");
  },
);

test.each([
  ["anthropic/x", "ANTHROPIC_API_KEY"],
  ["openai/x", "OPENAI_API_KEY"],
  ["google/x", "GOOGLE_GENERATIVE_AI_API_KEY"],
])("a missing or empty key of %s is said with the variable to set", async (id, variable) => {
  for (const env of [{}, { [variable]: "" }, { [variable]: " " }]) {
    const { code, message } = await refusal(openModel(id, { env }));
    expect([code, message.includes(variable)]).toEqual(["invalid_request", true]);
  }
});

describe("without an environment given, that of the process is read", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  test("for keys: a missing one is refused before anything is asked", async () => {
    vi.stubEnv("ANTHROPIC_API_KEY", undefined);
    const { code, message } = await refusal(openModel("anthropic/x", { baseUrl }));
    expect([code, message.includes("ANTHROPIC_API_KEY")]).toEqual(["invalid_request", true]);
    vi.stubEnv("ANTHROPIC_API_KEY", "dummy");
    expect((await openModel("anthropic/x", { baseUrl })).id).toBe("anthropic/x");
  });

  test("for base URLs: an openai-compatible model is asked where the variable says that it asks for", async () => {
    await using server = await startModelServer([{ text: "here" }]);
    vi.stubEnv("OPENAI_COMPATIBLE_BASE_URL", undefined);
    const { message } = await refusal(openModel("openai-compatible/x"));
    expect(message).toContain("OPENAI_COMPATIBLE_BASE_URL");
    vi.stubEnv("OPENAI_COMPATIBLE_BASE_URL", server.baseUrl("openai-compatible"));
    vi.stubEnv("OPENAI_COMPATIBLE_API_KEY", "dummy-c");
    const { model } = await openModel("openai-compatible/x");
    await Array.fromAsync((await (model as LanguageModelV4).doStream({ prompt: [says("hello")] })).stream);
    expect(server.requests).toMatchObject([{ model: "x", headers: { authorization: "Bearer dummy-c" } }]);
  });
});

test("a key with a line break is refused and not quoted", async () => {
  const { code, message } = await refusal(
    openModel("anthropic/x", { env: { ANTHROPIC_API_KEY: "sk-se\ncret" } }),
  );
  expect([code, /sk-se|cret/.test(message)]).toEqual(["invalid_request", false]);
});

test("an empty base URL variable and a base URL that is none are refused", async () => {
  const empty = await refusal(openModel("openai/x", { env: { ...keys, OPENAI_BASE_URL: "" } }));
  expect([empty.code, empty.message.includes("OPENAI_BASE_URL")]).toEqual(["invalid_request", true]);
  const wrong = await refusal(openModel("openai/x", { env: keys, baseUrl: "localhost:80" }));
  expect(wrong.code).toBe("invalid_request");
  const none = await refusal(openModel("openai-compatible/x", { env: keys }));
  expect([none.code, none.message.includes("--base-url")]).toEqual(["invalid_request", true]);
});

test("a model handed in is taken if it is of version 4, and refused with what to do if it is not", async () => {
  const sim = (await openModel("sim")).model;
  expect((await openModel(sim)).id).toBe("sim/sim");
  const known = { id: "mine/x", model: sim, window: 9, maxOutput: 3, price: null };
  expect(await openModel(known)).toEqual(known);
  const old = { ...sim, specificationVersion: "v3" } as unknown as LanguageModelV4;
  for (const given of [old, { ...known, model: old }, {} as LanguageModelV4])
    expect((await refusal(openModel(given))).code).toBe("invalid_request");
});

test("prices are of the model named, its dated issues, and of no other", () => {
  const price = modelFacts("anthropic/claude-haiku-4-5").price;
  expect(price).toEqual({ input: 1e6, output: 5e6, cacheRead: 1e5, cacheWrite: 125e4 });
  expect(modelFacts("anthropic/claude-haiku-4-5-20251001").price).toEqual(price);
  expect(modelFacts("openai/gpt-5-mini").price).not.toEqual(modelFacts("openai/gpt-5").price);
  expect(modelFacts("openai/gpt-5-future")).toEqual({ window: null, price: null });
  expect(modelFacts("sim/anything").window).toBe(modelFacts("sim").window);
});

type Prompt = Parameters<LanguageModelV4["doStream"]>[0]["prompt"];
const says = (text: string): Prompt[number] => ({ role: "user", content: [{ type: "text", text }] });

async function asked(prompt: Prompt): Promise<readonly LanguageModelV4StreamPart[]> {
  const { model } = await openModel("sim/any");
  return Array.fromAsync((await (model as LanguageModelV4).doStream({ prompt })).stream);
}

function textOf(parts: readonly LanguageModelV4StreamPart[]): string {
  return parts.map((part) => (part.type === "text-delta" ? part.delta : "")).join("");
}

test("the simulated model answers from what it is sent, and the same request in the same way", async () => {
  const told = says("remember colour=green");
  const noted: Prompt[number] = {
    role: "assistant",
    content: [{ type: "text", text: "Noted colour=green" }],
  };
  const reminder = says("<system-reminder>\ncolour=blue\n</system-reminder>");
  expect(textOf(await asked([told]))).toBe("Noted colour=green");
  expect(textOf(await asked([told, noted, says("recall colour"), reminder]))).toBe("green");
  expect(textOf(await asked([says("recall colour")]))).toBe("I do not know colour");
  expect(await asked([told])).toEqual(await asked([told]));
});

test("the simulated model calls tools when told, then tells what they gave, and then goes on", async () => {
  const input = '{"path":"a;b}", "n": 1.0}';
  const prompt = says(
    `think first; tool read ${input}; tool read {"path":"c"}\nthen\nrecall n; tool bad {oops`,
  );
  const first = await asked([prompt]);
  const calls = first.filter((part) => part.type === "tool-call");
  expect(calls.map((call) => call.input)).toEqual([input, '{"path":"c"}']);
  expect(new Set(calls.map((call) => call.toolCallId)).size).toBe(2);
  const finish = first.at(-1);
  expect(finish?.type === "finish" && finish.finishReason.unified).toBe("tool-calls");
  const answer: Prompt[number] = {
    role: "assistant",
    content: calls.map(({ toolCallId, toolName }) => ({
      type: "tool-call",
      toolCallId,
      toolName,
      input: {},
    })),
  };
  const results: Prompt[number] = {
    role: "tool",
    content: calls.map(({ toolCallId, toolName }) => ({
      type: "tool-result",
      toolCallId,
      toolName,
      output: { type: "text", value: "n=7" },
    })),
  };
  const second = await asked([prompt, answer, results]);
  expect(textOf(second)).toBe("7");
  expect(second.find((part) => part.type === "tool-call")?.input).toBe("{oops");
  expect(textOf(await asked([prompt, answer, results, answer, results]))).toBe("Done: n=7\nDone: n=7");
});

test("the simulated model reports what it used, what was sent before as read from a cache", async () => {
  const parts = await asked([
    says("a"),
    { role: "assistant", content: [{ type: "text", text: "b" }] },
    says("c"),
  ]);
  const finish = parts.find((part) => part.type === "finish");
  const input = finish?.usage.inputTokens;
  expect(input?.cacheRead).toBeGreaterThan(0);
  expect((input?.cacheRead ?? 0) + (input?.noCache ?? 0)).toBe(input?.total);
});
