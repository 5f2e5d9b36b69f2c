/** What may run, what is asked for, what never runs. */
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { subjectOf } from "#agent/tools/folder-path";
import {
  answeredYes,
  decide,
  DEFAULT_POLICY,
  type PermissionPolicy,
  type PermissionRule,
  refusalText,
  type Subject,
} from "#agent/tools/permissions";
import { tempDir } from "../../support/temp-dir.ts";

const path = (name: string, inside = true, real = name): Subject => ({
  kind: "path",
  path: name,
  real,
  inside,
});
const command = (text: string): Subject => ({ kind: "command", command: text });
const policy = (...rules: readonly PermissionRule[]): PermissionPolicy => ({ rules, otherwise: "ask" });

test.each([
  ["read", path("src/a.ts"), "allow"],
  ["search", path("."), "allow"],
  ["read", path("/etc/passwd", false), "ask"],
  ["write", path("src/a.ts"), "ask"],
  ["shell", command("ls"), "ask"],
  ["anything", { kind: "none" }, "ask"],
] as const)("by default %s of %j is: %s", (tool, subject, decision) => {
  expect(decide(DEFAULT_POLICY, { tool, subject })).toBe(decision);
});

test.each<readonly [string, PermissionPolicy, string, Subject, string]>([
  [
    "a deny holds whatever else fits",
    policy({ tool: "write", pattern: "docs/a.md", decision: "allow" }, { tool: "*", decision: "deny" }),
    "write",
    path("docs/a.md"),
    "deny",
  ],
  [
    "the longer pattern decides",
    policy(
      { tool: "write", pattern: "**", decision: "ask" },
      { tool: "write", pattern: "docs/**", decision: "allow" },
    ),
    "write",
    path("docs/a.md"),
    "allow",
  ],
  [
    "a tool's own name goes before a pattern of names",
    policy({ tool: "*", pattern: "docs/a.md", decision: "allow" }, { tool: "write", decision: "ask" }),
    "write",
    path("docs/a.md"),
    "ask",
  ],
  [
    "between equals it is asked",
    policy({ tool: "write", decision: "allow" }, { tool: "write", decision: "ask" }),
    "write",
    path("a"),
    "ask",
  ],
  [
    "a star stays within a name",
    policy({ tool: "write", pattern: "docs/*", decision: "allow" }),
    "write",
    path("docs/a/b"),
    "ask",
  ],
  [
    "two stars do not",
    policy({ tool: "write", pattern: "docs/**", decision: "allow" }),
    "write",
    path("docs/a/b"),
    "allow",
  ],
  [
    "two stars and a slash may be nothing",
    policy({ tool: "read", pattern: "**/.env", decision: "deny" }),
    "read",
    path(".env"),
    "deny",
  ],
  [
    "and any folders",
    policy({ tool: "read", pattern: "**/.env", decision: "deny" }),
    "read",
    path("a/b/.env"),
    "deny",
  ],
  [
    "a dot is a dot",
    policy({ tool: "read", pattern: ".env", decision: "deny" }),
    "read",
    path("aenv"),
    "ask",
  ],
  [
    "a link does not lead around a deny",
    policy({ tool: "read", pattern: "**/.env", decision: "deny" }),
    "read",
    path("notes.txt", true, ".env"),
    "deny",
  ],
  [
    "nor into an allow",
    policy({ tool: "write", pattern: "docs/**", decision: "allow" }),
    "write",
    path("docs/link", false, "/etc/passwd"),
    "ask",
  ],
  [
    "a command by its pattern",
    policy({ tool: "shell", pattern: "git *", decision: "allow" }),
    "shell",
    command("git status -s"),
    "allow",
  ],
  [
    "a pattern without a star is that command",
    policy({ tool: "shell", pattern: "ls | wc -l", decision: "allow" }),
    "shell",
    command("ls | wc -l"),
    "allow",
  ],
  [
    "a deny fits any part of a line",
    policy({ tool: "shell", pattern: "rm *", decision: "deny" }),
    "shell",
    command("cd x && rm -rf ."),
    "deny",
  ],
  [
    "also one inside of another",
    policy({ tool: "shell", pattern: "rm *", decision: "deny" }),
    "shell",
    command("echo $(rm -rf .)"),
    "deny",
  ],
  [
    "a star alone is every command",
    policy({ tool: "shell", pattern: "*", decision: "allow" }),
    "shell",
    command("a; b"),
    "allow",
  ],
])("%s", (...[, rules, tool, subject, decision]) => {
  expect(decide(rules, { tool, subject })).toBe(decision);
});

test("no line of several commands is allowed by a pattern for one", () => {
  const git = policy({ tool: "shell", pattern: "git *", decision: "allow" });
  const joints = [";", "&&", "||", "|", "&", "\n", "`", "$(", ">", "<("];
  fc.assert(
    fc.property(fc.constantFrom(...joints), fc.string(), fc.string(), (joint, before, after) => {
      const line = command(`git ${before}${joint}${after}x`);
      expect(decide(git, { tool: "shell", subject: line })).toBe("ask");
    }),
  );
});

test("yes answers every question and lifts no deny", () => {
  expect(["allow", "ask", "deny"].map((one) => answeredYes(one as "ask"))).toEqual([
    "allow",
    "allow",
    "deny",
  ]);
});

test("a model is told apart who refused", () => {
  const texts = (["rule", "person", "nobody"] as const).map((why) => refusalText("shell", why));
  expect(new Set(texts).size).toBe(3);
  for (const text of texts) expect(text).toContain("shell was not run");
});

test("a path that leads out of the folder is outside: by dots, by its root, by links, by links to what is not there yet", async () => {
  using temp = tempDir();
  const folder = join(temp.path, "project");
  await mkdir(join(folder, "src"), { recursive: true });
  await mkdir(join(temp.path, "project-two"));
  await writeFile(join(temp.path, "secret"), "");
  await symlink("../secret", join(folder, "link"));
  await symlink("../not-yet", join(folder, "dangling"));
  await symlink("..", join(folder, "up"));
  await symlink("loop", join(folder, "loop"));
  await symlink("src", join(folder, "inner"));
  const isInside = async (name: string): Promise<unknown> => {
    const subject = await subjectOf("read", { path: name }, folder);
    return subject.kind === "path" && subject.inside;
  };
  for (const name of [
    "src/a.ts",
    "src",
    ".",
    "",
    "inner/new.ts",
    "src/../x",
    join(folder, "a"),
    "..a",
    "new/deep/x",
  ])
    expect([name, await isInside(name)]).toEqual([name, true]);
  for (const name of [
    "..",
    "../secret",
    "src/../../secret",
    "/etc/passwd",
    "link",
    "dangling",
    "up/secret",
    "up/new",
    "loop",
    "../project-two/x",
    "a\0b",
  ])
    expect([name, await isInside(name)]).toEqual([name, false]);
  expect(await subjectOf("read", { path: "inner/a" }, folder)).toMatchObject({
    path: "inner/a",
    real: "src/a",
  });
  expect(await subjectOf("search", { pattern: "x" }, folder)).toMatchObject({ path: ".", inside: true });
  expect(await subjectOf("shell", { command: "ls" }, folder)).toEqual({ kind: "command", command: "ls" });
  expect(await subjectOf("mail", { to: "bob" }, folder)).toEqual({ kind: "none" });
});
