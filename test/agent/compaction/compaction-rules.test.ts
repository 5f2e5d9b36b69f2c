import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { chooseCut, mustCompact } from "#agent/compaction/compact";
import { fileLists, storedFileLists } from "#agent/compaction/summary-request";
import { contextTokens, estimateTokens } from "#agent/compaction/token-estimate";
import type { Conversation } from "#conversation/conversation";
import { readContextWindow } from "#conversation/reading";
import type { EntryBody } from "#log/entry";
import { parseEntryId } from "#log/ids";
import { contextOf } from "#log/projections/context";
import { EMPTY_WINDOW, extendWindow } from "#log/projections/window";
import { aConversation, assistant, result, user } from "../../support/a-log.ts";
import { spaceOf } from "#conversation/on-space";

const root = join(import.meta.dirname, "../../..");
const LONG = "The quick brown fox jumps over the lazy dog near the river bank today. ".repeat(60);

const windowOf = (conversation: Conversation) =>
  readContextWindow(spaceOf(conversation), conversation.id, null);
const cutOf = async (keep: number, ...bodies: readonly EntryBody[]) =>
  chooseCut(await windowOf(await aConversation(...bodies)), keep);

describe("the estimate", () => {
  const logs = Array.from(
    { length: 200 },
    (_, n) =>
      `2026-11-16T05:${10 + (n % 50)}:12.${100 + n}Z INFO GET /items/${n * 7_919} 200 ${n}ms 10.0.7.17`,
  );
  // Tokens of a widespread vocabulary for each four characters of such a text.
  test.each([
    ["prose", readFileSync(join(root, "docs/how-to/integrate/runtime.md"), "utf8"), 0.92],
    ["code", readFileSync(join(root, "src/conversation/conversation.ts"), "utf8"), 0.67],
    ["a lock file", readFileSync(join(root, "package-lock.json"), "utf8"), 1.8],
    ["log lines", logs.join("\n"), 2.06],
    ["base64", randomBytes(6_000).toString("base64"), 2.72],
    ["Chinese", "每一次对话都写入只增不减的日志，其他的都是投影。请先检查当前状态。".repeat(20), 2.7],
  ])("is near what %s is counted as", (_, text, ratio) => {
    const counted = (text.length / 4) * ratio;
    expect(estimateTokens(text) / counted).toBeGreaterThan(0.7);
    expect(estimateTokens(text) / counted).toBeLessThan(1.7);
  });

  test("takes its time from the length alone, and that is bounded", () => {
    expect(estimateTokens("a".repeat(20_000_000))).toBeGreaterThan(1_000_000);
    expect(estimateTokens(" ".repeat(40_000))).toBeGreaterThan(0);
    expect(estimateTokens("")).toBe(0);
  });

  const replied = (id: string, inputTokens: number): EntryBody => ({
    type: "message",
    id,
    message: {
      role: "assistant",
      content: [{ type: "text", text: "yes" }],
      usage: { inputTokens, cacheReadTokens: 10, cacheWriteTokens: 1, outputTokens: 100 },
    },
  });
  const known = { lastHideSeq: 0, ownNodes: Number.POSITIVE_INFINITY, fixedTokens: 7 };

  test("starts from the latest reply's usage, the cached part included, and counts what came since", async () => {
    const conversation = await aConversation(user(LONG), replied("a", 5_000), user("go on"));
    const tokens = contextTokens(await windowOf(conversation), known);
    expect(tokens).toBeGreaterThan(5_111);
    expect(tokens).toBeLessThan(5_130);
  });

  test("does not believe a usage from before a compaction, a hide, or another log's while something is hidden", async () => {
    const conversation = await aConversation(user("hi", "u"), replied("a", 900_000), user("go on", "v"));
    const before = await windowOf(conversation);
    expect(contextTokens(before, { ...known, ownNodes: 0 })).toBeGreaterThan(900_000);
    expect(contextTokens(before, { ...known, lastHideSeq: 99 })).toBeLessThan(100);
    await conversation.hide("u");
    expect(contextTokens(await windowOf(conversation), { ...known, ownNodes: 0 })).toBeLessThan(100);
    await conversation.append({ type: "compaction", summary: "S", firstKeptEntryId: "a" });
    const compacted = contextTokens(await windowOf(conversation), known);
    expect(compacted).toBeLessThan(100);
    expect(compacted).toBeGreaterThan(7);
  });

  test("an image counts the same however large its text is", async () => {
    const image = (data: string): EntryBody => ({
      type: "message",
      message: { role: "user", content: [{ type: "image", mediaType: "image/png", data }] },
    });
    const [one, other] = await Promise.all(
      [image("aa"), image("a".repeat(4_000))].map(async (body) =>
        contextTokens(await windowOf(await aConversation(body)), known),
      ),
    );
    expect(one).toBe(other);
    expect(one).toBeGreaterThan(1_000);
  });
});

test("a context must be compacted when it leaves less than the reserve; never where the window is not known", () => {
  expect(mustCompact({ window: 200_000, used: 183_616 })).toBe(false);
  expect(mustCompact({ window: 200_000, used: 183_617 })).toBe(true);
  expect(mustCompact({ window: 200_000, reserve: 0, used: 199_999 })).toBe(false);
  expect(mustCompact({ window: null, used: 9e9 })).toBe(false);
  expect(mustCompact({ window: 8_000, used: 3_999 })).toBe(false); // a reserve larger than the window
});

describe("the cut", () => {
  test("keeps as much of the newest as the budget takes", async () => {
    const bodies = [user(LONG, "u1"), assistant(LONG, "a1"), user(LONG, "u2"), assistant(LONG, "a2")];
    const each = estimateTokens(LONG) + 4;
    expect(await cutOf(each * 2, ...bodies)).toEqual({ state: "cut", firstKept: "u2", turnFrom: null });
    expect(await cutOf(each * 2 - 1, ...bodies)).toEqual({ state: "cut", firstKept: "a2", turnFrom: "u2" });
    expect(await cutOf(1, ...bodies)).toMatchObject({ firstKept: "a2" });
    expect(await cutOf(each * 5, ...bodies)).toEqual({ state: "nothing" });
  });

  test("lies at the call when results alone are over the budget, and tells the turn's beginning apart", async () => {
    const cut = await cutOf(
      10,
      user(LONG, "u0"),
      assistant("ok", "a0"),
      user("do it", "u1"),
      assistant("", "a1", "c1"),
      result("c1", LONG),
      assistant("", "a2", "c2", "c3"),
      result("c2", LONG),
      result("c3", LONG),
    );
    expect(cut).toEqual({ state: "cut", firstKept: "a2", turnFrom: "u1" });
  });

  test("does not lie between a call and a result that came after something was said in between", async () => {
    const cut = await cutOf(
      10,
      user(LONG, "u1"),
      assistant("", "a1", "c1"),
      user("quick!", "u2"),
      result("c1", "done"),
    );
    expect(cut).toMatchObject({ firstKept: "a1" });
  });

  test("takes a result for that of the latest call, where ids come again", async () => {
    const cut = await cutOf(
      10,
      user(LONG, "u1"),
      assistant("", "a1", "c"),
      assistant("", "a2", "c"),
      result("c", "one", "r1"),
      result("c", "two", "r2"),
    );
    expect(cut).toMatchObject({ firstKept: "a2" });
  });

  test("scenario 14: lies before a reply whose call is not answered yet, never between the two", async () => {
    const bodies = [
      user(LONG, "u1"),
      assistant("", "a1", "c1", "c2"),
      result("c1", "x"),
      user("well?", "u2"),
    ];
    expect(await cutOf(1, ...bodies)).toMatchObject({ firstKept: "a1" });
    expect(await cutOf(1, assistant("", "a1", "c1"), user("and?", "u"))).toEqual({ state: "nothing" });
  });

  test("says when there is nothing, or too little", async () => {
    expect(await cutOf(1)).toEqual({ state: "nothing" });
    expect(await cutOf(1, user(LONG))).toEqual({ state: "nothing" });
    expect(await cutOf(1, user("hi"), assistant("yes"))).toEqual({ state: "too_little" });
  });

  test("passes over what is hidden", async () => {
    const conversation = await aConversation(user(LONG, "u1"), assistant("yes", "a1"), user("go", "u2"));
    await conversation.hide("u1");
    expect(chooseCut(await windowOf(conversation), 1)).toEqual({ state: "too_little" });
  });
});

describe("the lists of files", () => {
  const NONE = { read: [], changed: [] };
  const call = (id: string, name: string, input: EntryBody | { path: string } | null): EntryBody => ({
    type: "message",
    message: { role: "assistant", content: [{ type: "toolCall", id, name, input: input as null }] },
  });
  const failed = (id: string): EntryBody => ({
    type: "message",
    message: { role: "toolResult", toolCallId: id, isError: true, content: [] },
  });
  const listed = async (...bodies: readonly EntryBody[]) => {
    const { entries } = await windowOf(await aConversation(...bodies));
    return entries.toReversed();
  };

  test("tell paths of read, write and edit; what failed touched nothing, what is unknown may have", async () => {
    const entries = await listed(
      call("1", "read", { path: "a" }),
      call("2", "read", { path: "b" }),
      call("3", "edit", { path: "b" }),
      call("4", "write", { path: "c" }),
      failed("4"),
      call("4", "write", { path: "d" }),
      call("5", "shell", { path: "e" }),
      call("6", "read", null),
    );
    expect(fileLists(entries, NONE)).toEqual({ read: ["a"], changed: ["b", "d"] });
  });

  test("go on from those of the compaction before, whatever its details are", async () => {
    const before = storedFileLists({ files: { read: ["a", 1, "x"], changed: ["y"] } });
    const entries = await listed(call("1", "edit", { path: "x" }), call("2", "open", { path: "z" }));
    expect(fileLists(entries, before)).toEqual({ read: ["a"], changed: ["y", "x"] });
    expect(fileLists(entries, before, { read: ["open"], change: [] })).toEqual({
      read: ["a", "x", "z"],
      changed: ["y"],
    });
    for (const details of [undefined, null, 3, "x", [], { files: 1 }, { files: { read: {} } }])
      expect(storedFileLists(details)).toEqual(NONE);
  });
});

test("scenario 12: a boundary off the path, which no write lets in, is reported at read and cuts nothing off", async () => {
  const conversation = await aConversation(user("one", "u1"), assistant("two", "a1"), user("three", "u2"));
  await conversation.append({ type: "compaction", summary: "S", firstKeptEntryId: "u2" });
  const stored = (await conversation.branch()).toReversed();
  const gone = parseEntryId("elsewhere");
  const entries = stored.map((entry) =>
    entry.type === "compaction" ? Object.assign(entry, { firstKeptEntryId: gone }) : entry,
  );
  const window = extendWindow(EMPTY_WINDOW, { entries, hidden: new Set(), atRoot: true });
  const { leaf } = await conversation.head();
  const context = contextOf(window, await conversation.settings(), leaf.id);
  expect(context.issues.map(({ kind }) => kind)).toEqual(["boundary_missing"]);
  expect(context.messages.map(({ entryId }) => entryId)).toEqual([null, "u1", "a1", "u2"]);
});
