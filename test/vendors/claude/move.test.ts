import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { claudeStore, projectName } from "#vendors/claude/claude-store";
import type { Moved, NativeStore } from "#vendors/native-store";
import { isLogError } from "#log/errors";
import { briefMessages } from "#testing/vendors/records-cases";
import { aHome, type Home, ID } from "../homes.ts";

const RECORD = `${JSON.stringify({
  type: "user",
  uuid: "1",
  parentUuid: null,
  cwd: "/home/user/project",
  message: { content: "hi" },
})}\n`;

let home: Home;
let store: NativeStore;
let from: string;
let to: string;
let cwd: string;
beforeEach(() => {
  home = aHome();
  store = claudeStore({ configDir: home.dir });
  home.put(`projects/-home-user-project/${ID}.jsonl`, RECORD);
  home.put(`projects/-home-user-project/${ID}/tool-results/a.txt`, "out");
  home.put("projects/-home-user-project/another.jsonl", "left alone");
  cwd = join(home.dir, "new place");
  mkdirSync(cwd);
  from = join(home.dir, "projects", "-home-user-project");
  to = join(home.dir, "projects", projectName(cwd));
});
afterEach(() => home[Symbol.dispose]());

function move(id = ID): Promise<Moved> {
  return store.move?.(id, cwd) ?? Promise.reject(new Error("no move"));
}

function expectUntouched(): void {
  expect(readFileSync(join(from, `${ID}.jsonl`), "utf8")).toBe(RECORD);
  expect(readFileSync(join(from, ID, "tool-results", "a.txt"), "utf8")).toBe("out");
}

describe("a move", () => {
  test("takes the transcript and what lies beside it, and nothing else", async () => {
    expect(await move()).toBe("moved");
    expect(readdirSync(from)).toEqual(["another.jsonl"]);
    expect(readdirSync(to).toSorted()).toEqual([ID, `${ID}.jsonl`]);
    expect(readFileSync(join(to, ID, "tool-results", "a.txt"), "utf8")).toBe("out");
    expect(briefMessages(await store.read(ID))).toEqual(["user: hi"]);
  });

  test("tells Claude of the new folder and keeps every byte before that", async () => {
    await move();
    const note = JSON.stringify({ type: "relocated", sessionId: ID, relocatedCwd: cwd });
    expect(readFileSync(join(to, `${ID}.jsonl`), "utf8")).toBe(`${RECORD}\n${note}\n`);
    expect(await store.list()).toMatchObject([{ id: ID, cwd }]);
  });

  test("is done when it is done, and finds nothing where there is nothing", async () => {
    await move();
    expect(await move()).toBe("there");
    expect(await move(ID.replace("a", "b"))).toBe("missing");
  });

  test("that was cut short before the source went is finished", async () => {
    cpSync(from, join(home.dir, "kept"), { recursive: true, preserveTimestamps: true });
    await move();
    cpSync(join(home.dir, "kept"), from, { recursive: true, preserveTimestamps: true });
    expect(await move()).toBe("there");
    expect(existsSync(join(from, `${ID}.jsonl`))).toBe(false);
    expect(existsSync(join(from, ID))).toBe(false);
  });

  test("leaves an older transcript of the same id alone when it is not what was moved", async () => {
    await move();
    const other = home.put(`projects/-home-user-project/${ID}.jsonl`, "something else");
    utimesSync(other, 1, 1);
    expect(await move()).toBe("there");
    expect(readFileSync(other, "utf8")).toBe("something else");
  });
});

describe("a move that fails", () => {
  test.each([
    ["another transcript", "another"],
    ["the same one, gone on with", `${RECORD}${RECORD}`],
    ["a part of it", RECORD.slice(0, 20)],
  ])("leaves %s in the new place alone, and the source whole", async (_case, there) => {
    mkdirSync(to);
    writeFileSync(join(to, `${ID}.jsonl`), there);
    // Older than the source, so it is not taken for the session.
    utimesSync(join(to, `${ID}.jsonl`), 1, 1);
    await expect(move()).rejects.toSatisfy((error) => isLogError(error, "conversation_exists"));
    expectUntouched();
    expect(readdirSync(to)).toEqual([`${ID}.jsonl`]);
    expect(readFileSync(join(to, `${ID}.jsonl`), "utf8")).toBe(there);
  });

  test("half way takes its copies back", async () => {
    // The name has no room for a mark that it is unfinished, so this one cannot be copied.
    home.put(`projects/-home-user-project/${ID}${"x".repeat(210)}`, "too long a name");
    await expect(move()).rejects.toMatchObject({ code: "ENAMETOOLONG" });
    expectUntouched();
    expect(existsSync(to)).toBe(false);
  });

  test("because the new place is no folder leaves all as it was", async () => {
    writeFileSync(to, "a file");
    await expect(move()).rejects.toMatchObject({ code: "EEXIST" });
    expectUntouched();
  });

  test.skipIf(process.getuid?.() === 0)("because it may not write there leaves all as it was", async () => {
    mkdirSync(to, { mode: 0o500 });
    await expect(move()).rejects.toMatchObject({ code: "EACCES" });
    expectUntouched();
  });

  test.skipIf(process.getuid?.() === 0)("because the source may not go takes the copy back", async () => {
    chmodSync(from, 0o500);
    await expect(move()).rejects.toMatchObject({ code: "EACCES" });
    chmodSync(from, 0o700);
    expectUntouched();
    expect(existsSync(to)).toBe(false);
  });
});
