/** The package as someone gets it who never saw the tree: packed, put into an empty folder, typed strictly, run. */
import { execFile } from "node:child_process";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { installDependencies, packedFile } from "../support/packed.ts";
import { tempDir } from "../support/temp-dir.ts";
import { jsonLines, ROOT } from "../edges/cli/cli-run.ts";

const run = promisify(execFile);
const folder = tempDir();
afterAll(() => folder[Symbol.dispose]());
const TOOLS = join(ROOT, "node_modules/.bin");
const env = {
  PATH: `${TOOLS}${delimiter}${process.env["PATH"] ?? ""}`,
  HOME: folder.path,
  HOLDFAST_STORE: "sqlite:chat.db",
};

beforeAll(async () => {
  const tarball = await packedFile();
  writeFileSync(join(folder.path, "package.json"), '{"name":"newcomer","private":true,"type":"module"}');
  installDependencies(folder.path);
  const install = ["install", "--offline", "--no-audit", "--no-fund", tarball];
  await run("npm", install, { cwd: folder.path, env });
  const program = readFileSync(join(ROOT, "test/support/newcomer-program.ts"), "utf8")
    .replace('"../../src/edges/acp/index.ts"', '"holdfast/acp"')
    .replace('"../../src/transfer/messages/index.ts"', '"holdfast/messages"')
    .replace('"../../src/store/index.ts"', '"holdfast/store"')
    .replace('"../../src/index.ts"', '"holdfast"');
  writeFileSync(join(folder.path, "program.ts"), program);
  const compilerOptions = {
    strict: true,
    noEmit: true,
    target: "es2023",
    lib: ["es2023", "esnext.disposable"],
    module: "nodenext",
    skipLibCheck: false,
    types: ["node"],
    typeRoots: [join(ROOT, "node_modules/@types")],
  };
  const files = ["program.ts"];
  writeFileSync(join(folder.path, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
}, 300_000);

test("a strict compiler has nothing to say, about a program with parts of its own", async () => {
  const { stdout } = await run("tsc", ["-p", "."], { cwd: folder.path, env }).catch(
    (error: unknown) => error as { stdout: string },
  );
  expect(stdout).toBe("");
});

test("the program runs", async () => {
  const node = async (file: string): Promise<string> =>
    (await run(process.execPath, ["--disable-warning=ExperimentalWarning", file], { cwd: folder.path, env }))
      .stdout;
  expect(jsonLines(await node("program.ts"))).toEqual([
    {
      outcome: "completed",
      text: "hello",
      anthropic: 4,
      aiSdk: 5,
      openai: 0,
      more: true,
      once: true,
      ended: 1,
      refused: true,
      appends: 0,
    },
  ]);
});

test("the command writes and reads", async () => {
  const holdfast = async (...args: readonly string[]): Promise<string> =>
    (await run(join(folder.path, "node_modules/.bin/holdfast"), args, { cwd: folder.path, env })).stdout;
  const manifest = JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8")) as { version: string };
  expect((await holdfast("--version")).trim()).toBe(manifest.version);
  await holdfast("new", "--title", "Fix the tests");
  const listed = jsonLines(await holdfast("ls", "--json"));
  expect(listed.map(({ title }) => title)).toContain("Fix the tests");
  const [first] = listed;
  const end = String(first?.["conversation"]).slice(-8);
  expect(await holdfast("show", end)).toContain("Fix the tests");
});

test("a model whose package is not there says what to install, and nothing is begun", async () => {
  const command = join(folder.path, "node_modules/.bin/holdfast");
  const args = ["chat", "later", "-p", "hello", "--model", "anthropic/claude-sonnet-5-5"];
  const key = { ANTHROPIC_API_KEY: "dummy" };
  const ran = await run(command, args, { cwd: folder.path, env: { ...env, ...key } }).catch(
    (error: unknown) => error as { code: number; stdout: string; stderr: string },
  );
  expect(ran).toMatchObject({ code: 2, stdout: "" });
  expect(ran.stderr).toContain("npm install @ai-sdk/anthropic zod");
  const gone = await run(command, ["show", "later"], { cwd: folder.path, env }).catch(
    (error: unknown) => error as { code: number },
  );
  expect(gone).toMatchObject({ code: 3 });
});

test("its guides and reference come along, and its entry reaches no source outside", () => {
  const home = join(folder.path, "node_modules/holdfast");
  for (const page of [
    "docs/reference/api/README.md",
    "docs/reference/api/holdfast.md",
    "docs/how-to/build/side-effects.md",
    "docs/how-to/integrate/messages.md",
    "README.md",
  ])
    expect(readFileSync(join(home, page), "utf8")).not.toBe("");
  expect(dirname(home)).toBe(join(folder.path, "node_modules"));
  const { dependencies = {} } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as {
    dependencies?: { readonly [name: string]: string };
  };
  const installed = readdirSync(join(folder.path, "node_modules")).filter((name) => !name.startsWith("."));
  const names = ["holdfast", ...Object.keys(dependencies)].map((name) => name.split("/")[0]);
  expect(new Set(installed)).toEqual(new Set(names));
});
