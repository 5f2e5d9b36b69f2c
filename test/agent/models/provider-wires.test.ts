/**
 * The real package of each kind of provider against the scripted server on loopback: what is said is what is read, and what has
 * to come back comes back.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { askModel } from "#agent/models/ask-model";
import type { AgentModel, ModelOutcome, ModelAnswer, ModelRequest } from "#agent/models/model";
import { openModel } from "#agent/models/open-model";
import type { ContextMessage } from "#log/projections/pairs";
import { result, said, tools, user } from "../../support/context-messages.ts";
import { type ModelServer, startModelServer } from "../../support/model-server.ts";
import type { ScriptedAnswer, WireName } from "../../support/model-server/scripted-answer.ts";

const MODELS: { readonly [W in WireName]: string } = {
  anthropic: "anthropic/claude-sonnet-5",
  openai: "openai/gpt-5",
  "openai-compatible": "openai-compatible/local",
  google: "google/gemini-3-pro",
};
const WIRES = Object.keys(MODELS) as readonly WireName[];
const env = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", GOOGLE_GENERATIVE_AI_API_KEY: "k" };

let server: ModelServer;
const models = new Map<WireName, AgentModel>();
beforeAll(async () => {
  server = await startModelServer();
  for (const wire of WIRES)
    models.set(wire, await openModel(MODELS[wire], { env, baseUrl: server.baseUrl(wire) }));
});
afterAll(() => server.close());

function modelOf(wire: WireName): AgentModel {
  const model = models.get(wire);
  if (model === undefined) throw new Error(wire);
  return model;
}

const requestOf = (messages: readonly ContextMessage[]): ModelRequest => ({
  system: "You are a test. ".repeat(20),
  tools,
  messages,
  reminder: "Today is a day.",
  cacheKey: "c",
});

async function ask(
  wire: WireName,
  messages: readonly ContextMessage[],
  ...answers: readonly ScriptedAnswer[]
): Promise<ModelOutcome> {
  server.add(...answers);
  const signal = new AbortController().signal;
  return askModel(modelOf(wire), requestOf(messages), { signal, silenceMs: 30_000, answerChars: 20_000 });
}

async function answered(
  wire: WireName,
  messages: readonly ContextMessage[],
  answer: ScriptedAnswer,
): Promise<ModelAnswer> {
  const asked = await ask(wire, messages, answer);
  if (asked.answer === null) throw new Error(`${asked.ending.class}: ${asked.ending.message}`);
  return asked.answer;
}

const sentLast = (): string => server.requests.at(-1)?.body ?? "";

describe.each(WIRES)("over the wire of %s", (wire) => {
  const own = MODELS[wire];

  test("text comes as it was said, with what was used", async () => {
    const { content, finish, usage } = await answered(wire, [user("hi")], { text: ["Hel", "lo"] });
    expect([content.map((block) => (block.type === "text" ? block.text : null)), finish]).toEqual([
      ["Hello"],
      "stop",
    ]);
    expect(usage?.outputTokens).toBeGreaterThan(0);
    expect(usage?.inputTokens).toBeGreaterThanOrEqual(0);
  });

  test("thinking and its signature come back in the next request", async () => {
    const thinking = { text: "let me see", signature: "c2lnbmVk" };
    const { content } = await answered(wire, [user("think")], { thinking, text: "done" });
    expect(content.some((block) => block.type === "thinking" && block.thinking === "let me see")).toBe(true);
    await answered(wire, [user("think"), said(content, own), user("on")], { text: "ok" });
    expect(sentLast()).toContain("let me see");
    if (wire !== "openai-compatible") expect(sentLast()).toContain("c2lnbmVk");
    await answered(wire, [user("think"), said(content, "other/model"), user("on")], { text: "ok" });
    expect(sentLast()).not.toContain("let me see");
    expect(sentLast()).toContain("done");
  });

  test("a call, its input and its result make the round", async () => {
    const { content, finish, brokenCalls } = await answered(wire, [user("read")], {
      text: "Reading.",
      calls: [
        { id: "call_x", name: "read", input: { path: "a.txt" } },
        { id: "call_y", name: "write", input: {} },
      ],
    });
    const calls = content.flatMap((block) => (block.type === "toolCall" ? [block] : []));
    expect([finish, brokenCalls]).toEqual(["calls", []]);
    expect(calls.map(({ name, input }) => [name, input])).toEqual([
      ["read", { path: "a.txt" }],
      ["write", {}],
    ]);
    const [one, two] = calls.map(({ id }) => id);
    const messages = [
      user("read"),
      said(content, own),
      result(one ?? "", "the text"),
      result(two ?? "", "bad", true),
    ];
    await answered(wire, messages, { text: "ok" });
    expect(sentLast()).toContain("the text");
    expect(sentLast()).toContain("a.txt");
    expect(JSON.parse(sentLast())).toBeTruthy();
  });

  test("a longer request is read from the cache up to where the shorter one ended", async () => {
    const prompt = `${wire} ${"words ".repeat(100)}`;
    const first = await answered(wire, [user(prompt)], { text: "one" });
    const messages = [user(prompt), said(first.content, own), user("two")];
    const { usage } = await answered(wire, messages, { text: "three" });
    expect(usage?.cacheReadTokens).toBeGreaterThan(200);
    const other = await answered(wire, [user(`another ${prompt}`)], { text: "four" });
    expect(other.usage?.cacheReadTokens ?? 0).toBeLessThan(usage?.cacheReadTokens ?? 0);
  });

  test("an answer cut by the output limit, and one that was filtered, say so and run nothing", async () => {
    const calls = [{ name: "read", input: '{"path": "ha' }];
    const cut = await answered(wire, [user("a")], { calls, finish: "length" });
    expect([cut.finish, cut.brokenCalls.length]).toEqual(["length", 1]);
    expect((await answered(wire, [user("a")], { text: "no", finish: "filtered" })).finish).toBe("filtered");
  });

  test("without usage there is none, and it is no failure", async () => {
    const { usage, content } = await answered(wire, [user("a")], { text: "b", usage: false });
    expect(content.length).toBe(1);
    expect(usage?.outputTokens ?? 0).toBeLessThanOrEqual(1);
  });

  test("repeated and missing ids are told apart", async () => {
    const call = { id: "same", name: "read", input: {} };
    const { content } = await answered(wire, [user("a")], { calls: [call, call] });
    const ids = content.flatMap((block) => (block.type === "toolCall" ? [block.id] : []));
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.length).toBeGreaterThan(0);
  });

  test.each<[string, ScriptedAnswer]>([
    ["auth", { fail: { kind: "status", status: 401, type: "authentication_error" } }],
    ["auth", { fail: { kind: "status", status: 403 } }],
    ["credit", { fail: { kind: "status", status: 402 } }],
    [
      "credit",
      { fail: { kind: "status", status: 429, type: "insufficient_quota", code: "insufficient_quota" } },
    ],
    ["limit", { fail: { kind: "status", status: 429, headers: { "retry-after": "20" } } }],
    ["too_long", { fail: { kind: "status", status: 413 } }],
    [
      "too_long",
      { fail: { kind: "status", status: 400, message: "prompt is too long: 9 tokens > 8 maximum" } },
    ],
    ["poisoned", { fail: { kind: "status", status: 400, message: "Could not process image" } }],
    [
      "failed",
      { fail: { kind: "status", status: 400, message: "tools: bad", type: "invalid_request_error" } },
    ],
    ["failed", { fail: { kind: "status", status: 404 } }],
    ["failed", { fail: { kind: "status", status: 422 } }],
    ["overloaded", { fail: { kind: "status", status: 408 } }],
    ["overloaded", { fail: { kind: "status", status: 409 } }],
    ["overloaded", { fail: { kind: "status", status: 500, body: "" } }],
    ["overloaded", { fail: { kind: "status", status: 502, body: "<html>bad gateway</html>" } }],
    ["overloaded", { fail: { kind: "status", status: 529, type: "overloaded_error" } }],
    ["overloaded", { fail: { kind: "event", when: "first" } }],
    [
      "overloaded",
      {
        text: ["a", "b", "c"],
        calls: [{ name: "read", input: {} }],
        fail: { kind: "event", when: "middle" },
      },
    ],
    ["overloaded", { fail: { kind: "cut", when: "before" } }],
    [
      "overloaded",
      { text: ["a", "b", "c"], calls: [{ name: "read", input: {} }], fail: { kind: "cut", when: "middle" } },
    ],
    [
      "overloaded",
      { text: ["a", "b", "c"], calls: [{ name: "read", input: {} }], fail: { kind: "early-end" } },
    ],
    ["overloaded", { fail: { kind: "page" } }],
    ["overloaded", { text: ["a", "b", "c"], fail: { kind: "malformed" } }],
    ["overloaded", { text: ["a", "b", "c"], fail: { kind: "malformed", when: "first" } }],
    ["failed", { text: ["a", "b", "c"], fail: { kind: "endless" } }],
  ])("is %s: %j", async (known, answer) => {
    const asked = await ask(wire, [user("the whole prompt")], answer);
    expect(asked.answer).toBeNull();
    expect(asked.ending?.class).toBe(known);
    expect(asked.ending?.message).not.toContain("the whole prompt");
    if (known === "limit") expect(asked.ending?.resetAtMs).toBeGreaterThan(Date.now());
  });

  test("a service that never answers is given up, and one that is cancelled keeps what came", async () => {
    server.add({ fail: { kind: "silent" } });
    const silent = await askModel(modelOf(wire), requestOf([user("a")]), {
      signal: new AbortController().signal,
      silenceMs: 50,
    });
    expect(silent.ending?.class).toBe("overloaded");
    const name = `held ${wire}`;
    server.add({ text: ["one ", "two ", "three ", "four "], hold: { at: "middle", name } });
    const controller = new AbortController();
    const asking = askModel(modelOf(wire), requestOf([user("a")]), {
      signal: controller.signal,
      silenceMs: 30_000,
      onEvent: () => controller.abort(),
    });
    await server.held(name);
    const asked = await asking;
    server.release(name);
    expect(asked.ending?.class).toBe("cancelled");
    expect(asked.answer === null && JSON.stringify(asked.partial)).toContain("one");
  });
});

test("a port where nobody listens is an overload, not a crash", async () => {
  const model = await openModel("openai-compatible/x", { env, baseUrl: "http://127.0.0.1:9/v1" });
  const asked = await askModel(model, requestOf([user("a")]), {
    signal: new AbortController().signal,
    silenceMs: 30_000,
  });
  expect(asked.ending?.class).toBe("overloaded");
});

test("redacted thinking and a pause come and go back as they were", async () => {
  const { content, finish } = await answered("anthropic", [user("a")], {
    redacted: "ZGF0YQ",
    text: "wait",
    finish: "paused",
  });
  expect([content[0]?.type, finish]).toEqual(["redactedThinking", "paused"]);
  await answered("anthropic", [user("a"), said(content, MODELS.anthropic), user("b")], { text: "ok" });
  expect(sentLast()).toContain('"data":"ZGF0YQ"');
});
