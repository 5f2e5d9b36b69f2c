import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { knownFolder, projectFolder, projectName } from "#vendors/claude/claude-store";
import { aHome, ID } from "../homes.ts";

const BASE = "/tmp/project/";

describe("the name of a project's folder", () => {
  // As Claude Code 2.1.312 named them on Linux.
  test.each([
    ["composed letters", `${BASE}caf\u00e9 x`, "-tmp-project-caf--x"],
    ["decomposed letters", `${BASE}cafe\u0301 y`, "-tmp-project-cafe--y"],
    ["dots, underscores and blanks", `${BASE}a.b_c d-e`, "-tmp-project-a-b-c-d-e"],
    ["a character of two units", `${BASE}p\u{1F600}q`, "-tmp-project-p--q"],
    ["another script", `${BASE}日本`, "-tmp-project---"],
    ["200 characters", BASE + "e".repeat(187), `-tmp-project-${"e".repeat(187)}`],
    ["201 characters", BASE + "f".repeat(188), `-tmp-project-${"f".repeat(187)}-r2cnod`],
    [
      "a long path",
      `${BASE}${"l".repeat(120)}/${"m".repeat(120)}`,
      `-tmp-project-${"l".repeat(120)}-${"m".repeat(66)}-ayqcge`,
    ],
    [
      "a long path in other letters",
      `${BASE}${"\u{1F600}\u00e9".repeat(40)}/${"z".repeat(150)}`,
      `-tmp-project-${"-".repeat(121)}${"z".repeat(66)}-2i3fm6`,
    ],
  ])("is Claude's own for %s", (_case, path, name) => {
    expect(projectName(path)).toBe(name);
  });
});

describe("a working folder", () => {
  test("is the one a link leads to, and the path itself when it is gone", async () => {
    using home = aHome();
    mkdirSync(join(home.dir, "real"));
    symlinkSync(join(home.dir, "real"), join(home.dir, "link"));
    expect(await knownFolder(join(home.dir, "link"), "linux")).toBe(join(home.dir, "real"));
    expect(await knownFolder(join(home.dir, "gone"), "linux")).toBe(join(home.dir, "gone"));
  });

  test("is spelt in composed letters on macOS only", async () => {
    expect(await knownFolder("/none/cafe\u0301", "darwin")).toBe("/none/caf\u00e9");
    expect(await knownFolder("/none/cafe\u0301", "linux")).toBe("/none/cafe\u0301");
  });

  test("with a long path may have a folder with another hash, if its transcripts name the path", async () => {
    using home = aHome();
    const long = `/home/user/${"l".repeat(240)}`;
    const start = projectName(long).slice(0, 201);
    const record = (cwd: string): string => `${JSON.stringify({ type: "user", uuid: "1", cwd })}\n`;
    home.put(`${start}other/${ID}.jsonl`, record(`${long}x`));
    expect(await projectFolder(home.dir, long)).toBe(join(home.dir, projectName(long)));
    home.put(`${start}mine/${ID}.jsonl`, record(long));
    expect(await projectFolder(home.dir, long)).toBe(join(home.dir, `${start}mine`));
  });
});
