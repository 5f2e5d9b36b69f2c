import { expect, test } from "vitest";
import { openModel } from "#agent/models/open-model";
import { callOptionsOf } from "#agent/models/request";
import type { Json } from "#log/json/json-text";
import type { ContentBlock } from "#log/message";
import type { ContextMessage } from "#log/projections/pairs";
import {
  call,
  image,
  PNG,
  request,
  result,
  said,
  sent,
  thought,
  user,
  wire,
} from "../../support/context-messages.ts";
import { WIRE_PROVIDERS, wireOf } from "../../support/wire-bodies.ts";

test.each(["anthropic", "openai", "google"])(
  "thinking goes back to the %s model that signed it, and to no other, nor behind a compaction",
  async (provider) => {
    const own = wire(provider).asked.id;
    const mark = provider === "openai" ? '"encrypted_content":"enc"' : '"sig"';
    const answer = [thought(provider), { type: "text", text: "yes" } as const];
    expect(await sent(provider, [user("a"), said(answer, own), user("b")])).toContain(mark);
    for (const model of [undefined, `${own}-mini`, "other/model"]) {
      const body = await sent(provider, [user("a"), said(answer, model), user("b")]);
      expect([
        body.includes("sig"),
        body.includes('"enc"'),
        body.includes('"hm"'),
        body.includes("yes"),
      ]).toEqual([false, false, false, true]);
    }
    const stale: ContextMessage = { ...said(answer, own), staleThinking: true };
    expect(await sent(provider, [user("a"), stale, user("b")])).not.toContain(mark);
  },
);

test.each([
  ["claude-opus-5-5", true],
  ["claude-sonnet-5-5", true],
  ["claude-fable-5-2", true],
  ["claude-sonnet-5", false],
  ["claude-unheard-of", false],
])(
  "thinking of %s that is bound to what stood before it is to be dropped, not refused: %s",
  async (name, isBound) => {
    const bound = await wireOf("anthropic", name);
    const own = said([thought("anthropic"), { type: "text", text: "yes" }], bound.asked.id);
    const body = await bound.bodyOf(request([user("a"), own, user("b")]));
    expect(body.includes('"block_binding":{"prefix_mismatch_behavior":"drop_block"}')).toBe(isBound);
    expect(body).toContain('"signature":"sig"');
  },
);

test("redacted thinking and empty parts that carry signatures go back", async () => {
  const redacted: ContentBlock = { type: "redactedThinking", data: "secret" };
  const own = wire("anthropic").asked.id;
  const body = await sent("anthropic", [
    user("a"),
    said([redacted, { type: "text", text: "b" }], own),
    user("c"),
  ]);
  expect(body).toContain('{"type":"redacted_thinking","data":"secret"}');
  const empty: ContentBlock = {
    type: "text",
    text: "",
    providerMetadata: { google: { thoughtSignature: "kept" } },
  };
  const model = wire("google").asked.id;
  expect(
    await sent("google", [user("a"), said([{ type: "text", text: "b" }, empty], model), user("c")]),
  ).toContain("kept");
});

test("the input of a call goes out as the text it came in, and what is no object as one", async () => {
  const raw = '{"path": "a", "n": 1.0, "big": 12345678901234567890}';
  const input = JSON.parse(raw) as Json;
  for (const provider of ["openai", "openai-compatible"]) {
    const body = await sent(provider, [user("a"), said([call("1", input, raw)]), result("1", "ok")]);
    expect(body).toContain(JSON.stringify(raw));
  }
  const broken = await sent("anthropic", [
    user("a"),
    said([call("1", '{"path": "ha')]),
    result("1", "not run", true),
  ]);
  expect(broken).toContain(JSON.stringify({ invalid_input: '{"path": "ha' }));
});

test("calls that repeat an id, have none or a strange name each keep their own result", async () => {
  const strange: ContentBlock = { type: "toolCall", id: "a|b", name: "no such tool!", input: {} };
  const messages = [
    user("a"),
    said([call("x")]),
    result("x", "first"),
    said([call("x"), strange, call("")]),
    result("x", "second"),
    result("a|b", "none", true),
    result("", "third"),
  ];
  const { prompt } = callOptionsOf(wire("anthropic").asked, request(messages));
  const calls = prompt
    .flatMap((m) => (m.role === "assistant" ? m.content : []))
    .filter((p) => p.type === "tool-call");
  const results = prompt
    .flatMap((m) => (m.role === "tool" ? m.content : []))
    .filter((p) => p.type === "tool-result");
  expect(results.map(({ toolCallId }) => toolCallId)).toEqual(calls.map(({ toolCallId }) => toolCallId));
  expect(new Set(calls.map(({ toolCallId }) => toolCallId)).size).toBe(4);
  expect([...calls, ...results].every(({ toolCallId }) => /^[\w-]+$/.test(toolCallId))).toBe(true);
  expect(calls.map(({ toolName }) => toolName)).toContain("no_such_tool_");
});

test.each(WIRE_PROVIDERS)("images of people and of results reach %s as bytes, and once", async (provider) => {
  const shown: ContextMessage = {
    role: "user",
    content: [{ type: "text", text: "look" }, image],
    entryId: null,
  };
  expect((await sent(provider, [shown])).split(PNG).length).toBe(2);
  const seen = [user("a"), said([call("1")]), result("1", [{ type: "text", text: "here" }, image])];
  const body = await sent(provider, seen);
  expect(body.split(PNG).length).toBe(2);
  expect(body).toContain("image");
  const failed = await sent(provider, [user("a"), said([call("1")]), result("1", [image], true)]);
  expect(failed.split(PNG).length).toBe(2);
});

test.each(WIRE_PROVIDERS)(
  "a file that %s cannot be shown is named, and text files are text",
  async (provider) => {
    const data = Buffer.from("line one").toString("base64");
    const content: ContentBlock[] = [
      { type: "file", name: "notes.txt", mediaType: "text/plain", data },
      { type: "file", name: "a.zip", mediaType: "application/zip", blob: "00" },
      { type: "audio", mediaType: "audio/flac", data },
    ];
    const body = await sent(provider, [{ role: "user", content, entryId: null }]);
    expect(body).toContain("line one");
    expect(body).toContain("a.zip");
    expect(body).toContain("audio/flac");
  },
);

test.each(WIRE_PROVIDERS)("no half character reaches %s", async (provider) => {
  const half = "a\ud800b";
  const messages = [
    user(half),
    said([{ type: "text", text: half }, call("1", { path: half })]),
    result("1", half),
  ];
  const body = await wire(provider).bodyOf(request(messages, { system: half, reminder: half }));
  expect(/\\ud[89a-f]/i.test(body)).toBe(false);
  expect(body.isWellFormed()).toBe(true);
});

test("an error of a tool is marked as one where the provider can be told", async () => {
  const messages = [user("a"), said([call("1")]), result("1", "boom", true)];
  expect(await sent("anthropic", messages)).toContain('"is_error":true');
  expect(await sent("google", messages)).toContain('"error":"boom"');
});

test("nothing is stored at OpenAI, and requests of one conversation share a cache key", async () => {
  const body = JSON.parse(await sent("openai", [user("a")])) as Record<string, unknown>;
  expect([body["store"], body["prompt_cache_key"]]).toEqual([false, "c1"]);
});

test("a request never ends with the model's own words, unless its provider's tools are at work", async () => {
  const cut = [user("a"), said([{ type: "text", text: "half an ans" }])];
  const { prompt } = callOptionsOf(wire("anthropic").asked, request(cut, { reminder: null }));
  expect(prompt.at(-1)?.role).toBe("user");
  const searching: ContentBlock = {
    type: "part/tool-call",
    part: {
      type: "tool-call",
      toolCallId: "srv",
      toolName: "web_search",
      input: "{}",
      providerExecuted: true,
    },
  };
  const paused = [user("a"), said([searching], wire("anthropic").asked.id)];
  expect(callOptionsOf(wire("anthropic").asked, request(paused)).prompt.at(-1)?.role).toBe("assistant");
  const other = await openModel("sim");
  expect(JSON.stringify(callOptionsOf(other, request(paused)))).not.toContain("web_search");
});
