import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { assistant, type EntryBody, openHoldfast, user } from "#index";
import type { Json } from "#log/json/json-text";
import { widthOf } from "#edges/cli/terminal/terminal";
import { tempDir } from "../../../support/temp-dir.ts";
import { holdfastHere } from "../cli-here.ts";
import { jsonLines, type Ran, runCli } from "../cli-run.ts";

const folder = tempDir();
afterAll(() => folder[Symbol.dispose]());
const store = `sqlite:${join(folder.path, "store.db")}`;
const run = (...args: readonly string[]): Promise<Ran> => holdfastHere(store, args);

function step(call: string, name: string, input: Json, gave: string): readonly EntryBody[] {
  return [
    {
      type: "message",
      message: {
        role: "assistant",
        model: "scripted/one",
        usage: { inputTokens: 100, outputTokens: 10, costMicros: 2_000 },
        content: [{ type: "toolCall", id: call, name, input }],
      },
    },
    {
      type: "message",
      message: { role: "toolResult", toolCallId: call, content: [{ type: "text", text: gave }] },
    },
  ];
}

const ORDERS = ["\u001B", "\u0007", "\u202E"];
const HOSTILE = "\u001B[2J\u001B]0;owned\u0007 \u202Egrep\nforged row";

beforeAll(async () => {
  await using holdfast = await openHoldfast({ store });
  const chat = await holdfast.create({ id: "chat", entries: [user("Hello"), assistant("Hi")] });
  for (const id of ["retry", "worded", "results", "hostile", "order"]) await chat.fork({ id });
  const first = [user("Find the cache"), ...step("1", "list", { path: ".", all: true }, "a b c")];
  await chat.append([
    ...first,
    ...step("2", "read_file", { path: "pkg/cache.go" }, "text"),
    ...step("3", "edit", { path: "pkg/cache.go", old: "the cache is here" }, "ok"),
    assistant("It is in cache.go"),
  ]);
  await (
    await holdfast.conversation("retry")
  ).append([
    user("Find the cache"),
    ...step("7", "list", { all: true, path: "." }, "a b c"),
    ...step("8", "grep", { q: "persist" }, "text"),
    ...step("9", "edit", { path: "pkg/log.go", old: "the log is here", all: true }, "ok"),
    assistant("It is in log.go"),
  ]);
  const alike = (gave: string, words: string): readonly EntryBody[] => [
    ...first,
    ...step("2", "read_file", { path: "pkg/cache.go" }, gave),
    ...step("3", "edit", { old: "the cache is here", path: "pkg/cache.go" }, "ok"),
    assistant(words),
  ];
  await (await holdfast.conversation("worded")).append(alike("text", "cache.go has it"));
  await (await holdfast.conversation("results")).append(alike("other text", "It is in cache.go"));
  await (
    await holdfast.conversation("hostile")
  ).append([...first, ...step("2", HOSTILE, { q: HOSTILE }, HOSTILE), assistant(HOSTILE)]);
  await (
    await holdfast.conversation("order")
  ).append([
    user("Find the cache"),
    ...step("2", "read_file", { path: "pkg/cache.go" }, "text"),
    ...step("1", "list", { path: ".", all: true }, "a b c"),
    ...step("3", "edit", { path: "pkg/cache.go", old: "the cache is here" }, "ok"),
    assistant("It is in cache.go"),
  ]);
  await holdfast.create({ id: "stranger", entries: [user("Good day"), assistant("Ho")] });
});

interface Printed {
  readonly a: {
    readonly totals: { readonly turns: number; readonly calls: number; readonly costMicros: number | null };
  };
  readonly common: { readonly kind: string };
  readonly same: boolean;
  readonly divergence: {
    readonly kind: string;
    readonly sameBefore: number;
    readonly a: { readonly name?: string };
    readonly b: { readonly name?: string };
  } | null;
  readonly changes?: readonly {
    readonly op: string;
    readonly kind: string;
    readonly moved?: true;
    readonly members?: unknown;
  }[];
}
const printed = async (...args: readonly string[]): Promise<readonly Printed[]> =>
  jsonLines((await run("diff", ...args, "--json")).out) as unknown as readonly Printed[];

test("a real process says at a glance where a fork first did something else, and what each used", async () => {
  const { status, out } = await runCli(store, ["diff", "chat", "retry"]);
  expect(status).toBe(0);
  expect(out).toMatch(/^A {2}chat \(1 turn\) · scripted\/one\nB {2}retry/);
  expect(out).toMatch(
    /✗ first divergence in turn 1, after 2 alike\n {3}A {2}read_file \{"path":"pkg\/cache.go"\} {2}@\w+\n {3}B {2}grep/,
  );
  expect(out).toContain("tools 3 (−read_file, +grep)");
  expect(out).toContain("path  pkg/[-cache-]{+log+}.go");
  expect(out).toContain("+ all  true");
  expect(out).not.toContain("\u001B");
  expect((await runCli(store, ["diff", "chat", "retry", "--exit-code"])).status).toBe(8);
});

test("calls come first: words alone, and what a call gave, are no divergence of calls", async () => {
  const status = async (...args: readonly string[]): Promise<number | null> =>
    (await run("diff", ...args, "--exit-code")).status;
  expect((await printed("chat", "worded"))[0]?.divergence).toMatchObject({ kind: "text", sameBefore: 4 });
  expect((await printed("chat", "results"))[0]?.divergence).toMatchObject({ kind: "result" });
  expect([await status("chat", "worded"), await status("chat", "results")]).toEqual([8, 8]);
  expect([
    await status("chat", "worded", "--tools-only"),
    await status("chat", "results", "--tools-only"),
  ]).toEqual([0, 0]);
  expect(await status("chat", "retry", "--tools-only")).toBe(8);
  expect(await status("chat", "order", "--tools-only")).toBe(8);
  expect(await status("chat", "chat")).toBe(0);
  expect((await printed("chat", "order"))[0]?.changes).toEqual([
    expect.objectContaining({ op: "removed", moved: true }),
    expect.objectContaining({ op: "added", moved: true }),
  ]);
});

test("JSON is one object per branch; --stat has no changes, --all those that are none as well", async () => {
  const [diff, other] = await printed("chat", "retry", "stranger");
  expect(diff).toMatchObject({ schemaVersion: 1, same: false, common: { kind: "starts" } });
  expect(other?.common.kind).toBe("starts");
  const [alone] = await printed("chat", "retry");
  expect(alone).toMatchObject({
    common: { kind: "ancestor" },
    a: { totals: { turns: 1, calls: 3, costMicros: 6_000 } },
    divergence: { kind: "call", sameBefore: 2, a: { name: "read_file" }, b: { name: "grep" } },
  });
  expect(alone?.changes?.map(({ op }) => op)).toEqual(["removed", "added", "changed", "changed"]);
  expect(alone?.changes?.[2]?.members).toEqual([
    { path: ["path"], a: "pkg/cache.go", b: "pkg/log.go" },
    { path: ["old"], a: "the cache is here", b: "the log is here" },
    { path: ["all"], b: true },
  ]);
  expect((await printed("chat", "retry", "--stat"))[0]).not.toHaveProperty("changes");
  expect((await printed("chat", "retry", "--all"))[0]?.changes?.map(({ op }) => op)).toContain("same");
});

test("several are one table, whatever the width, and no line is wider than the terminal", async () => {
  for (const terminal of [40, 60, 80, 120, 200]) {
    const { out } = await holdfastHere(store, ["diff", "chat", "retry", "worded", "hostile", "--all"], {
      terminal,
    });
    const wide = out.split("\n").filter((line) => widthOf(line) > terminal);
    expect(wide).toEqual([]);
  }
  const { out } = await holdfastHere(store, ["diff", "chat", "retry", "worded", "chat", "--stat"], {
    terminal: 120,
  });
  const lines = out.trimEnd().split("\n");
  expect(lines).toHaveLength(6);
  expect(lines[2]).toMatch(/^B {2}retry .* 3 .*turn 1: read_file → grep$/);
  expect(lines[3]).toMatch(/^C {2}worded .*turn 1: text only$/);
  expect(lines[4]).toMatch(/^D {2}chat .*none$/);
});

test("unrelated conversations are said to be unrelated", async () => {
  const { out, status } = await run("diff", "chat", "stranger");
  expect([status, out.includes("unrelated: compared from their starts")]).toEqual([0, true]);
});

test("words of strangers can neither move the cursor nor forge a row", async () => {
  for (const args of [[], ["--all"], ["--stat"]]) {
    const { out } = await run("diff", "chat", "hostile", ...args);
    for (const order of ORDERS) expect(out).not.toContain(order);
    expect(out).not.toMatch(/^forged row/m);
  }
  const { out } = await holdfastHere(store, ["diff", "chat", "hostile", "--json"], { terminal: 80 });
  for (const order of ORDERS) expect(out).not.toContain(order);
  expect(out.trimEnd().split("\n")).toHaveLength(1);
});

test("arguments that are nested too deeply to be written are compared all the same", async () => {
  const nested = (levels: number, end: string): Json =>
    Array.from({ length: levels }).reduce<Json>((inner) => [inner], end);
  await using holdfast = await openHoldfast({ store });
  const source = await holdfast.create({ id: "deep", entries: [user("go")] });
  const fork = await source.fork({ id: "deeper" });
  await source.append(step("1", "nest", nested(1_500, "a"), "ok"));
  await fork.append(step("1", "nest", nested(1_500, "b"), "ok"));
  expect((await run("diff", "deep", "deeper", "--exit-code")).status).toBe(8);
  expect((await run("diff", "deep", "deep", "--exit-code")).status).toBe(0);
  expect((await run("diff", "deep", "deeper", "--json")).status).toBe(0);
});

test("what is not there or makes no sense is refused", async () => {
  expect((await run("diff", "chat")).status).toBe(2);
  expect((await run("diff", "chat", "nobody")).status).toBe(3);
  expect((await run("diff", "chat", "chat@nothing")).status).toBe(3);
  expect((await run("diff", "chat", "retry", "--stat", "--all")).status).toBe(2);
  expect((await run("diff", ...Array.from({ length: 27 }, () => "chat"))).status).toBe(2);
});
