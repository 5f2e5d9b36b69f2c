/** A person and a model: at a terminal and through a pipe, with questions, faults, and leaving at any moment. */
import { existsSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { expect, test } from "vitest";
import { jsonLines } from "../cli-run.ts";
import { HAS_TERMINAL, MODEL, modelCli } from "../model-cli.ts";

const call = (tool: string, input: object): string => `tool ${tool} ${JSON.stringify(input)}`;
const lines = (...typed: readonly string[]): string => `${typed.join("\n")}\n`;

test("orders of a chat: another model, an edit, a fork, a summary, usage, help", async () => {
  await using cli = await modelCli();
  const typed = lines(
    "remember color=blue",
    "/model openai/gpt-5",
    "recall color",
    "/edit recall nothing",
    "/compact what matters",
    "/usage",
    "/fork",
    "recall color",
    "/model nope/x",
    "/help",
  );
  const { out, status } = await cli.run(["chat", "orders", "--model", MODEL], { input: typed });
  const said = [...out.matchAll(/^agent +(.*)$/gm)].map(([, text]) => text);
  expect(said).toEqual(["Noted color=blue", "blue", "I do not know nothing", "blue"]);
  expect(cli.server.requests.map(({ wire }) => wire)).toEqual(["anthropic", "openai", "openai", "openai"]);
  expect(status).toBe(2); // of the model that is none
  for (const order of ["/model", "/compact", "/continue", "/fork", "/edit", "/usage", "/cancel"])
    expect(out).toContain(`  ${order}`);
  const listed = jsonLines((await cli.run(["ls", "--json"])).out);
  expect(listed).toMatchObject([
    { cwd: expect.stringContaining(basename(cli.folder)), origin: { conversation: "orders" } },
    { conversation: "orders", title: "remember color=blue" },
  ]);
  const other = await cli.run(["chat", "orders", "-p", "recall nothing", "--json"]);
  expect(jsonLines(other.out).at(-1)).toMatchObject({ model: "openai/gpt-5" });
});

test("with sim: /compact keeps what was to be remembered, and /summary on tells of the branch that is left", async () => {
  await using cli = await modelCli();
  const long = ["x", "y", "z"].map((letter) => letter.repeat(60_000));
  const compacted = lines("remember a=1", ...long, "/compact", "recall a");
  const { out, status } = await cli.run(["chat", "sim", "--model", "sim"], { input: compacted });
  expect(status).toBe(0);
  expect(out).toContain("summarized for the model");
  expect(out).toMatch(/agent +1\n/);
  const typed = lines(
    "remember b=1",
    "remember c=2",
    "/edit recall c",
    "/summary on",
    "remember d=3",
    "/edit recall d",
  );
  const left = await cli.run(["chat", "branch", "--model", "sim"], { input: typed });
  expect(left.out).toContain("I do not know c");
  expect(left.out).toMatch(/agent +3\n/);
  const little = await cli.run(["chat", "branch"], { input: lines("/compact", "/continue", "//usage") });
  expect(little.out).toContain('You said "/usage"');
  expect(little.status).toBe(0);
});

test("a question through a pipe is answered by y or n alone; every other line is the next message, and the call is refused", async () => {
  await using cli = await modelCli();
  const write = (path: string): string => call("write", { path, content: "x" });
  const input = lines(write("a"), "y", write("b"), "n", write("c"), "recall kept", "/usage");
  const { out, status } = await cli.run(["chat", "asks", "--model", MODEL], { input });
  expect(["a", "b", "c"].map((path) => existsSync(join(cli.folder, path)))).toEqual([true, false, false]);
  expect(out).toContain("said no");
  expect(out).toContain("I do not know kept");
  expect(out).toMatch(/\bnot\b\s+(?:\S+\s+)?available/);
  expect(status).toBe(0);
  const left = await cli.run(["chat", "asks"], { input: lines(write("d")) });
  expect(left.status).toBe(1); // the turn waits
});

test("whoever leaves a question finds it again: ls says waiting, a script is told so, and /continue asks", async () => {
  await using cli = await modelCli();
  const write = call("write", { path: "made", content: "x" });
  await cli.run(["chat", "left", "--model", MODEL], { input: lines(write) });
  expect((await cli.run(["log", "left", "--all", "--json"])).out).not.toContain("permission_answer");
  const waiting = await cli.run(["continue", "left", "--json"]);
  expect(waiting.status).toBe(9);
  expect(jsonLines(waiting.out).at(-1)).toMatchObject({
    type: "ended",
    outcome: "waiting",
    waiting: [{ tool: "write" }],
  });
  expect(existsSync(join(cli.folder, "made"))).toBe(false);
  const back = await cli.run(["chat", "left"], { input: lines("/continue", "y") });
  expect(back.out).toContain("waits for your answer");
  expect(readFileSync(join(cli.folder, "made"), "utf8")).toBe("x");
  expect((await cli.run(["effects", "left"])).out.split("\n")).toHaveLength(2);
  expect(cli.server.requests).toHaveLength(2); // the call, and the answer to its result
});

test("--yes goes on with a question that waits", async () => {
  await using cli = await modelCli();
  await cli.run(["chat", "left", "--model", MODEL], {
    input: lines(call("shell", { command: "echo ran >> ran.txt" })),
  });
  expect((await cli.run(["continue", "left", "--yes"])).status).toBe(0);
  expect(readFileSync(join(cli.folder, "ran.txt"), "utf8")).toBe("ran\n");
});

test.runIf(HAS_TERMINAL)(
  "at a terminal: streamed, asked with the whole of it, and what was typed ahead is no answer",
  async () => {
    const tail = "; echo the end of it";
    await using cli = await modelCli([
      {
        thinking: { text: "Let me see", signature: "s" },
        calls: [{ name: "shell", input: { command: `printf ran >> ran.txt # ${"-".repeat(600)}${tail}` } }],
        hold: { at: "start", name: "asked" },
      },
      { text: "first done" },
      { text: "second done" },
    ]);
    const at = cli.atTerminal(["chat", "person", "--model", MODEL]);
    await at.printed("> ");
    at.type("go\r");
    await cli.server.held("asked");
    at.type("y\r"); // typed while the model works: the next message, not an answer
    await at.printed("next");
    cli.server.release("asked");
    await at.printed("Let me see");
    await at.printed(tail.slice(-10));
    await at.printed("[y/n, a: always this very command] ");
    at.type("n\r");
    await at.printed("first done");
    await at.printed("second done");
    expect(JSON.stringify(cli.server.requests[2]?.parsed)).toContain('"text":"y"');
    expect(existsSync(join(cli.folder, "ran.txt"))).toBe(false);
    at.type("\u0004");
    expect((await at.ended).status).toBe(0);
  },
  120_000,
);

test.runIf(HAS_TERMINAL)(
  "at a terminal: Ctrl-C stops a tool and its processes, twice leaves, Ctrl-D leaves a question; ls says waiting",
  async () => {
    await using cli = await modelCli([
      { calls: [{ name: "shell", input: { command: "sleep 1000" } }] },
      { text: ["half ", "whole"], hold: { at: "middle", name: "half" } },
      { calls: [{ name: "shell", input: { command: "echo later" } }] },
    ]);
    const at = cli.atTerminal(["chat", "stops", "--model", MODEL]);
    await at.printed("> ");
    at.type("go\r");
    await at.printed("[y/n, a: always this very command] ");
    at.type("y\r");
    await at.printed("▸ shell");
    at.type("\u0003");
    await at.printed("Cancelled");
    await at.printed("> ");
    at.type("again\r");
    await at.printed("half");
    at.type("\u0003");
    await at.printed("> ");
    at.type("half a line\u0003");
    await at.printed("> ");
    at.type("\u0003");
    await at.printed("again leaves");
    await at.printed("> ");
    at.type("\u0003");
    expect((await at.ended).status).toBe(0);
    const back = cli.atTerminal(["chat", "stops"]);
    await back.printed("> ");
    back.type("once more\r");
    await back.printed("[y/n, a: always this very command] ");
    back.type("\u0004");
    expect((await back.ended).status).toBe(0);
    const list = cli.atTerminal(["ls"]);
    expect((await list.ended).out).toMatch(/stops .*waiting/);
  },
  120_000,
);

test("a chat beside a turn that runs says so, waits for it, and gives up at /cancel", async () => {
  await using cli = await modelCli([
    { text: "first", hold: { at: "start", name: "first" } },
    { text: "second" },
  ]);
  const first = cli.start(["chat", "held", "-p", "one", "--model", MODEL]);
  await cli.server.held("first");
  const beside = cli.start(["chat", "held"]);
  await beside.printed("still runs in another process");
  beside.type("two\n");
  await beside.printed("Waiting for process");
  beside.type("/cancel\n");
  await beside.printed("Another process");
  beside.type("three\n");
  await beside.printed("Waiting for process");
  cli.server.release("first");
  await beside.printed("second");
  beside.child.stdin?.end();
  await beside.ended;
  expect((await first.ended).out).toBe("first\n");
  const asked = cli.server.requests[1]?.body ?? "";
  expect([asked.includes("two"), asked.includes("three")]).toEqual([false, true]);
});
