/** One prompt for a script: what is printed where, how it ends, and what is refused before anything is made. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startModelServer } from "../../../support/model-server.ts";
import { jsonLines } from "../cli-run.ts";
import { MODEL, type ModelCli, modelCli } from "../model-cli.ts";

let cli: ModelCli;
beforeAll(async () => {
  cli = await modelCli();
});
afterAll(() => cli[Symbol.asyncDispose]());

const call = (tool: string, input: object): string => `tool ${tool} ${JSON.stringify(input)}`;

test("the answer is on stdout, the model is the conversation's from then on, and what was said is known", async () => {
  const first = await cli.run(["chat", "plain", "-p", "remember color=blue", "--model", MODEL]);
  expect(first).toEqual({ status: 0, out: "Noted color=blue\n", err: "" });
  expect(await cli.run(["chat", "plain", "-p", "recall color"])).toEqual({
    status: 0,
    out: "blue\n",
    err: "",
  });
  expect(cli.server.requests.map(({ model }) => model)).toEqual(["claude-sonnet-5-5", "claude-sonnet-5-5"]);
  const sim = await cli.run(["chat", "simple", "-p", "remember a=1", "--model", "sim"]);
  expect(sim).toEqual({ status: 0, out: "Noted a=1\n", err: "" });
  expect(jsonLines((await cli.run(["chat", "simple", "-p", "recall a", "--json"])).out).at(-1)).toMatchObject(
    {
      text: "1",
      model: "sim",
    },
  );
});

test("flags about a model are refused where none is named", async () => {
  expect((await cli.run(["chat", "nobody", "-p", "x", "--max-steps", "3"])).status).toBe(2);
});

test("scripts that begin one conversation at the same time all go on in it; a new one without a name is told", async () => {
  const three = await Promise.all(
    [1, 2, 3].map(
      (n) => cli.start(["chat", "together", "-p", `remember k${n}=${n}`, "--model", "sim"]).ended,
    ),
  );
  expect(three.map(({ status }) => status)).toEqual([0, 0, 0]);
  expect((await cli.run(["chat", "together", "-p", "recall k2"])).out).toBe("2\n");
  expect((await cli.run(["chat", "-p", "hi", "--model", "sim"])).err).toMatch(/^A new conversation: \S+\n$/);
});

test("-p - reads the prompt from standard input, all of its lines", async () => {
  const ran = await cli.run(["chat", "stdin", "-p", "-", "--model", "sim"], {
    input: "remember a=1\nremember b=2\n",
  });
  expect(ran.status).toBe(0);
  expect((await cli.run(["chat", "stdin", "-p", "recall b"])).out).toBe("2\n");
  expect((await cli.run(["chat", "stdin", "-p", "-"], { input: "\n" })).status).toBe(2);
});

test("a base URL is kept with the conversation, for its provider alone", async () => {
  const compatible = [
    "--model",
    "openai-compatible/any",
    "--base-url",
    cli.server.baseUrl("openai-compatible"),
  ];
  expect((await cli.run(["chat", "served", "-p", "remember a=1", ...compatible])).status).toBe(0);
  expect(await cli.run(["chat", "served", "-p", "recall a"])).toEqual({ status: 0, out: "1\n", err: "" });
  expect((await cli.run(["chat", "served", "-p", "recall a", "--model", MODEL])).out).toBe("1\n");
});

test("a command is not given the keys that models are asked with", async () => {
  const command = "echo key=$ANTHROPIC_API_KEY path=${PATH:+there}";
  const ran = await cli.run(["chat", "keys", "-p", call("shell", { command }), "--model", "sim", "--yes"]);
  expect(ran.out).toContain("key= path=there");
});

test("as JSON every event is a line, and the last one alone says how it ended", async () => {
  const { status, out, err } = await cli.run(["chat", "json", "-p", "work 2", "--model", MODEL, "--json"]);
  const events = jsonLines(out);
  expect([status, err]).toEqual([0, ""]);
  expect(events.map(({ type }) => type)).toEqual(
    expect.arrayContaining(["accepted", "step", "update", "ended"]),
  );
  expect(events.filter(({ type }) => type === "ended")).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({
    type: "ended",
    outcome: "completed",
    conversation: "json",
    text: "Step 1 of 2 done. Step 2 of 2 done. ",
  });
});

test("reading in the folder is allowed; a call that asks is denied, which ends with 7 and the model is told so, unless --yes", async () => {
  writeFileSync(join(cli.folder, "seen.txt"), "what is in it");
  const read = await cli.run(["chat", "asks", "-p", call("read", { path: "seen.txt" }), "--model", MODEL]);
  expect(read).toMatchObject({ status: 0, out: "Done: what is in it\n" });
  const write = call("write", { path: "made.txt", content: "x" });
  const refused = await cli.run(["chat", "asks", "-p", write]);
  expect(refused).toMatchObject({ status: 7, out: expect.stringContaining("Done: write") });
  expect(existsSync(join(cli.folder, "made.txt"))).toBe(false);
  expect(await cli.run(["chat", "asks", "-p", write, "--yes"])).toMatchObject({ status: 0 });
  expect(readFileSync(join(cli.folder, "made.txt"), "utf8")).toBe("x");
  const log = jsonLines((await cli.run(["log", "asks", "--all", "--json"])).out);
  expect(log.filter(({ type }) => type === "permission_answer")).toMatchObject([{ outcome: "allowed" }]);
  const effects = await cli.run(["effects", "asks"]);
  expect(effects.out).toMatch(/^done +read +\{"path":"seen.txt"\}\nrefused +write .*\ndone +write /);
});

describe("what is missing or wrong is the caller's mistake, told before a conversation is made", () => {
  const wrong: readonly (readonly [string, readonly string[], { readonly [name: string]: string }])[] = [
    ["an unknown provider", ["--model", "acme/best"], {}],
    ["a name without a provider", ["--model", "gpt"], {}],
    ["a missing key", ["--model", MODEL], { ANTHROPIC_API_KEY: "" }],
    ["a URL that is none", ["--model", MODEL, "--base-url", "localhost"], {}],
    ["an empty variable", ["--model", MODEL], { ANTHROPIC_BASE_URL: "" }],
    ["no base URL", ["--model", "openai-compatible/x"], {}],
    ["a limit of cost where no price is known", ["--model", "openai/unheard-of", "--max-cost", "1"], {}],
    ["no steps", ["--model", MODEL, "--max-steps", "0"], {}],
    ["a cost that is none", ["--model", MODEL, "--max-cost", "free"], {}],
  ];
  test.each(wrong)("%s", async (_, flags, env) => {
    const asked = cli.server.requests.length;
    const ran = await cli.run(["chat", "never", "-p", "hello", "--json", ...flags], { env });
    expect(ran.status).toBe(2);
    expect(jsonLines(ran.err)).toMatchObject([{ error: { code: "invalid_request" } }]);
    expect(jsonLines(ran.out)).toMatchObject([
      { type: "ended", outcome: "failed", conversation: null, code: "invalid_request" },
    ]);
    expect((await cli.run(["chat", "never", "--model", ...flags.slice(1)], { env })).status).toBe(2);
    expect(cli.server.requests).toHaveLength(asked);
    expect((await cli.run(["show", "never"])).status).toBe(3);
  });

  test("an empty prompt, and a conversation that is not there to be continued", async () => {
    expect((await cli.run(["chat", "never", "-p", " ", "--model", MODEL])).status).toBe(2);
    const gone = await cli.run(["continue", "never", "--json"]);
    expect(jsonLines(gone.out).at(-1)).toMatchObject({ type: "ended", code: "conversation_not_found" });
    await cli.run(["new", "--id", "silent"]);
    expect((await cli.run(["continue", "silent"])).status).toBe(2);
    expect((await cli.run(["continue", "silent", "--model", "sim"])).status).toBe(2);
  });
});

test("a service's limit ends with 5, a limit of one's own or a refused key with 1, and continue finishes a turn that its own limit stopped", async () => {
  const two = `${call("read", { path: "." })}\nthen\nremember done=yes`;
  const stopped = await cli.run(["chat", "steps", "-p", two, "--model", MODEL, "--max-steps", "1", "--json"]);
  expect(stopped.status).toBe(1);
  expect(jsonLines(stopped.out).at(-1)).toMatchObject({
    outcome: "interrupted",
    class: "turn_limit",
    steps: 1,
  });
  expect(await cli.run(["continue", "steps"])).toMatchObject({ status: 0, out: "Noted done=yes\n" });
  const nothing = await cli.run(["continue", "steps", "--json"]);
  expect([nothing.status, jsonLines(nothing.out).at(-1)]).toMatchObject([
    0,
    { outcome: "completed", text: "" },
  ]);

  await using poor = await modelCli([
    { fail: { kind: "status", status: 429, type: "insufficient_quota", code: "insufficient_quota" } },
    { fail: { kind: "status", status: 401, type: "authentication_error" } },
  ]);
  expect((await poor.run(["chat", "poor", "-p", "hi", "--model", "openai/gpt-5"])).status).toBe(5);
  const refused = await poor.run(["chat", "poor", "-p", "hi", "--json"]);
  expect(refused.status).toBe(1);
  expect(jsonLines(refused.out).at(-1)).toMatchObject({ type: "ended", outcome: "failed" });
});

test("errors of a service say who was asked, where, and what to do: in a script and in a chat", async () => {
  const limit = { status: 429, headers: { "retry-after": "3600" } } as const;
  await using bad = await modelCli((request) =>
    request.model === "gone"
      ? { fail: { kind: "status", status: 404, message: "Not Found" } }
      : request.model === "full"
        ? { fail: { kind: "status", type: "rate_limit_error", ...limit } }
        : {
            fail: { kind: "status", status: 401, message: "invalid x-api-key", type: "authentication_error" },
          },
  );
  const host = `127.0.0.1:${bad.server.port}`;
  const said = async (model: string): Promise<string> => {
    const script = await bad.run(["chat", model, "-p", "hi", "--model", `anthropic/${model}`]);
    expect(script.err).toContain(`\`holdfast continue ${model}\``);
    const chat = await bad.run(["chat", model], { input: "/continue\n" });
    expect(chat.out.replaceAll(/\s+/g, " ")).toContain("/continue tries again");
    return script.err;
  };
  expect(await said("gone")).toMatch(new RegExp(`404 from http://${host}\\S* for anthropic/gone`));
  expect(await said("full")).toMatch(/429 from .* in (?:60 min|1 h) /);
  expect(await said("key")).toContain("ANTHROPIC_API_KEY");
  const closed = await startModelServer();
  await closed.close();
  const env = { ANTHROPIC_BASE_URL: closed.baseUrl("anthropic") };
  const none = bad.start(["chat", "none", "--model", MODEL], { env });
  none.type("hi\n");
  await none.printed("not be reached");
  none.child.kill("SIGTERM"); // it would be asked four times more
  expect((await none.ended).out).not.toContain("overloaded");
});

test("nothing that a model or a tool says becomes an order to a terminal", async () => {
  const evil = "\u001B]52;c;x\u0007\u001B[2J\u202E";
  await using spoken = await modelCli([
    { text: `one${evil}`, calls: [{ name: "shell", input: { command: "printf 'a\\033[2Jb'" } }] },
    { calls: [{ name: `no${evil}`, input: { a: evil } }] },
    { text: ["\u001B", "[2J", `two${evil}`] },
    { text: `three${evil}` },
  ]);
  const piped = await spoken.run(["chat", "evil", "--model", MODEL, "--yes"], {
    input: "go\n/tree\n/model \u001B[2J\n",
  });
  expect(piped.out).toContain("two");
  const ran = [
    piped,
    await spoken.run(["effects", "evil"]),
    await spoken.run(["usage", "--by", "conversation"]),
    await spoken.run(["chat", "evil", "-p", "again"]),
  ];
  expect(ran[3]?.out).toContain("three");
  for (const { out, err } of ran) {
    expect(`${out}${err}`).not.toMatch(/[^\P{Cc}\n]/u);
    expect(`${out}${err}`).not.toContain("\u202E");
  }
});

test("a conversation that another process holds is waited for, and both prompts are answered", async () => {
  await using held = await modelCli([
    { text: "first", hold: { at: "start", name: "first" } },
    { text: "second" },
  ]);
  const first = held.start(["chat", "held", "-p", "one", "--model", MODEL]);
  await held.server.held("first");
  const second = held.start(["chat", "held", "-p", "two", "--model", MODEL]);
  const waits = new Promise<void>((resolve) => second.child.stderr?.once("data", () => resolve()));
  await waits;
  expect(held.server.requests).toHaveLength(1);
  held.server.release("first");
  expect(await first.ended).toMatchObject({ status: 0, out: "first\n" });
  expect(await second.ended).toMatchObject({ status: 0, out: "second\n" });
  expect(held.server.requests[1]?.body).toContain("first");
});

test("Ctrl-C stops the turn: it ends as interrupted, with what had come", async () => {
  await using long = await modelCli([
    { text: ["so far ", "and more"], hold: { at: "middle", name: "middle" } },
  ]);
  const running = long.start(["chat", "stop", "-p", "go", "--model", MODEL, "--json"]);
  await running.printed("so far");
  running.child.kill("SIGINT");
  const { status, out } = await running.ended;
  expect(status).toBe(1);
  expect(jsonLines(out).at(-1)).toMatchObject({ type: "ended", outcome: "interrupted", class: "cancelled" });
});
