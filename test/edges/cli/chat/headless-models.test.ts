/** Models of every wire by the command line, and those that misbehave: one clear message and the status that says so. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openHoldfast } from "#open";
import type { ScriptedAnswer, WireName } from "../../../support/model-server/scripted-answer.ts";
import { jsonLines } from "../cli-run.ts";
import { MODEL, modelCli } from "../model-cli.ts";

test.each<[WireName, string, readonly string[]]>([
  ["openai", "openai/gpt-5", []],
  ["openai-compatible", "openai-compatible/local", ["--base-url"]],
  ["google", "google/gemini-3-pro", ["--base-url"]],
])("a turn with a tool over the wire of %s, gone on with by the next command", async (wire, model, flags) => {
  await using cli = await modelCli([
    { calls: [{ name: "read", input: { path: "a.txt" } }] },
    { text: "It says hello." },
    { text: "Still hello." },
  ]);
  writeFileSync(join(cli.folder, "a.txt"), "hello");
  const place = flags.flatMap((flag) => [flag, cli.server.baseUrl(wire)]);
  const env = { GOOGLE_GENERATIVE_AI_API_KEY: "dummy" };
  const ran = await cli.run(["chat", "w", "-p", "what is in a.txt?", "--model", model, ...place], { env });
  expect(ran).toMatchObject({ status: 0, out: "It says hello.\n" });
  expect(cli.server.requests.map(({ wire: asked }) => asked)).toEqual([wire, wire]);
  expect(cli.server.requests[1]?.body).toContain("hello");
  expect(await cli.run(["chat", "w", "-p", "and now?", ...place], { env })).toMatchObject({
    status: 0,
    out: "Still hello.\n",
  });
  const [used] = jsonLines((await cli.run(["usage", "w", "--json"])).out);
  expect(JSON.stringify(used)).toContain(model);
});

test("an overload that lasts ends with 5; what was asked is kept, and continue goes on when it is over", async () => {
  await using cli = await modelCli([
    { fail: { kind: "status", status: 529, type: "overloaded_error" } },
    { text: "There you are." },
  ]);
  {
    await using holdfast = await openHoldfast({ store: cli.store });
    const chat = await holdfast.create({ id: "busy", cwd: cli.folder });
    // A process that died when it had tried as often as it may but once.
    const tries = Array.from({ length: 4 }, () => ({ type: "attempt", turn: "t", model: MODEL }) as const);
    await chat.append([
      { type: "model_change", model: MODEL },
      { type: "message", id: "p", message: { role: "user", content: [{ type: "text", text: "hello?" }] } },
      { type: "turn_start", turn: "t", prompt: "p" },
      ...tries,
    ]);
  }
  const ran = await cli.run(["continue", "busy"]);
  expect([ran.status, ran.out]).toEqual([5, ""]);
  expect(ran.err).toMatch(/^holdfast: \S/m);
  expect(await cli.run(["continue", "busy"])).toMatchObject({ status: 0, out: "There you are.\n" });
});

const read = (id: string) => ({ id, name: "read", input: { path: "." } });
test.each<[string, readonly ScriptedAnswer[], { status: number; out: string; err: RegExp }]>([
  [
    "streams garbage once",
    [{ text: ["a", "b", "c"], fail: { kind: "malformed" } }, { text: "Whole." }],
    { status: 0, out: "Whole.\n", err: /asked again in 1 s/ },
  ],
  [
    "repeats the id of a call",
    [{ calls: [read("same"), read("same")] }, { text: "Read." }],
    { status: 0, out: "Read.\n", err: /read/ },
  ],
  [
    "calls an unknown tool",
    [{ calls: [{ name: "teleport", input: {} }] }, { text: "I see." }],
    { status: 0, out: "I see.\n", err: /^✗ teleport: / },
  ],
  ["says nothing of its usage", [{ text: "Free?", usage: false }], { status: 0, out: "Free?\n", err: /^$/ }],
  [
    "never stops",
    [{ text: ["on", "and", "on"], fail: { kind: "endless" } }],
    { status: 1, out: "on", err: /^holdfast: ./m },
  ],
  [
    "cuts a call at its output limit",
    [{ calls: [{ name: "write", input: '{"path":"x' }], finish: "length" }, { text: "Again." }],
    { status: 0, out: "Again.\n", err: /^✗ write: / },
  ],
])("a model that %s", async (_, script, wanted) => {
  await using cli = await modelCli(script);
  const ran = await cli.run(["chat", "bad", "-p", "go", "--model", MODEL, "--yes"]);
  expect(ran.status).toBe(wanted.status);
  expect(ran.out.slice(0, wanted.out.length)).toBe(wanted.out);
  expect(ran.err).toMatch(wanted.err);
  expect((await cli.run(["doctor"])).status).toBe(0);
});

test("a command that prints fifty megabytes, and instructions of ten, are cut and said to be", async () => {
  const command = "head -c 50000000 /dev/zero | tr '\\0' x";
  await using cli = await modelCli([
    { calls: [{ name: "shell", input: { command } }] },
    { text: "A lot of x." },
  ]);
  writeFileSync(join(cli.folder, "AGENTS.md"), "Use tabs. ".repeat(1_048_576));
  const ran = await cli.run(["chat", "big", "-p", "go", "--model", MODEL, "--yes"]);
  expect(ran).toMatchObject({ status: 0, out: "A lot of x.\n" });
  expect(ran.err).toMatch(/AGENTS\.md: .*\d+ bytes/);
  const [first, second] = cli.server.requests;
  expect(first?.body).toContain("Use tabs.");
  for (const request of [first, second]) expect(request?.body.length).toBeLessThan(1_000_000);
  expect(second?.body).toContain("x".repeat(1_000));
});
