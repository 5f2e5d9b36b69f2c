/** The verbs that look after conversations: filed away, pruned, listed by what they are, resumed, forked with other words. */
import { mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "#conversation/holdfast";
import { openHoldfast } from "#open";
import { assistant, result, user } from "../../../support/a-log.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { type HereOptions, holdfastHere } from "../cli-here.ts";
import { jsonLines, type Ran } from "../cli-run.ts";

const folder = tempDir();
const store = `sqlite:${join(folder.path, "store.db")}`;
const OLD = "2020-01-01T00:00:00.000Z";
let holdfast: Holdfast;

const run = (args: readonly string[], options: HereOptions = {}): Promise<Ran> =>
  holdfastHere(store, args, { ...options, env: { HOME: folder.path, ...options.env } });
async function rows(...args: readonly string[]): Promise<readonly { readonly [name: string]: unknown }[]> {
  const ran = await run([...args, "--json"]);
  expect([ran.status, ran.err]).toEqual([0, ""]);
  const lines = jsonLines(ran.out);
  expect(lines.every((line) => line["schemaVersion"] === 1)).toBe(true);
  return lines;
}
const listed = async (...args: readonly string[]): Promise<readonly string[]> =>
  (await rows("ls", ...args)).map(({ conversation }) => String(conversation)).toSorted();

beforeAll(async () => {
  holdfast = await openHoldfast({ store });
  const link = { type: "upstream_link", upstream: "s-1", agent: "claude", reason: "first" } as const;
  await holdfast.create({
    id: "plain",
    cwd: "/repo/a",
    entries: [user("Hello", "p1"), assistant("Hi", "p2")],
  });
  const rolled = await holdfast.create({
    id: "rolled",
    cwd: "/repo/a b",
    entries: [link, { ...link, upstream: "s-2", reason: "expired" }],
  });
  await rolled.append([user("Go", "r1")]);
  await rolled.label("r1", "here");
  const open = await holdfast.create({
    id: "open",
    cwd: "/repos",
    entries: [{ type: "turn_start", turn: "t" }],
  });
  await open.append([user("x")]);
  const conversation = { type: "conversation", time: OLD } as const;
  await holdfast.createFrom("old", [conversation, { type: "title", title: "Long ago", time: OLD }]);
  const pinned = { type: "metadata", metadata: { pinned: true }, time: OLD } as const;
  await holdfast.createFrom("old-pinned", [conversation, pinned]);
  await holdfast.createFrom("old-open", [conversation, { type: "turn_start", turn: "t", time: OLD }]);
});

afterAll(async () => {
  await holdfast.close();
  folder[Symbol.dispose]();
});

test("lists are of those that are meant", async () => {
  const all = ["old", "old-open", "old-pinned", "open", "plain", "rolled"];
  expect(await listed()).toEqual(all);
  expect(await listed("--repo", "/repo")).toEqual(["plain", "rolled"]);
  expect(await listed("--repo", "/repo/a/")).toEqual(["plain"]);
  expect(await listed("--repo", "/home")).toEqual([]);
  expect(await listed("--cwd", "/repo/a")).toEqual(["plain"]);
  expect(await listed("--status", "rolled")).toEqual(["rolled"]);
  expect(await listed("--status", "unclean")).toEqual(["old-open", "open"]);
  expect(await listed("--status", "live")).toEqual([]);
  expect(await listed("--label", "here")).toEqual(["rolled"]);
  expect(await listed("--label", "r1")).toEqual([]);
  expect(await listed("--since", "14d")).toEqual(["open", "plain", "rolled"]);
  expect(await listed("--since", "2019-12-31")).toEqual(all);
  for (const wrong of [
    ["--since", "soon"],
    ["--since", "1"],
    ["--status", "odd"],
  ])
    expect((await run(["ls", ...wrong])).status).toBe(2);
});

test("an archived conversation is left out of lists and nothing else; the log says so", async () => {
  expect(await rows("archive", "plain", "rolled")).toMatchObject([
    { conversation: "plain", archived: true, changed: true },
    { conversation: "rolled", archived: true, changed: true },
  ]);
  expect(await rows("archive", "plain")).toMatchObject([{ changed: false }]);
  expect(await listed("--repo", "/repo")).toEqual([]);
  expect(await listed("--archived")).toEqual(["plain", "rolled"]);
  expect(await listed("--all", "--repo", "/repo")).toEqual(["plain", "rolled"]);
  expect((await run(["show", "plain"])).out).toContain("Hello");
  expect(await rows("unarchive", "plain", "rolled")).toMatchObject([{ archived: false, changed: true }, {}]);
  expect(await listed("--repo", "/repo")).toEqual(["plain", "rolled"]);
  expect((await run(["archive", "plain", "none"])).status).toBe(3);
  expect(await listed("--archived")).toEqual([]);
});

test("only what is old, ended and not pinned is pruned, and only where it is said twice", async () => {
  expect((await run(["prune"])).status).toBe(2);
  expect((await run(["prune", "--older-than", "90d", "--yes", "--dry-run"])).status).toBe(2);
  const would = [{ conversation: "old", title: "Long ago", entries: 2, erased: false }];
  expect(await rows("prune", "--older-than", "90d", "--dry-run")).toMatchObject(would);
  expect((await run(["prune", "--older-than", "90d"])).status).toBe(2);
  expect(await rows("prune", "--older-than", "90d", "--archived", "--dry-run")).toEqual([]);
  expect(await listed("old")).toEqual(["old", "old-open", "old-pinned"]);
  expect(await rows("prune", "--older-than", "90d", "--yes")).toMatchObject([{ ...would[0], erased: true }]);
  expect(await listed("old")).toEqual(["old-open", "old-pinned"]);
});

test("a tree shows what is asked for, each entry under the nearest one above it", async () => {
  await holdfast.create({
    id: "tree",
    entries: [
      user("one", "t1"),
      { type: "model_change", id: "t2", model: "a/b" },
      assistant("calls", "t3", "c"),
      result("c", "done", "t4"),
      user("two", "t5"),
    ],
  });
  await (await holdfast.conversation("tree")).label("t4", "mark");
  const ids = async (filter: string): Promise<readonly unknown[]> => {
    const [tree] = await rows("tree", "tree", "--filter", filter);
    const nodes = tree?.["nodes"] as readonly { readonly id: string; readonly parentId: string | null }[];
    return nodes.slice(1).map(({ id, parentId }) => [id, nodes.findIndex((node) => node.id === parentId)]);
  };
  expect(await ids("all")).toEqual([
    ["t1", 0],
    ["t2", 1],
    ["t3", 2],
    ["t4", 3],
    ["t5", 4],
  ]);
  expect(await ids("default")).toEqual([
    ["t1", 0],
    ["t3", 1],
    ["t4", 2],
    ["t5", 3],
  ]);
  expect(await ids("no-tools")).toEqual([
    ["t1", 0],
    ["t3", 1],
    ["t5", 2],
  ]);
  expect(await ids("user")).toEqual([
    ["t1", 0],
    ["t5", 1],
  ]);
  expect(await ids("labeled")).toEqual([["t4", 0]]);
  expect((await run(["tree", "tree", "--filter", "user"])).out).not.toContain("calls");
  expect((await run(["tree", "tree", "--filter", "odd"])).status).toBe(2);
});

test("what is shown focused is what people asked and what they were answered in the end", async () => {
  await holdfast.create({
    id: "focus",
    entries: [
      user("Do it", "f1"),
      assistant("Looking first.", "f2", "c"),
      result("c", "seen", "f3"),
      assistant("It is done.", "f4"),
      user("Thanks", "f5"),
    ],
  });
  const [focused] = await rows("show", "focus", "--focused");
  expect(focused).toMatchObject({ entries: [{ id: "f1" }, { id: "f4" }, { id: "f5" }] });
  const { out } = await run(["show", "focus", "--focused"]);
  expect([out.includes("It is done."), out.includes("look")]).toEqual([true, false]);
});

test("a fork with other words begins before the message, keeps the source and is answered when it is gone on with", async () => {
  await holdfast.create({
    id: "src",
    entries: [user("remember x=1", "e1"), assistant("Noted.", "e2"), user("recall x", "e3")],
  });
  const [made] = await rows("fork", "src@e1", "--id", "none", "--edit").catch(() => []);
  expect(made).toBeUndefined();
  const forked = await run(
    ["fork", "src@e1", "--edit", "--model", "sim", "--label", "tried", "--id", "f", "--json"],
    {
      input: "remember x=2\n",
    },
  );
  expect([forked.status, forked.err]).toEqual([0, ""]);
  const fork = await holdfast.conversation("f");
  const messages = (await fork.branch()).flatMap((one) =>
    one.type === "message" ? [one.message.content] : [],
  );
  expect(messages).toEqual([[{ type: "text", text: "remember x=2" }]]);
  expect((await fork.settings()).model).toBe("sim");
  expect(await fork.named("tried")).toEqual([(await fork.head()).leaf.id]);
  const answered = await run(["continue", "f"]);
  expect([answered.status, answered.err, answered.out.includes("x=2")]).toEqual([0, "", true]);
  expect(await (await holdfast.conversation("src")).branch()).toHaveLength(4);
  for (const [address, input] of [
    ["src@e1", "remember x=1"],
    ["src@e1", " \n"],
    ["src@e2", "other"],
  ] as const)
    expect((await run(["fork", address, "--id", "none", "--edit"], { input })).status).toBe(2);
  expect(await listed("none")).toEqual([]);
  const editor = join(folder.path, "editor.sh");
  writeFileSync(editor, `grep -q "remember x=1" "$2" && echo "remember x=3" > "$2"\n`);
  const edit = ["fork", "src@e1", "--id", "by-editor", "--edit"];
  expect((await run(edit, { typed: true, env: { VISUAL: "", EDITOR: "" } })).status).toBe(2);
  expect((await run(edit, { typed: true, env: { VISUAL: "", EDITOR: "false" } })).status).toBe(2);
  expect((await run(edit, { typed: true, env: { VISUAL: `sh ${editor} -n` } })).status).toBe(0);
  const [prompt] = (await (await holdfast.conversation("by-editor")).branch()).slice(-1);
  expect(prompt).toMatchObject({ message: { content: [{ type: "text", text: "remember x=3" }] } });
});

test("the way on is the agent's own program with the session it holds, or a chat; as words of a shell", async () => {
  expect(await rows("resume", "rolled", "--print-command")).toMatchObject([
    {
      agent: "claude",
      session: "s-2",
      command: ["claude", "--resume", "s-2"],
      line: "cd '/repo/a b' && claude --resume s-2",
    },
  ]);
  await holdfast.create({
    id: "odd",
    entries: [{ type: "upstream_link", upstream: "$(x); --y", agent: "codex", reason: "first" }],
  });
  expect((await run(["resume", "odd", "--print-command"])).out).toBe("holdfast chat odd\n");
  await holdfast.create({ id: "bell", cwd: "/a\u0007", entries: [] });
  expect((await run(["resume", "bell", "--print-command"])).status).toBe(2);
  expect((await run(["resume", "plain", "--print-command"])).out).toBe("cd /repo/a && holdfast chat plain\n");
  const gone = await run(["resume", "rolled"]);
  expect([gone.status, gone.err.includes("/repo/a b")]).toEqual([2, true]);
});

test("the agent's program is started with the session, in the conversation's folder, and says how it ended", async () => {
  const link = { type: "upstream_link", upstream: "s-9", agent: "claude", reason: "first" } as const;
  await holdfast.create({ id: "go", cwd: folder.path, entries: [link] });
  const program = join(folder.path, "bin", "claude");
  mkdirSync(join(folder.path, "bin"));
  writeFileSync(program, `#!/bin/sh\necho "$PWD $*" > started\nexit 7\n`, { mode: 0o755 });
  const path = (first: string): HereOptions => ({ env: { PATH: `${first}:${process.env["PATH"] ?? ""}` } });
  expect((await run(["resume", "go"], path(join(folder.path, "bin")))).status).toBe(7);
  expect(readFileSync(join(folder.path, "started"), "utf8")).toBe(
    `${realpathSync(folder.path)} --resume s-9\n`,
  );
  expect((await run(["resume", "go"], { env: { PATH: folder.path } })).status).toBe(2);
});

test("sessions that only an agent has are listed, and one that a conversation holds is not", async () => {
  const project = join(folder.path, ".claude", "projects", "-w");
  mkdirSync(project, { recursive: true });
  const line = (session: string, text: string): string =>
    `${JSON.stringify({ type: "user", uuid: session, parentUuid: null, sessionId: session, cwd: "/w", timestamp: OLD, message: { role: "user", content: text } })}\n`;
  const [own, held] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
  writeFileSync(join(project, `${own}.jsonl`), line(own, "Only there \u001b[2J"));
  writeFileSync(join(project, `${held}.jsonl`), line(held, "Here too"));
  await holdfast.create({
    id: "holds",
    entries: [{ type: "upstream_link", upstream: held, agent: "claude", reason: "first" }],
  });
  expect(await rows("ls", "--agents")).toMatchObject([{ agent: "claude", session: own, cwd: "/w" }]);
  const { out } = await run(["ls", "--agents"]);
  expect(out).toContain(`claude:${own}`);
  expect(out).not.toContain("\u001b");
  expect(await rows("ls", "--agents", "--repo", "/elsewhere")).toEqual([]);
});
