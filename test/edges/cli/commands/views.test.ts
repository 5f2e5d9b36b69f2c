import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { COMMAND_NAMES } from "#edges/cli/commands";
import { assistant, type EntryBody, openHoldfast, user } from "#index";
import { tempDir } from "../../../support/temp-dir.ts";
import { holdfastHere } from "../cli-here.ts";
import { jsonLines, type Ran } from "../cli-run.ts";
import { spaceOf } from "#conversation/on-space";

const folder = tempDir();
afterAll(() => folder[Symbol.dispose]());
const store = `jsonl:${join(folder.path, "logs")}`;
const WIDE = 160;
const run = (...args: readonly string[]): Promise<Ran> => holdfastHere(store, args);
const see = async (...args: readonly string[]): Promise<string> =>
  (await holdfastHere(store, args, { terminal: WIDE })).out;

const UUID = "01a1dd8e-f577-7abc-8def-0123456789ab";

function link(upstream: string, agent: string, reason: string): EntryBody {
  return { type: "upstream_link", upstream, agent, reason };
}

function turn(id: string, upstream: string, fidelity: "native" | "preamble"): EntryBody[] {
  return [
    { type: "turn_start", turn: id },
    { type: "attempt", turn: id, upstream, fidelity },
    { type: "update", turn: id, data: { streamed: "machinery" } },
  ];
}

beforeAll(async () => {
  await using holdfast = await openHoldfast({ store });
  await holdfast.create({
    id: UUID,
    title: "Two sessions",
    cwd: "/home/someone/projects/deep/holdfast",
    entries: [
      user("First question"),
      link("s-1", "claude", "first"),
      ...turn("t1", "s-1", "native"),
      assistant("First answer", { model: "default" }),
      { type: "turn_end", turn: "t1", outcome: "completed" },
      user("Second question"),
      link("s-2", "codex", "expired"),
      ...turn("t2", "s-2", "preamble"),
      assistant("Second answer", { model: "example-2" }),
      { type: "turn_end", turn: "t2", outcome: "completed" },
    ],
  });
  const limited = await holdfast.create({
    id: "limited",
    entries: [user("Go"), { type: "turn_start", turn: "t" }],
  });
  const { leaf } = await limited.head();
  const far = "2999-01-01T00:00:00.000Z";
  await limited.append({
    type: "turn_end",
    turn: "t",
    outcome: "failed",
    class: "limit",
    resetAt: far,
    node: leaf.id,
  });
  await holdfast.create({ id: "cut-off", entries: [user("Go"), { type: "turn_start", turn: "t" }] });
  const working = await holdfast.create({
    id: "working",
    entries: [user("Go"), { type: "turn_start", turn: "t" }],
  });
  await spaceOf(holdfast).acquire({ conversation: working.id, writer: "someone", leaseMs: 3_600_000 });
  for (const id of ["newer", "broken"]) await holdfast.create({ id, entries: [user("Go")] });
});

beforeAll(() => {
  for (const [id, from, to] of [
    ["newer", '"v":2', '"v":9'],
    ["broken", '"role":"user"', '"role":"usex"'],
  ] as const) {
    const file = readdirSync(folder.path, { recursive: true, encoding: "utf8" }).find((name) =>
      name.endsWith(`${id}.jsonl`),
    );
    const path = join(folder.path, file ?? "");
    writeFileSync(path, readFileSync(path, "utf8").replace(from, to));
  }
});

test("ls on a terminal has headings, and tells state, agent and folder; a newer format is not called damaged", async () => {
  const lines = (await see("ls")).trimEnd().split("\n");
  expect(lines[0]?.split(/\s+/)).toEqual(["ID", "CHANGED", "ENTRIES", "STATE", "AGENT", "FOLDER", "TITLE"]);
  const row = (start: string): string => lines.find((line) => line.startsWith(start)) ?? "";
  expect(row("456789ab")).toMatch(/codex\s+….*holdfast\s+Two sessions/);
  expect(row("limited")).toContain("paused");
  expect(row("cut-off")).toContain("interrupted");
  expect(row("working")).toMatch(/^working\s+now\s+\d+\s+running/);
  expect(row("newer")).toContain("newer format");
  expect(row("newer")).not.toContain("damaged");
  expect(row("broken")).toContain("damaged");
});

test("ls in a pipe has whole ids and no headings; its JSON is as it was", async () => {
  const { out } = await run("ls");
  expect(out).toContain(UUID);
  expect(out).not.toContain("ENTRIES");
  const listed = jsonLines((await run("ls", "--json")).out).find(({ conversation }) => conversation === UUID);
  expect(Object.keys(listed ?? {})).toEqual([
    "schemaVersion",
    "conversation",
    "title",
    "cwd",
    "createdAt",
    "updatedAt",
    "headSeq",
    "leaf",
    "origin",
    "summary",
    "damage",
    "state",
  ]);
});

test("ls shows only those that are asked for: by folder, tag, agent and archive", async () => {
  const ids = async (...args: readonly string[]): Promise<readonly unknown[]> =>
    jsonLines((await run("ls", "--json", ...args)).out).map(({ conversation }) => conversation);
  expect(await ids("--agent", "codex")).toEqual([UUID]);
  expect(await ids("--agent", "codex", "--folder", "/elsewhere")).toEqual([]);
  expect(await ids("--folder", "/home/someone/projects/deep/holdfast")).toEqual([UUID]);
  expect(await ids("--tag", "none")).toEqual([]);
  expect(await ids("--archived")).toEqual([]);
  expect(await ids("--unlisted")).toEqual([]);
});

test("the end of an id that ls shows is an address", async () => {
  expect((await run("show", "456789ab")).out).toContain("First question");
  expect((await run("show", "zzzz89ab")).status).toBe(3);
});

test("log tells people what was said and what happened; --all and --json have every entry", async () => {
  const people = await see("log", UUID);
  expect(people).not.toMatch(/machinery|attempt|turn_start/);
  expect(people.trimEnd().split("\n")).toHaveLength(8);
  expect(people).toMatch(/session\s+codex: /);
  expect((await see("log", "limited")).trimEnd().split("\n").at(-1)).toMatch(/turn\s+failed: /);
  expect((await see("log", UUID, "--all")).trimEnd().split("\n")).toHaveLength(16);
  expect(jsonLines((await run("log", UUID, "--json")).out)).toHaveLength(16);
});

test("chain has headings on a terminal, the reason in words, and how each session came to know", async () => {
  const lines = (await see("chain", UUID)).trimEnd().split("\n");
  expect(lines[0]).toMatch(/#\s+SINCE\s+AGENT\s+SESSION\s+ENTRIES\s+CONTEXT\s+WHY/);
  expect(lines[1]).toMatch(/claude\s+s-1\s+\S+\s+native\s+this is the first session$/);
  expect(lines[2]).toMatch(/codex\s+s-2\s+\S+\s+replayed\s+the previous session expired$/);
  expect((await run("chain", UUID)).out).not.toContain("SINCE");
  const [{ links } = { links: [] }] = jsonLines((await run("chain", UUID, "--json")).out);
  expect(links).toMatchObject([
    { reason: "first", fidelity: "native" },
    { reason: "expired", fidelity: "preamble" },
  ]);
});

test("show marks where another session took over, and names the agent where the model's name says nothing", async () => {
  const { out } = await run("show", UUID);
  expect(out).toMatch(/assistant \(claude\)[^\n]*\n\s+First answer/);
  expect(out).toMatch(/assistant \(example-2\)[^\n]*\n\s+Second answer/);
  const marks = out.split("\n").filter((line) => line.includes("another session"));
  expect(marks).toHaveLength(1);
  expect(out.indexOf("another session")).toBeGreaterThan(out.indexOf("Second question"));
  expect(out.indexOf("another session")).toBeLessThan(out.indexOf("Second answer"));
});

test("who forks or goes back is told that the world is not taken back", async () => {
  const undone = "Files and external effects are not undone";
  const forked = await holdfastHere(store, ["fork", UUID, "--id", "aside"], { terminal: WIDE });
  expect([forked.out, forked.err.includes(undone)]).toEqual(["aside\n", true]);
  await using holdfast = await openHoldfast({ store });
  const { entries } = await (await holdfast.conversation("aside")).history();
  expect((await run("goto", `aside@${entries[1]?.id ?? ""}`)).out).toContain(undone);
  for (const command of ["fork", "goto", "clear", "sign-out"])
    expect((await run("help", command)).out.replaceAll(/\s+/g, " ").toLowerCase()).toContain(
      "external effects are not undone",
    );
});

test("the overview shows every command there is", async () => {
  const { out } = await run("help", "--all");
  const shown = [...out.matchAll(/^ {2}([a-z][a-z-]*) +[A-Z]/gm)].map(([, name = ""]) => name);
  expect(shown.filter((name) => name !== "holdfast")).toEqual(COMMAND_NAMES);
});

test("a fork's tree marks what it inherited, a wide list shows a model's whole name, and a cost nobody knows is none", async () => {
  await using holdfast = await openHoldfast({ store });
  const model = "someone/a-model-of-a-long-name";
  const priced = await holdfast.create({ id: "unpriced", entries: [user("Go")] });
  await priced.append([
    { type: "model_change", model },
    assistant("Gone", { model, usage: { inputTokens: 1, outputTokens: 1 } }),
  ]);
  const fork = await priced.fork({ id: "forked" });
  await fork.append(user("on"));
  const rows = (await see("tree", "forked")).split("\n");
  expect(rows.find((row) => row.includes("Gone"))).toContain("•⑂");
  expect(rows.find((row) => / on\b/.test(row))).not.toContain("⑂");
  expect(await see("ls", "unpriced")).toContain("a-model-of-a-long-name");
  const [listed] = jsonLines((await run("ls", "unpriced", "--json")).out);
  expect(listed).toMatchObject({ summary: { usage: { costMicros: null, unpricedAnswers: 1 } } });
});
