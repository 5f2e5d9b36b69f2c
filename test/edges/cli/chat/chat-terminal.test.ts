/** A chat at a real terminal: lines are edited, questions say what they are about, and signals end it. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { jsonLines } from "../cli-run.ts";
import { HAS_TERMINAL, MODEL, type ModelCli, modelCli } from "../model-cli.ts";

const call = (tool: string, input: object): string => `tool ${tool} ${JSON.stringify(input)}`;

const userTexts = async (cli: ModelCli, id: string): Promise<readonly string[]> =>
  jsonLines((await cli.run(["log", id, "--json"])).out).flatMap(({ message }) => {
    const { role, content } = (message ?? {}) as {
      role?: string;
      content?: readonly { text?: string }[];
    };
    return role === "user" ? [content?.[0]?.text ?? ""] : [];
  });

describe.runIf(HAS_TERMINAL)("at a terminal", () => {
  test("lines are edited, pasted whole, as long as they are, and had again in the next chat", async () => {
    await using cli = await modelCli();
    const at = cli.atTerminal(["chat", "typed", "--model", MODEL]);
    await at.printed("> ");
    at.type("remember a=helo\u001B[Dl\r");
    await at.printed("Noted a=hello");
    await at.printed("> ");
    at.type("\u001B[200~remember b=1\nrecall a\u001B[201~");
    at.type("\r");
    await at.printed("agent");
    await at.printed("> ");
    at.type(`remember long=${"x".repeat(9_000)}END\r`);
    await at.printed("Noted");
    await at.printed("END");
    await at.printed("> ");
    at.type("recall\\\ra\r");
    await at.printed("agent");
    await at.printed("> ");
    at.type("\u0004");
    expect((await at.ended).status).toBe(0);
    const back = cli.atTerminal(["chat", "typed"]);
    await back.printed("> ");
    back.type("\u001B[A\u001B[A\u001B[A\u001B[A\r");
    await back.printed("Noted a=hello");
    await back.printed("> ");
    back.type("/quit\r");
    await back.ended;
    expect(await userTexts(cli, "typed")).toEqual([
      "remember a=hello",
      "remember b=1\nrecall a",
      `remember long=${"x".repeat(9_000)}END`,
      "recall\na",
      "remember a=hello",
    ]);
  });

  test("what is allowed always is not asked for again, by the next process neither; a question says what is replaced", async () => {
    await using cli = await modelCli();
    writeFileSync(join(cli.folder, "there.txt"), "as it was");
    const at = cli.atTerminal(["chat", "always", "--model", MODEL]);
    const shell = call("shell", { command: "echo ran >> ran.txt" });
    await at.printed("> ");
    at.type(`${shell}\r`);
    await at.printed("a: always this very command] ");
    at.type("a\r");
    await at.printed("> ");
    at.type(`${shell}\r`);
    await at.printed("Done");
    await at.printed("> ");
    at.type(`${call("write", { path: "there.txt", content: "" })}\r`);
    await at.printed("empty there.txt, which has 9 characters");
    await at.printed("] ");
    at.type("n\r");
    await at.printed("> ");
    at.type("\u0004");
    await at.ended;
    expect((await cli.run(["chat", "always", "-p", shell])).status).toBe(0);
    expect(readFileSync(join(cli.folder, "ran.txt"), "utf8")).toBe("ran\nran\nran\n");
    const other = call("shell", { command: "echo other >> ran.txt" });
    await cli.run(["chat", "always", "-p", other]);
    expect(readFileSync(join(cli.folder, "ran.txt"), "utf8")).toBe("ran\nran\nran\n");
    expect(readFileSync(join(cli.folder, "there.txt"), "utf8")).toBe("as it was");
  });

  test("one that knows no keys has lines all the same, and answers questions", async () => {
    await using cli = await modelCli();
    const at = cli.atTerminal(["chat", "dumb", "--model", MODEL], "dumb");
    await at.printed("> ");
    at.type(`${call("write", { path: "made", content: "x" })}\n`);
    await at.printed("] ");
    at.type("y\n");
    await at.printed("> ");
    at.type("\u0004");
    expect((await at.ended).status).toBe(0);
    expect(readFileSync(join(cli.folder, "made"), "utf8")).toBe("x");
  });

  test("Ctrl-C stops the answer, and what was typed ahead is not sent in its place", async () => {
    await using cli = await modelCli([{ text: ["half ", "whole"], hold: { at: "middle", name: "half" } }]);
    const at = cli.atTerminal(["chat", "ahead", "--model", MODEL]);
    await at.printed("> ");
    at.type("go\r");
    await at.printed("half");
    at.type("typed ahead\r");
    await at.printed("next");
    at.type("\u0003");
    await at.printed("Not sent");
    await at.printed("Cancelled");
    await at.printed("> ");
    at.type("\u001B[A");
    await at.printed("typed ahead");
    at.type("\u0015\u0004");
    expect((await at.ended).status).toBe(0);
    expect(cli.server.requests).toHaveLength(1);
  });

  test("a new message says that it drops the question that waits", async () => {
    await using cli = await modelCli();
    const at = cli.atTerminal(["chat", "drop", "--model", MODEL]);
    await at.printed("> ");
    at.type(`${call("write", { path: "made", content: "x" })}\r`);
    await at.printed("] ");
    at.type("\u0004");
    await at.ended;
    const back = cli.atTerminal(["chat", "drop"]);
    await back.printed("your answer about write");
    await back.printed("> ");
    back.type("recall a\r");
    await back.printed("dropped");
    await back.printed("I do not know a");
    back.type("\u0004");
    await back.ended;
    expect(existsSync(join(cli.folder, "made"))).toBe(false);
  });
});

test.each(["SIGTERM", "SIGHUP"] as const)(
  "%s stops the turn, keeps what came, and ends the chat",
  async (name) => {
    await using cli = await modelCli([
      { text: ["so far ", "and more"], hold: { at: "middle", name: "middle" } },
      { calls: [{ name: "write", input: { path: "made", content: "x" } }] },
      { text: "written" },
    ]);
    const at = cli.start(["chat", "ended", "--model", MODEL]);
    at.type("go\nnever sent\n");
    await at.printed("so far");
    at.child.kill(name);
    const { status, out } = await at.ended;
    expect(status).toBe(1);
    expect(out).toContain("Not sent: never sent");
    expect((await cli.run(["show", "ended"])).out).toContain("so far");
    expect(cli.server.requests).toHaveLength(1);
    // A question stays open for whoever comes next.
    const asks = cli.start(["chat", "ended"]);
    asks.type("write it\n");
    await asks.printed("made");
    asks.child.kill(name);
    await asks.ended;
    expect((await cli.run(["continue", "ended", "--yes"])).out).toBe("written\n");
    expect(readFileSync(join(cli.folder, "made"), "utf8")).toBe("x");
  },
);
