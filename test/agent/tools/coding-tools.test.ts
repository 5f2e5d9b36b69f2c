/** The shipped tools on real files, and the examples. */
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import {
  chmod,
  mkdir,
  readdir,
  readFile,
  readlink,
  stat,
  symlink,
  truncate,
  writeFile,
} from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "vitest";
import { codeExecution } from "#agent/tools/example-tools";
import { codingTools } from "#agent/tools/coding-tools";
import { composeEmail } from "#agent/tools/example-tools";
import { searchTool } from "#agent/tools/search-tool";
import { toolDefinition } from "#agent/tools/tool-schema";
import { tempDir } from "../../support/temp-dir.ts";
import { aCall, textOf, toolNamed, use } from "./use-tool.ts";

test("every tool can be told to a model, and those that only look declare no effect", () => {
  const tools = codingTools({ cwd: "/" });
  expect(tools.map((tool) => toolDefinition(tool).name)).toEqual([
    "read",
    "write",
    "edit",
    "search",
    "shell",
  ]);
  expect(tools.filter(({ effect }) => effect === "none").map(({ name }) => name)).toEqual(["read", "search"]);
});

test("read gives text, parts of it, images as blobs, and says what cannot be read", async () => {
  using temp = tempDir();
  const read = toolNamed("read", temp.path);
  await writeFile(join(temp.path, "a.txt"), "one\ntwo\nthree 😀\n");
  expect(textOf(await use(read, { path: "a.txt" }))).toBe("one\ntwo\nthree 😀\n");
  expect(textOf(await use(read, { path: join(temp.path, "a.txt"), line: 2, lines: 1 }))).toMatch(
    /2 to 2 of 4\]\ntwo$/,
  );
  const png = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
    "base64",
  );
  await writeFile(join(temp.path, "a.png"), png);
  const image = await use(read, { path: "a.png" });
  expect(image).toMatchObject({
    content: [{ type: "image", mediaType: "image/png", blob: expect.any(String) }],
  });
  // What only begins like an image would make every request after it fail.
  const begins = [png.subarray(0, 11), png.subarray(0, 40), Buffer.from([0xff, 0xd8, 0xff, 0xe0]), "GIF89a"];
  for (const bytes of [...begins, "RIFF\xff\xff\0\0WEBP"]) {
    await writeFile(join(temp.path, "half"), bytes, "latin1");
    expect(textOf(await use(read, { path: "half" }))).toContain("image/");
  }
  await writeFile(join(temp.path, "big.txt"), "x".repeat(100_000));
  expect(textOf(await use(read, { path: "big.txt" }))).toContain("blob");
  await writeFile(join(temp.path, "bin"), Buffer.from([1, 0, 2]));
  await writeFile(join(temp.path, "latin"), Buffer.from([0x66, 0xe9]));
  execFileSync("/bin/sh", ["-c", "mkfifo pipe"], { cwd: temp.path });
  await writeFile(join(temp.path, "huge"), "");
  await truncate(join(temp.path, "huge"), 1_000_000_000);
  for (const path of ["bin", "latin", "pipe", "huge", ".", "missing", "a.txt/x", "a\0b"])
    expect(await use(read, { path })).toMatchObject({ state: "failed" });
});

test("write replaces a file whole, keeps its mode and the link to it, and makes folders", async () => {
  using temp = tempDir();
  const write = toolNamed("write", temp.path);
  const path = join(temp.path, "new/deep/a.sh");
  expect(await use(write, { path: "new/deep/a.sh", content: "one" })).toMatchObject({ state: "done" });
  await chmod(path, 0o750);
  await symlink("new/deep/a.sh", join(temp.path, "link"));
  await use(write, { path: "link", content: "two" });
  expect([await readFile(path, "utf8"), (await stat(path)).mode & 0o777]).toEqual(["two", 0o750]);
  expect(await readlink(join(temp.path, "link"))).toBe("new/deep/a.sh");
  expect(await use(write, { path: "new", content: "x" })).toMatchObject({ state: "failed" });
  expect(await use(write, { path: "new/deep/a.sh/b", content: "x" })).toMatchObject({ state: "failed" });
  expect(await readdir(join(temp.path, "new/deep"))).toEqual(["a.sh"]);
});

test("edit changes exactly one place, letter for letter, or nothing", async () => {
  using temp = tempDir();
  const edit = toolNamed("edit", temp.path);
  const path = join(temp.path, "a.txt");
  await writeFile(path, "cost: $1\r\ncost: $2\r\naaa\n");
  expect(await use(edit, { path: "a.txt", old: "cost: $1", new: "cost: $& $$" })).toMatchObject({
    state: "done",
  });
  const now = "cost: $& $$\r\ncost: $2\r\naaa\n";
  for (const [old, by] of [
    ["cost", "x"],
    ["aa", "b"],
    ["not there", "x"],
    ["", "x"],
    ["aaa", "aaa"],
    ["cost: $2\n", "x"],
  ] as const)
    expect(await use(edit, { path: "a.txt", old, new: by })).toMatchObject({ state: "failed" });
  expect(await readFile(path, "utf8")).toBe(now);
  expect(textOf(await use(edit, { path: "a.txt", old: "cost", new: "x" }))).toContain("lines 1 and 2");
});

test("search finds lines in order, leaves out what is no source, and is bounded", async () => {
  using temp = tempDir();
  const search = toolNamed("search", temp.path);
  for (const folder of ["src", ".git", "node_modules/x"]) {
    await mkdir(join(temp.path, folder), { recursive: true });
    await writeFile(join(temp.path, folder, "a.ts"), "first\nconst needle = 1;\n");
  }
  await writeFile(join(temp.path, "b.bin"), Buffer.from("needle\0"));
  await writeFile(
    join(temp.path, "long.js"),
    `${"x".repeat(1_000_000)}needle\nneedle ${"y".repeat(5_000)}\n`,
  );
  await symlink("..", join(temp.path, "src/up"));
  const found = textOf(await use(search, { pattern: "need.e" }));
  expect(found.split("\n").map((line) => line.slice(0, 24))).toEqual([
    "long.js:2: needle yyyyyy",
    "src/a.ts:2: const needle",
    "[Skipped 1 files: binary",
  ]);
  expect(found.length).toBeLessThan(600);
  expect(textOf(await use(search, { pattern: "needle", path: "src/a.ts" }))).toBe(
    "src/a.ts:2: const needle = 1;",
  );
  expect(textOf(await use(search, { pattern: "nowhere to be found" }))).toMatch(
    /^\[No matches in \d+ files\]/,
  );
  for (const input of [{ pattern: "(" }, { pattern: "x", path: "missing" }])
    expect(await use(search, input)).toMatchObject({ state: "failed" });
  await writeFile(join(temp.path, "many"), "needle\n".repeat(1_000));
  const many = textOf(await use(search, { pattern: "needle" })).split("\n");
  expect(many.filter((line) => !line.startsWith("["))).toHaveLength(200);
});

test("a pattern that would take for ever is ended by the time limit, and what was found before stays", async () => {
  using temp = tempDir();
  await writeFile(join(temp.path, "a.txt"), "aaa!\n");
  await writeFile(join(temp.path, "b.txt"), `${"a".repeat(60)}\n`);
  const outcome = await use(searchTool(temp.path, 3_000), { pattern: "^(a+)+!$" });
  expect(outcome).toMatchObject({ state: "failed" });
  expect(textOf(outcome)).toMatch(/^a\.txt:1: aaa!\n\[Stopped/);
});

test("code runs with limits of time and memory and without the environment", async () => {
  using temp = tempDir();
  const run = codeExecution({ cwd: temp.path, timeoutMs: 150_000, memoryMb: 32 });
  expect(textOf(await use(run, { code: "console.log(Object.keys(process.env).length < 4, 6 * 7)" }))).toBe(
    "true 42\n[exit code 0]",
  );
  expect(await use(run, { code: "throw new Error('no')" })).toMatchObject({ state: "failed" });
  const greedy = "const all = []; for (;;) all.push(new Array(1e5).fill({}));";
  expect(await use(run, { code: greedy })).toMatchObject({ state: "failed" });
  const endless = codeExecution({ cwd: temp.path, timeoutMs: 500 });
  expect(textOf(await use(endless, { code: "for (;;);" }))).toContain("[stopped: ");
  expect(
    await run.dryRun?.(
      { code: "a\nb" },
      aCall(async () => undefined),
    ),
  ).toContain("2 lines");
});

test("an email is in the outbox once, and a dry run says the same without it", async () => {
  using temp = tempDir();
  const outbox = join(temp.path, "outbox.jsonl");
  const email = composeEmail({ outbox });
  const input = { to: "bob@example.org", subject: "Rent", body: "Paid." };
  const details = { type: "sentEmail", to: input.to, subject: input.subject };
  expect(
    await email.dryRun?.(
      input,
      aCall(async () => undefined),
    ),
  ).toMatchObject({ details });
  expect(existsSync(outbox)).toBe(false);
  expect([email.final, await use(email, input)]).toMatchObject([true, { state: "done", details }]);
  expect(JSON.parse(await readFile(outbox, "utf8"))).toEqual({ ...input, idempotencyKey: "effect/t1/c0" });
  const nowhere = composeEmail({ outbox: join(temp.path, "missing/outbox") });
  expect(await use(nowhere, input)).toMatchObject({ state: "failed" });
});
