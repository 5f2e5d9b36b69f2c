import { execFile } from "node:child_process";
import { globSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { COMMAND_NAMES } from "#edges/cli/commands";
import { ERROR_GROUPS } from "#log/errors";
import { programFile } from "../support/programs.ts";
import { tempDir } from "../support/temp-dir.ts";
import { ROOT } from "../edges/cli/cli-run.ts";

const run = promisify(execFile);
const examples = readdirSync(join(ROOT, "examples")).filter((name) => name.endsWith(".ts"));
const page = (name: string): string => readFileSync(join(ROOT, name), "utf8");

describe("the examples", () => {
  test.each(examples)("%s runs, prints what its comments say, and is linked from a page", async (name) => {
    using folder = tempDir();
    const program = programFile(join(ROOT, "examples", name));
    const { stdout } = await run(process.execPath, ["--disable-warning=ExperimentalWarning", program], {
      cwd: folder.path,
    });
    expect(stdout).not.toBe("");
    const promised = [...page(`examples/${name}`).matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(
      ([, line]) => line,
    );
    expect(stdout.split("\n").filter((line) => promised.includes(line))).toEqual(promised);
    const pages = globSync("docs/internals/*.md", { cwd: ROOT }).map(page).join("\n");
    expect(pages).toContain(`examples/${name})`);
  });
});

describe("the reference", () => {
  test("covers every command and every error code", () => {
    const [commands, errors] = [page("docs/reference/cli.md"), page("docs/reference/errors.md")];
    for (const name of COMMAND_NAMES) expect(commands).toMatch(new RegExp(`(?:\`|holdfast )${name}\\b`));
    for (const code of Object.keys(ERROR_GROUPS)) expect(errors).toContain(`### \`${code}\`\n`);
  });
});
