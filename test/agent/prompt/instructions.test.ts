import { execFileSync } from "node:child_process";
import { mkdirSync, realpathSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readInstructions } from "#agent/prompt/instructions";
import { tempDir } from "../../support/temp-dir.ts";

function aProject(): Disposable & { readonly path: string } {
  const dir = tempDir();
  const path = join(realpathSync(dir.path), "project");
  mkdirSync(join(path, ".git"), { recursive: true });
  writeFileSync(join(path, ".git", "HEAD"), "ref: refs/heads/main\n");
  mkdirSync(join(path, "a", "b"), { recursive: true });
  return { path, [Symbol.dispose]: () => dir[Symbol.dispose]() };
}

test("instructions are read from the project's root down to the folder, and no others", async () => {
  using project = aProject();
  const [root, inner] = [join(project.path, "AGENTS.md"), join(project.path, "a", "b", "AGENTS.md")];
  writeFileSync(join(project.path, "..", "AGENTS.md"), "outside of the project");
  writeFileSync(root, "root\n");
  writeFileSync(inner, "inner é");
  writeFileSync(join(project.path, "a", "AGENTS.md"), "  \n");
  expect(await readInstructions(join(project.path, "a", "b"))).toEqual({
    root: project.path,
    files: [
      { path: root, text: "root\n" },
      { path: inner, text: "inner é" },
    ],
    issues: [],
  });
  symlinkSync(join(project.path, "a"), join(project.path, "..", "link"));
  expect((await readInstructions(join(project.path, "..", "link", "b"))).files.length).toBe(2);
});

test("without a repository the folder itself is the root; a folder that is gone is reported", async () => {
  using dir = tempDir();
  writeFileSync(join(dir.path, "AGENTS.md"), "here");
  mkdirSync(join(dir.path, "x"));
  mkdirSync(join(dir.path, ".git")); // an empty one is no repository
  expect((await readInstructions(dir.path)).files.map(({ text }) => text)).toEqual(["here"]);
  expect((await readInstructions(join(dir.path, "x"))).files).toEqual([]);
  const gone = await readInstructions(join(dir.path, "gone"));
  expect(gone).toMatchObject({ files: [], issues: [{ problem: "unreadable" }] });
});

test("a file of 10 MB is cut, says so, and is reported; never inside a character", async () => {
  using project = aProject();
  writeFileSync(join(project.path, "AGENTS.md"), `x${"é".repeat(5_000_000)}`);
  const { files, issues } = await readInstructions(project.path);
  const [file] = files;
  expect(issues).toMatchObject([{ problem: "cut" }]);
  expect(file?.text.startsWith("xéé")).toBe(true);
  expect(file?.text).toMatch(/\n\[.*\d+ bytes.*\]$/);
  expect(file?.text).not.toContain("\ufffd");
  expect(Buffer.byteLength(file?.text ?? "")).toBeLessThan(66_000);
});

test("all of them together are bounded, and what did not fit is named", async () => {
  using project = aProject();
  let at = project.path;
  for (let depth = 0; depth < 7; depth++) {
    writeFileSync(join(at, "AGENTS.md"), `${depth} ${"y".repeat(60_000)}`);
    at = join(at, "d");
    mkdirSync(at);
  }
  const { files, issues } = await readInstructions(at);
  expect(files.reduce((sum, { text }) => sum + text.length, 0)).toBeLessThan(263_000);
  expect(files.length).toBe(5);
  expect(issues.map(({ problem }) => problem)).toEqual(["cut", "left_out", "left_out"]);
});

test("what is binary, no file, a loop, dangling or a link out of the project is reported and not read", async () => {
  using project = aProject();
  const [a, b] = [join(project.path, "a"), join(project.path, "a", "b")];
  const [c, d] = [join(b, "c"), join(b, "c", "d")];
  mkdirSync(d, { recursive: true });
  writeFileSync(join(project.path, "AGENTS.md"), Buffer.from([0xff, 0xfe, 0x00, 0x41]));
  mkdirSync(join(a, "AGENTS.md"));
  symlinkSync("AGENTS.md", join(b, "AGENTS.md"));
  symlinkSync("nowhere", join(c, "AGENTS.md"));
  writeFileSync(join(project.path, "..", "secret"), "a key");
  symlinkSync(join(project.path, "..", "secret"), join(d, "AGENTS.md"));
  const { files, issues } = await readInstructions(d);
  expect(files).toEqual([]);
  expect(issues.map(({ problem }) => problem)).toEqual([
    "binary",
    "unreadable",
    "unreadable",
    "unreadable",
    "outside",
  ]);
});

test("a pipe is not waited for, and a link to a file that was read is not read again", async () => {
  using project = aProject();
  execFileSync("/bin/sh", ["-c", "mkfifo AGENTS.md"], { cwd: project.path });
  expect(await readInstructions(project.path)).toMatchObject({
    files: [],
    issues: [{ problem: "unreadable" }],
  });
  writeFileSync(join(project.path, "a", "AGENTS.md"), "once");
  symlinkSync("../AGENTS.md", join(project.path, "a", "b", "AGENTS.md"));
  const { files, issues } = await readInstructions(join(project.path, "a", "b"));
  expect([files.map(({ text }) => text), issues.length]).toEqual([["once"], 1]);
});

test.each([
  ["a NUL in it", [0x41, 0x00, 0x42]],
  ["bytes that are no UTF-8", [0x41, 0xff, 0xfe]],
])("a file with %s is binary", async (_, bytes) => {
  using project = aProject();
  writeFileSync(join(project.path, "AGENTS.md"), Buffer.from(bytes));
  expect(await readInstructions(project.path)).toMatchObject({ files: [], issues: [{ problem: "binary" }] });
});
