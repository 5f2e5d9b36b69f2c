import { appendFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { claudeStore } from "#vendors/claude/claude-store";
import { lines, said } from "./claude-lines.ts";
import { fixture, ID } from "../homes.ts";
import { ClaudeHome } from "./claude-home.ts";

const claude = new ClaudeHome();

describe("a stamp", () => {
  test("stays while the transcript does, changes with it and goes with it", async () => {
    expect(await claude.store.stamp(ID)).toBeNull();
    const path = claude.put(lines(said("1", null, "one")));
    const before = await claude.store.stamp(ID);
    expect(await claude.store.stamp(ID)).toBe(before);
    appendFileSync(path, lines(said("2", "1", "two")));
    const after = await claude.store.stamp(ID);
    expect(after).not.toBe(before);
    // Another folder has a newer one by now, and the one known is gone.
    claude.home[Symbol.dispose]();
    expect(await claude.store.stamp(ID)).toBeNull();
  });
});

describe("a list", () => {
  const other = (n: number): string => ID.replace("a", `${n}`);

  test("is newest first and tells folder and title", async () => {
    const old = claude.put(fixture("claude/turns.jsonl"), other(1));
    utimesSync(old, 1, 1);
    claude.put(lines(said("1", null, "a first prompt", { cwd: "/home/user/project" })), other(2));
    expect(await claude.store.list()).toMatchObject([
      { id: other(2), cwd: "/home/user/project", title: "a first prompt" },
      {
        id: other(1),
        cwd: "/home/user/project",
        title: "A fake title",
        updatedAt: "1970-01-01T00:00:01.000Z",
      },
    ]);
  });

  test("prefers the title a person gave, and the folder the transcript is kept under", async () => {
    const wandered = said("1", null, "one", { cwd: "/elsewhere" });
    const back = said("2", "1", "two", { cwd: "/home/user/project" });
    const titles = [
      { type: "custom-title", customTitle: "Mine" },
      { type: "ai-title", aiTitle: "Made up" },
    ];
    claude.put(lines(wandered, back, ...titles));
    expect(await claude.store.list()).toMatchObject([{ cwd: "/home/user/project", title: "Mine" }]);
  });

  test("passes over what is no session", async () => {
    claude.home.put("projects/-home-user-project/notes.jsonl", "{}\n");
    claude.home.put("projects/stray.txt", "x");
    claude.put("");
    claude.put(lines(said("1", null, "to a sub-agent", { isSidechain: true, cwd: "/x" })), other(3));
    claude.home.put(join("projects", "-x", `${other(4)}.jsonl`, "a-folder"), "x");
    expect(await claude.store.list()).toEqual([]);
  });

  test("is empty where Claude never ran", async () => {
    expect(await claudeStore({ configDir: join(claude.home.dir, "none") }).list()).toEqual([]);
  });
});
