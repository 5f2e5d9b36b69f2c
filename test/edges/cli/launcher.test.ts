import { execFile } from "node:child_process";
import { symlinkSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { promisify } from "node:util";
import { COMMAND_NAMES } from "#edges/cli/commands";
import { expect, test } from "vitest";
import { defaultStore } from "#open";
import { tempDir } from "../../support/temp-dir.ts";
import { runCli, jsonLines, ROOT } from "./cli-run.ts";

test("the launcher runs from any folder, through a link, and passes arguments as they are", async () => {
  using folder = tempDir();
  const link = join(folder.path, "hf");
  symlinkSync(join(ROOT, "holdfast"), link);
  const { stdout } = await promisify(execFile)(
    link,
    ["--store", "memory:", "new", "--json", "--id", "a", "--title", `two  words "and" $HOME *`],
    { cwd: folder.path },
  );
  expect(jsonLines(stdout)).toMatchObject([{ conversation: "a" }]);
  await expect(promisify(execFile)(link, ["nope"], { cwd: folder.path })).rejects.toMatchObject({ code: 2 });
});

test("the launcher says what to do when there is no Node it can use", async () => {
  using folder = tempDir();
  const { readFileSync, writeFileSync } = await import("node:fs");
  const copy = join(folder.path, "holdfast");
  writeFileSync(copy, readFileSync(join(ROOT, "holdfast")), { mode: 0o755 });
  const failing = promisify(execFile)("/bin/sh", [copy, "ls"], {
    env: { PATH: "/usr/bin-without-node:/bin-without-node" },
  });
  await expect(failing).rejects.toMatchObject({ code: 1 });
});

test("help explains every command with examples, and unknown words get a suggestion and 2", async () => {
  const help = await runCli("memory:", ["help", "--json"]);
  const { commands } = jsonLines(help.out)[0] as {
    commands: readonly { name: string; examples: readonly string[] }[];
  };
  expect(commands.map(({ name }) => name)).toEqual(COMMAND_NAMES);
  expect(commands.every(({ examples }) => examples.length > 0)).toBe(true);
  const [about, version, word, flag, none, extra] = await Promise.all(
    [["append", "--help"], ["--version"], ["contxt", "x"], ["log", "x", "--folow"], [], ["ls", "a", "b"]].map(
      (args) => runCli("memory:", args),
    ),
  );
  expect(about?.out).toContain("--each");
  expect(version?.out).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect([word?.status, flag?.status, none?.status, extra?.status]).toEqual([2, 2, 0, 2]);
  expect(word?.err).toContain("context");
  expect(flag?.err).toContain("--follow");
});

const SOURCE = join(ROOT, "src/edges/cli/main.ts");
const TELLS_MODULES = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from "node:module";
  registerHooks({ load: (url, context, next) => (console.error(url), next(url, context)) });
`)}`;

test("a command loads what it needs: the agent loop is loaded for a model, and not before other agents", async () => {
  const modules = async (...args: readonly string[]): Promise<string> => {
    const child = promisify(execFile)(process.execPath, ["--import", TELLS_MODULES, SOURCE, ...args]);
    child.child.stdin?.end();
    return (await child).stderr;
  };
  const [list, agents, model] = await Promise.all([
    modules("ls", "--store", "memory:"),
    modules("acp", "--store", "memory:", "--", "true"),
    modules("acp", "--store", "memory:", "--model", "sim"),
  ]);
  expect([list, agents, model].map((loaded) => loaded.includes("/src/agent/loop/"))).toEqual([
    false,
    false,
    true,
  ]);
});

test("an empty HOME is no home: the store is not another one in each folder", () => {
  const { HOME } = process.env;
  try {
    process.env["HOME"] = "";
    expect(isAbsolute(defaultStore().slice("sqlite:".length))).toBe(true);
  } finally {
    if (HOME === undefined) delete process.env["HOME"];
    else process.env["HOME"] = HOME;
  }
});
