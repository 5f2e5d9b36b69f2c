import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";
import { askModel } from "#agent/models/ask-model";
import type { ModelRequest } from "#agent/models/model";
import { openModel } from "#agent/models/open-model";
import { textOf } from "../../support/block-text.ts";
import { result, said, tools, user } from "../../support/context-messages.ts";
import type { ContextMessage } from "#log/projections/pairs";
import { PromptCache } from "../../support/model-server/prompt-cache.ts";

const env = { ANTHROPIC_API_KEY: "k", OPENAI_API_KEY: "k", GOOGLE_GENERATIVE_AI_API_KEY: "k" };
const options = { signal: new AbortController().signal, silenceMs: 30_000 };
const request = (messages: readonly ContextMessage[]): ModelRequest => ({
  system: "s",
  tools,
  messages,
  reminder: "today",
  cacheKey: "c",
});

test("the server as a process prints its port and answers orders on every wire", async () => {
  const program = join(import.meta.dirname, "../../support/model-server-program.ts");
  const child = spawn(process.execPath, [program], { stdio: ["ignore", "pipe", "inherit"] });
  try {
    const port = await new Promise<string>((resolve, reject) => {
      child.stdout.once("data", (bytes: Buffer) => resolve(bytes.toString().trim()));
      child.once("exit", () => reject(new Error("The server ended")));
    });
    const wires = [
      ["anthropic/claude-sonnet-5", "anthropic/v1"],
      ["openai/gpt-5", "openai/v1"],
      ["openai-compatible/x", "compatible/v1"],
      ["google/gemini-3-pro", "google/v1beta"],
    ];
    for (const [id = "", path] of wires) {
      const model = await openModel(id, { env, baseUrl: `http://127.0.0.1:${port}/${path}` });
      const told = [
        user("remember colour=green"),
        said([{ type: "text", text: "Noted" }], id),
        user("recall colour"),
      ];
      const { answer } = await askModel(model, request(told), options);
      expect(textOf(answer?.content ?? [])).toBe("green");
      const order = [...told, user('tool read {"path":"a"}')];
      const called = await askModel(model, request(order), options);
      const content = called.answer?.content ?? [];
      const call = content.find((block) => block.type === "toolCall");
      expect([called.answer?.finish, call?.["input"]]).toEqual(["calls", { path: "a" }]);
      const done = [...order, said(content, id), result(String(call?.["id"]), "what a says")];
      expect(textOf((await askModel(model, request(done), options)).answer?.content ?? [])).toContain(
        "what a says",
      );
    }
  } finally {
    child.kill();
  }
});

const marked = { cache_control: { type: "ephemeral" } };
const block = (text: string, mark = false): object => ({ type: "text", text, ...(mark ? marked : {}) });
const body = (...blocks: readonly object[]): object => ({
  system: [block("system", true)],
  messages: [{ role: "user", content: blocks }],
});

test("the cache holds what stands before a mark, and finds it again only near one", () => {
  const cache = new PromptCache();
  expect(cache.count("anthropic", body(block("a".repeat(400), true))).cached).toBe(0);
  const again = cache.count("anthropic", body(block("a".repeat(400)), block("b", true)));
  expect(again.cached).toBeGreaterThan(100);
  const unmarked = new PromptCache();
  unmarked.count("anthropic", body(block("a".repeat(400))));
  expect(unmarked.count("anthropic", body(block("a".repeat(400)), block("b", true))).cached).toBeLessThan(50);
  const far = new PromptCache();
  far.count("anthropic", body(block("a".repeat(400), true)));
  const many = Array.from({ length: 30 }, (_, at) => block(`block ${at}`));
  expect(far.count("anthropic", body(block("a".repeat(400)), ...many, block("z", true))).cached).toBeLessThan(
    50,
  );
});
