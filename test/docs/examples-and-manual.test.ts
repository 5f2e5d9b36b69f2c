import { execFile } from "node:child_process";
import { globSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import { COMMAND_NAMES } from "#edges/cli/commands";
import { ERROR_GROUPS } from "#log/errors";
import { programFile } from "../support/programs.ts";
import { tempDir } from "../support/temp-dir.ts";
import { MAIN, ROOT } from "../edges/cli/cli-run.ts";

const run = promisify(execFile);
const QUICKSTART = readFileSync(join(ROOT, "docs/tutorial/quickstart.md"), "utf8");
const GUIDES = globSync("docs/{how-to,internals,explanation}/**/*.md", { cwd: ROOT }).map((name) =>
  readFileSync(join(ROOT, name), "utf8"),
);
const README = readFileSync(join(ROOT, "README.md"), "utf8");
const CLI = ["docs/reference/cli.md", "docs/reference/format.md"]
  .map((file) => readFileSync(join(ROOT, file), "utf8"))
  .join("\n");

function blocks(text: string, language: string): readonly string[] {
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)]
    .filter(([, found]) => found === language)
    .map(([, , code = ""]) => code);
}

/** The name of a file that an example imports, as the package exports it. */
const EXPORTED = new Map(
  Object.entries(
    (
      JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as {
        exports: { readonly [path: string]: { readonly default?: string } };
      }
    ).exports,
  ).map(([path, { default: file = "" }]) => [
    file.replace(/^\.\/dist\/(.*)\.js$/, "../src/$1.ts"),
    `holdfast${path.slice(1)}`,
  ]),
);

/** An example as a reader would write it: with the package's name, and without the note to the linter. */
function exampleText(name: string): string {
  return readFileSync(join(ROOT, "examples", name), "utf8")
    .replace(/^\/\*.*\*\/\n/, "")
    .replaceAll(/ from "(\.\.\/src\/[^"]+)"/g, (_, file: string) => ` from "${EXPORTED.get(file) ?? file}"`);
}

const examples = readdirSync(join(ROOT, "examples")).filter((name) => name.endsWith(".ts"));

describe("the README and the quickstart", () => {
  test("show the examples word for word", () => {
    const shown = [QUICKSTART, README, ...GUIDES].flatMap((text) => blocks(text, "ts"));
    expect(shown.toSorted()).toEqual(examples.map(exampleText).toSorted());
  });

  test.each(examples)("have an example %s that runs, and prints what its comments say", async (name) => {
    using folder = tempDir();
    const { stdout } = await run(
      process.execPath,
      ["--disable-warning=ExperimentalWarning", programFile(join(ROOT, "examples", name))],
      { cwd: folder.path },
    );
    expect(stdout).not.toBe("");
    const promised = [...exampleText(name).matchAll(/console\.log\(.*\); \/\/ (.*)$/gm)].map(
      ([, line]) => line,
    );
    expect(stdout.split("\n").filter((line) => promised.includes(line))).toEqual(promised);
  });

  test("give commands that work in the order they stand there", async () => {
    using folder = tempDir();
    const launcher = `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"\n`; // launcher.test.ts has the one of the checkout
    writeFileSync(join(folder.path, "holdfast"), launcher, { mode: 0o755 });
    const script = `set -eu\n${blocks(QUICKSTART, "sh").join("\n")}`;
    const env = { ...process.env, PATH: `${folder.path}:${process.env["PATH"] ?? ""}` };
    const { stdout, stderr } = await run("/bin/sh", ["-c", script], { cwd: folder.path, env });
    expect(stderr).toBe("");
    expect(stdout).toContain("second-try");
  }, 300_000);
});

describe("the manual of the command line", () => {
  test("covers every command and every error code", () => {
    for (const name of COMMAND_NAMES) expect(CLI).toMatch(new RegExp(`\`${name}\\b`));
    for (const code of Object.keys(ERROR_GROUPS)) expect(CLI).toContain(`\`${code}\``);
  });
});
