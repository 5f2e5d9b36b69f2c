/** What a person is asked before a tool runs, and what "always" allows. */
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { subjectOf } from "#agent/tools/folder-path";
import { codingTools } from "#agent/tools/coding-tools";
import { AlwaysRules, alwaysRule, rulesIn, withRule } from "#edges/cli/chat/permission-question";
import { changedLines, questionText } from "#edges/cli/chat/permission-question";
import { BaseUrls } from "#edges/cli/chat/agent-flags";
import { Printer, toolLines } from "#edges/cli/terminal/printer";
import { styleFor } from "#edges/cli/terminal/terminal";
import type { Json } from "#log/json/json-text";
import { tempDir } from "../../../support/temp-dir.ts";

describe("a question", () => {
  test("says whether a file is new, replaced or emptied, and whether it lies outside", async () => {
    using place = tempDir();
    const cwd = join(place.path, "work");
    mkdirSync(cwd);
    writeFileSync(join(cwd, "there"), "as it was");
    symlinkSync(place.path, join(cwd, "link"));
    const asked = (tool: string, input: Json): Promise<string> => questionText({ tool, input, cwd });
    expect(await asked("write", { path: "new", content: "1\n2" })).toMatch(
      /write new, new, with 3 characters:\n1\n2$/,
    );
    expect(await asked("write", { path: "there", content: "other" })).toMatch(
      /replace there \(9 characters now\)/,
    );
    expect(await asked("write", { path: "there", content: "" })).toMatch(/empty there/);
    expect(await asked("write", { path: "../out", content: "x" })).toContain("outside of");
    expect(await asked("write", { path: "link/out", content: "x" })).toContain("outside of");
    expect(await asked("read", { path: "/etc/hostname" })).toMatch(/look at \/etc\/hostname.*outside/);
    expect(await asked("shell", { command: "ls\nrm x" })).toBe("shell wants to run:\nls\nrm x");
    expect(await asked("other", { a: 1 })).toContain('{"a":1}');
  });

  test("of an edit is a diff with its place, or says that it will fail", async () => {
    using place = tempDir();
    const cwd = place.path;
    writeFileSync(join(cwd, "f"), "a\nb\n\tif (x) y();\nd\ne\ne");
    const edit = (old: string, by: string, path = "f"): Promise<string> =>
      questionText({ tool: "edit", input: { path, old, new: by }, cwd });
    expect(await edit("(x)", "(z)")).toBe(
      "edit wants to change f at line 3:\n  a\n  b\n- \tif (x) y();\n+ \tif (z) y();\n  d\n  e",
    );
    for (const [old, path] of [["nowhere"], ["e"], ["a", "gone"]] as const)
      expect(await edit(old, "z", path)).toContain("will fail");
  });

  test("shows only the lines that change, wherever the words begin", () => {
    const change = (text: string, old: string, by: string) =>
      changedLines(text, { position: text.indexOf(old), length: old.length, by });
    expect(change("a\nb\nc", "a\nb", "a\nx")).toEqual({ line: 2, rows: ["  a", "- b", "+ x", "  c"] });
    expect(change("a\nb", "b", "b\nc")).toEqual({ line: 3, rows: ["  a", "  b", "+ c"] });
    expect(change("a\nb\nc", "b\n", "")).toEqual({ line: 2, rows: ["  a", "- b", "  c"] });
    expect(change("a\nb\n", "a", "c")).toEqual({ line: 1, rows: ["- a", "+ c", "  b"] });
    expect(change("a\nb\n", "b", "c")).toEqual({ line: 2, rows: ["  a", "- b", "+ c"] });
    expect(change("one", "one", "two")).toEqual({ line: 1, rows: ["- one", "+ two"] });
  });

  test("keeps everything else back until it is answered", () => {
    const seen: string[] = [];
    const printer = new Printer({
      isTerminal: true,
      columns: 80,
      style: styleFor(false, {}),
      write: async (text) => void seen.push(text),
      writeBytes: async () => undefined,
    });
    printer.question("may it?");
    const started = { type: "tool", call: "d", name: "shell", input: {}, state: "started" };
    printer.event({ type: "update", event: started, conversation: "c", upstream: null } as never);
    printer.hold();
    const event = { type: "tool", call: "c", name: "read", input: {}, state: "done", output: "its result" };
    printer.event({ type: "update", event, conversation: "c", upstream: null } as never);
    expect(seen.join("")).not.toContain("its result");
    printer.letGo();
    expect(seen.join("")).toContain("✓ read its result"); // it stands behind another call
  });

  test("code in an answer keeps its indentation, and a line for the moment leaves nothing behind", () => {
    const seen: string[] = [];
    const printer = new Printer({
      isTerminal: true,
      columns: 40,
      style: styleFor(false, {}),
      write: async (text) => void seen.push(text),
      writeBytes: async () => undefined,
    });
    printer.passing("waiting");
    for (const text of ["Look:\n  de", "f f():\n\tre", "turn 1\n\nand so on and on and on and on it goes"])
      printer.event({ type: "update", event: { type: "text", text }, conversation: "c", upstream: null });
    printer.endStreams();
    const [before, after] = seen.join("").split("\r\u001B[K");
    expect(before).toBe("waiting");
    expect(after?.split("\n")).toEqual([
      "agent     Look:",
      "            def f():",
      "              return 1",
      "",
      "          and so on and on and on and on",
      "          it goes",
      "",
    ]);
  });
});

describe("always", () => {
  test("allows this very command, this tool in the folder or this path, and nothing beside", async () => {
    using place = tempDir();
    const cwd = place.path;
    const tools = codingTools({ cwd });
    const decided = async (rules: AlwaysRules, name: string, input: Json): Promise<string | null> => {
      const tool = tools.find((one) => one.name === name);
      return tool === undefined ? null : rules.decide({ tool, input, cwd });
    };
    const ruled = async (tool: string, input: Json): Promise<AlwaysRules> => {
      const rule = alwaysRule(tool, await subjectOf(tool, input, cwd));
      // Through the log, as the next process finds it.
      return new AlwaysRules(rule === null ? [] : rulesIn(withRule({ agent: "kept" }, rule)));
    };
    const shell = await ruled("shell", { command: "git status; ls" });
    expect(await decided(shell, "shell", { command: "git status; ls" })).toBe("allow");
    expect(await decided(shell, "shell", { command: "git status" })).toBe("ask");
    expect(await decided(shell, "write", { path: "a", content: "" })).toBe("ask");
    const write = await ruled("write", { path: "a", content: "" });
    expect(await decided(write, "write", { path: "sub/b", content: "" })).toBe("allow");
    expect(await decided(write, "write", { path: "../b", content: "" })).toBe("ask");
    const outside = await ruled("read", { path: "/etc/hostname" });
    expect(await decided(outside, "read", { path: "/etc/hostname" })).toBe("allow");
    expect(await decided(outside, "read", { path: "/etc/passwd" })).toBe("ask");
    expect(alwaysRule("shell", { kind: "command", command: "rm *" })).toBeNull();
  });

  test("what is in a config and is no rule of a person allows nothing", () => {
    const wrong = [
      { tool: "shell", decision: "deny" },
      { tool: 1 },
      "x",
      null,
      { tool: "a", pattern: 1, decision: "allow" },
    ];
    expect(rulesIn({ permissions: wrong })).toEqual([]);
    expect(rulesIn({ permissions: "all" })).toEqual([]);
    expect(withRule({ a: 1 }, { tool: "x", decision: "allow" })).toMatchObject({ a: 1 });
  });
});

test("a base URL is that of one provider, and kept unless it may hold a secret", () => {
  const urls = new BaseUrls({ baseUrls: { openai: "http://one/v1", other: 1 } });
  expect([urls.of("openai/gpt"), urls.of("anthropic/x"), urls.of("other/y")]).toEqual([
    "http://one/v1",
    undefined,
    undefined,
  ]);
  urls.set("openai-compatible/a", "http://me:pass@two/v1");
  urls.set("google/a", "http://three/v1?key=x");
  expect(urls.in({ a: 1 })).toEqual({ a: 1, baseUrls: { openai: "http://one/v1" } });
  urls.set("openai-compatible/a", "http://two/v1");
  expect(urls.in({})).toEqual({
    baseUrls: { openai: "http://one/v1", "openai-compatible": "http://two/v1" },
  });
});

test("what a tool gave is shown with its white space, its beginning and its end, and how it ended", () => {
  expect(toolLines(false, "def f():\n\tif x:\n    return 1\n")).toEqual([
    "✓",
    "  def f():",
    "  \tif x:",
    "      return 1",
  ]);
  const many = Array.from({ length: 20 }, (_, at) => `line ${at}`).join("\n");
  const [first, ...rest] = toolLines(true, `${many}\n[exit code 3]`);
  expect(first).toBe("✗ exit code 3");
  expect(rest).toHaveLength(9);
  expect([rest[0], rest.at(-1)]).toEqual(["  line 0", "  line 19"]);
  expect(toolLines(false, "[exit code 0]")).toEqual(["✓ exit code 0"]);
  expect(toolLines(false, "one\n[exit code 0]")).toEqual(["✓ one"]);
  expect(toolLines(false, "")).toEqual(["✓ (nothing)"]);
});
