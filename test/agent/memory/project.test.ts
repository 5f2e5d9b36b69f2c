/** Goal: a project is known again when it was moved, and two projects are not taken for one. */
import { execFileSync } from "node:child_process";
import { mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { decodeEntry } from "#log/codec";
import { Memory } from "#agent/memory/memory";
import { findProject, parseProjectId, projectIds, projectNow, remoteAddress } from "#agent/memory/project";
import { inMemoryBacking } from "#stores/in-memory/index";
import { tempDir } from "../../support/temp-dir.ts";
import { memoryAgent, requestAt } from "./memory-rig.ts";

function git(folder: string, ...args: readonly string[]): string {
  const who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"];
  return execFileSync("git", [...who, ...args], { cwd: folder, encoding: "utf8", stdio: "pipe" });
}
function repository(path: string, remote: string | null): string {
  mkdirSync(path, { recursive: true });
  git(path, "init", "-q");
  git(path, "commit", "-q", "--allow-empty", "-m", `first of ${path}`);
  if (remote !== null) git(path, "remote", "add", "origin", remote);
  return path;
}

test("a remote is the same address over every protocol, without who asks for it", () => {
  const same = [
    "https://example.org/team/app.git",
    "https://me:hunter2@Example.org/team/app",
    "http://example.org:80/team/app/",
    "ssh://git@example.org/team/app.git",
    "ssh://git@example.org:22/team/app.git",
    "git@example.org:team/app.git",
    "example.org:team/app",
    "git://example.org/team/app.git?x=1#y",
  ];
  expect(new Set(same.map(remoteAddress))).toEqual(new Set(["example.org/team/app"]));
  expect(remoteAddress("https://example.org:8443/team/app")).toBe("example.org:8443/team/app");
  expect(remoteAddress("/srv/git/app.git")).toBe(remoteAddress("file:///srv/git/app.git"));
  for (const none of ["../app", "", "https://", "C:\\app", "https://example.org/"])
    expect(remoteAddress(none)).toBe(null);
});

test("what an id file may hold is one line", () => {
  expect(parseProjectId(" 团队/应用 1 \n")).toBe("团队/应用 1");
  for (const wrong of ["", "\n", "a\nb", "a\u001b[2J", "x".repeat(201)])
    expect(() => parseProjectId(wrong)).toThrow(expect.objectContaining({ code: "invalid_request" }));
});

test("a recorded project is kept while its folder is known by it, or was moved to where nothing is remembered", () => {
  const found = { root: "/new", declaredId: null, remote: null, firstCommit: null };
  const recorded = { id: "path:/old", root: "/old", isThere: false };
  const none = (): boolean => false;
  expect(projectNow(recorded, found, none)).toEqual({ id: "path:/old", root: "/new" });
  expect(projectNow({ ...recorded, isThere: true }, found, none)?.id).toBe("path:/new");
  expect(projectNow(recorded, found, (id) => id === "path:/new")?.id).toBe("path:/new");
  expect(projectNow(recorded, { ...found, declaredId: "app" }, none)?.id).toBe("app");
  expect(projectNow({ ...recorded, root: "/new", isThere: true }, found, none)?.id).toBe("path:/old");
  expect(projectNow({ id: "git:a/b", root: "/new", isThere: true }, found, none)?.id).toBe("path:/new");
  expect(projectNow(recorded, null, none)).toEqual({ id: "path:/old", root: "/old" });
  expect(projectNow(null, null, none)).toBe(null);
  const remote = { ...found, remote: "git@example.org:a/b", firstCommit: "c1" };
  expect(projectNow({ id: "commit:c1", isThere: true }, remote, none)).toEqual({
    id: "commit:c1",
    root: "/new",
    remote: "example.org/a/b",
  });
  expect(projectNow(null, remote, (id) => id === "commit:c1")?.id).toBe("commit:c1");
});

test("the nearest id file counts, then the repository of a folder or a working tree, then the folder", async () => {
  using dir = tempDir();
  const app = repository(join(dir.path, "app"), "https://u:p@example.org/team/app.git");
  mkdirSync(join(app, "src", "deep"), { recursive: true });
  const ids = async (path: string): Promise<readonly string[]> => {
    const found = await findProject(path);
    return found === null ? [] : projectIds(found);
  };
  expect((await ids(join(app, "src", "deep")))[0]).toBe("git:example.org/team/app");
  git(app, "worktree", "add", "-q", join(dir.path, "tree"));
  expect((await ids(join(dir.path, "tree")))[0]).toBe("git:example.org/team/app");
  const alone = repository(join(dir.path, "alone"), null);
  const first = git(alone, "rev-parse", "HEAD").trim();
  git(alone, "commit", "-q", "--allow-empty", "-m", "second");
  expect((await ids(alone))[0]).toBe(`commit:${first}`);
  const plain = join(dir.path, "plain");
  mkdirSync(plain);
  expect((await findProject(plain))?.declaredId).toBe(null);
  expect((await ids(plain)).length).toBe(1);
  mkdirSync(join(app, ".holdfast"));
  writeFileSync(join(app, ".holdfast", "project"), "app of the team\n");
  expect(await ids(join(app, "src"))).toEqual(["app of the team"]);
  mkdirSync(join(plain, ".holdfast"));
  symlinkSync(join(app, ".holdfast", "project"), join(plain, ".holdfast", "project"));
  expect((await ids(plain))[0]).toMatch(/^path:/);
  expect(await findProject(join(dir.path, "nowhere"))).toBe(null);
});

const FACT = "The heron is blue";

test.each([
  [
    "an id file",
    (path: string): void => {
      mkdirSync(join(path, ".holdfast"), { recursive: true });
      writeFileSync(join(path, ".holdfast", "project"), "app");
    },
  ],
  [
    "a repository with a remote",
    (path: string): void => void repository(path, "git@example.org:team/app.git"),
  ],
  ["a repository without one", (path: string): void => void repository(path, null)],
] as const)("%s: a new conversation in the moved folder has the memory of the old one", async (_, make) => {
  using dir = tempDir();
  const [old, now] = [join(dir.path, "old"), join(dir.path, "now")];
  make(old);
  const at = memoryAgent([
    { calls: [{ id: "c", name: "remember", input: { title: "Heron", content: FACT, scope: "project" } }] },
  ]);
  await at.agent.send(await at.holdfast.create({ cwd: old }), "remember this");
  renameSync(old, now);
  await at.agent.send(await at.holdfast.create({ cwd: now }), "hello");
  expect(requestAt(at).system).toContain(FACT);
  const other = join(dir.path, "other");
  repository(other, null);
  await at.agent.send(await at.holdfast.create({ cwd: other }), "hello");
  expect(requestAt(at).system).not.toContain(FACT);
});

test("a plain folder that was moved is known by what the conversation recorded, in another process and in a fork", async () => {
  using dir = tempDir();
  const [old, now] = [join(dir.path, "old"), join(dir.path, "now")];
  mkdirSync(old);
  const backing = inMemoryBacking();
  const at = memoryAgent(
    [{ calls: [{ id: "c", name: "remember", input: { title: "Heron", content: FACT } }] }],
    { backing },
  );
  const chat = await at.holdfast.create({ cwd: old });
  await at.agent.send(chat, "remember this");
  await at.agent.send(chat, "again");
  const recorded = (await Array.fromAsync(chat.log({ types: ["cwd"] }), (stored) => decodeEntry(stored))).map(
    (entry) => (entry.type === "cwd" ? entry.project?.root : null),
  );
  expect(recorded.length).toBe(1); // once, not with every turn
  renameSync(old, now);
  const later = memoryAgent([], { backing });
  for (const moved of [await later.holdfast.conversation(chat.id), await chat.fork()]) {
    const owned = await later.holdfast.conversation(moved.id);
    await owned.append({ type: "cwd", cwd: now });
    await later.agent.send(owned, "hello");
    expect(requestAt(later).system).toContain(FACT);
    expect((await later.agent.restore(owned)).memory?.project).toEqual({
      id: `path:${recorded[0]}`,
      root: recorded[0]?.replace(/old$/, "now"),
    });
  }
  rmSync(now, { recursive: true });
  await later.agent.send(chat.id, "still?");
  expect(requestAt(later).system).toContain(FACT);
});

test("what was remembered before there was a remote is still the project's, and a broken id file is told before anything is sent", async () => {
  using dir = tempDir();
  const app = repository(join(dir.path, "app"), null);
  const at = memoryAgent([]);
  const before = await at.memory.projectOf(app);
  await at.memory.save({ project: before?.id ?? "" }, { content: FACT });
  git(app, "remote", "add", "origin", "git@example.org:team/app.git");
  expect(await new Memory(at.holdfast).projectOf(app)).toEqual({ ...before, remote: "example.org/team/app" });
  mkdirSync(join(app, ".holdfast"));
  writeFileSync(join(app, ".holdfast", "project"), "two\nlines");
  const chat = await at.holdfast.create({ cwd: app });
  await expect(at.agent.send(chat, "hello")).rejects.toMatchObject({ code: "invalid_request" });
  expect(at.model.asked).toEqual([]);
  expect((await chat.context()).messages).toEqual([]);
});
