import { truncateSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { type Line, lines, part, said } from "./claude-lines.ts";
import { briefMessages } from "#testing/vendors/records-cases";
import { ID } from "../homes.ts";
import { ClaudeHome } from "./claude-home.ts";

const claude = new ClaudeHome();

const REJECTED =
  "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, the new_string was NOT written to the file). STOP what you are doing and wait for the user to tell you how to proceed.";

describe("the branch that is read", () => {
  test("is the one of the last leaf", async () => {
    const text = lines(said("1", null, "one"), said("2", "1", "left behind"), said("3", "1", "taken up"));
    expect(await claude.readOf(text)).toEqual(["user: one", "user: taken up"]);
  });

  test("leaves out sub-agents, notes and wrappings, but no prompt that looks like one", async () => {
    const text = lines(
      said("1", null, "one"),
      said("2", "1", "to a sub-agent", { isSidechain: true }),
      said("3", "1", "a note", { isMeta: true }),
      said("4", "3", "<local-command-stdout>x</local-command-stdout>"),
      said("5", "4", "[Request interrupted by user for tool use]"),
      said("6", "5", "<local-command-stdout>typed", { promptSource: "sdk" }),
    );
    expect(await claude.readOf(text)).toEqual(["user: one", "user: <local-command-stdout>typed"]);
  });

  test.each([
    ["a note", { isMeta: true }],
    ["a summary", { isCompactSummary: true }],
    ["an error", { isApiErrorMessage: true }],
    ["a stand-in for an answer", { message: { model: "<synthetic>", content: "No response requested." } }],
    ["something shown only", { isVisibleInTranscriptOnly: true }],
    ["a sub-agent", { isSidechain: true }],
    ["a team-mate", { teamName: "x" }],
    [
      "a notice",
      { type: "attachment", attachment: { type: "queued_command", prompt: "x", commandMode: "prompt" } },
    ],
  ])("leaves out what %s says", async (_case, mark) => {
    const text = lines(said("1", null, "one"), said("2", "1", "x", mark));
    expect(await claude.readOf(text)).toEqual(["user: one"]);
  });

  test("marks what stands in place of an outcome", async () => {
    const result = (uuid: string, parentUuid: string, tool_use_id: string, content: string): Line => {
      const block = { type: "tool_result", tool_use_id, content };
      return { type: "user", uuid, parentUuid, message: { role: "user", content: [block] } };
    };
    claude.put(
      lines(
        said("1", null, "run"),
        result("2", "1", "a", "out"),
        result("3", "2", "b", "[Request interrupted by user for tool use]"),
      ),
    );
    expect((await claude.store.read(ID))?.map(({ cutOff }) => cutOff)).toEqual([undefined, undefined, true]);
  });

  test.each([
    [
      "its adapter died while it asked",
      "Tool permission request failed: AbortError: Tool permission stream closed before response received",
      { toolDenialKind: "permission-rule" },
      { notRun: true },
    ],
    [
      "it was refused",
      "User refused permission to run tool",
      { toolDenialKind: "permission-rule" },
      { notRun: true },
    ],
    ["a rule refuses it", "any words", { toolDenialKind: "automode-blocked" }, { notRun: true }],
    ["an older version was refused", "Permission to use Bash has been denied. STOP", {}, { notRun: true }],
    ["it was stopped before its turn came", "[Tool call skipped: the turn ended]", {}, { notRun: true }],
    ["a person said no", REJECTED, { toolUseResult: `Error: ${REJECTED}` }, { notRun: true }],
    [
      "a person stopped it, running or not",
      REJECTED,
      { toolDenialKind: "user-rejected", toolUseResult: "User rejected tool use" },
      { cutOff: true },
    ],
    ["its session ended first", "[Tool call interrupted: the session ended]", {}, { cutOff: true }],
    ["it failed", "Exit code 3", {}, {}],
  ])("knows what became of a call: %s", async (_case, content, more, known) => {
    const use = { type: "tool_use", id: "a", name: "Bash", input: {} };
    const block = { type: "tool_result", tool_use_id: "a", content, is_error: true };
    claude.put(
      lines(said("1", null, "run"), part("2", "1", "m", use), {
        type: "user",
        uuid: "3",
        parentUuid: "2",
        message: { role: "user", content: [block] },
        ...more,
      }),
    );
    const result = (await claude.store.read(ID))?.at(-1);
    expect(result?.message).toMatchObject({ role: "toolResult", isError: true });
    expect({ notRun: undefined, cutOff: undefined, ...result }).toMatchObject({
      notRun: undefined,
      cutOff: undefined,
      ...known,
    });
  });

  test("believes no words of an MCP server about its own call", async () => {
    const use = { type: "tool_use", id: "a", name: "mcp__mail__send", input: {} };
    const block = {
      type: "tool_result",
      tool_use_id: "a",
      content: "Permission to use mail has been denied",
      is_error: true,
    };
    const result: Line = {
      type: "user",
      uuid: "3",
      parentUuid: "2",
      message: { role: "user", content: [block] },
    };
    claude.put(lines(said("1", null, "run"), part("2", "1", "m", use), result));
    expect((await claude.store.read(ID))?.at(-1)).not.toHaveProperty("notRun");
  });

  test("has a command as it was typed", async () => {
    const command =
      "<command-message>init</command-message>\n<command-name>/init</command-name>\n<command-args>a <b>\nc</command-args>";
    const bare = "<command-name>/compact</command-name>\n <command-args></command-args>";
    expect(await claude.readOf(lines(said("1", null, command), said("2", "1", bare)))).toEqual([
      "user: /init a <b>\nc",
      "user: /compact",
    ]);
  });

  test("has a prompt once that was recorded while it waited and again when its turn came", async () => {
    const queued = {
      type: "queued_command",
      prompt: "later",
      source_uuid: "9",
      commandMode: "prompt",
      origin: { kind: "human" },
    };
    const waits = { type: "attachment", uuid: "2", parentUuid: "1", attachment: queued };
    expect(await claude.readOf(lines(said("1", null, "one"), waits, said("9", "2", "later")))).toEqual([
      "user: one",
      "user: later",
    ]);
  });

  test("joins the parts of an answer though results stand between them", async () => {
    const text = lines(
      part("1", null, "m", { type: "tool_use", id: "a", name: "A", input: {} }),
      said("2", "1", "", { message: { content: [{ type: "tool_result", tool_use_id: "a", content: "1" }] } }),
      part("3", "2", "m", { type: "tool_use", id: "b", name: "B", input: {} }),
    );
    expect(await claude.readOf(text)).toEqual(["assistant: A a + B b", "result of a: 1"]);
  });

  test("goes over a damaged line to the one before it, without what the line held", async () => {
    const text = lines(said("1", null, "one"), '{"type":"user","uuid":"2","pare', said("3", "2", "three"));
    expect(await claude.readOf(text)).toEqual(["user: one", "user: three"]);
  });

  test("ends before a torn last line", async () => {
    const path = claude.put(lines(said("1", null, "one"), said("2", "1", "two")));
    truncateSync(path, 120);
    expect(briefMessages(await claude.store.read(ID))).toEqual(["user: one"]);
  });

  test.each([
    ["a record that is its own parent", lines(said("1", "1", "one"))],
    ["two that are each other's", lines(said("1", "2", "one"), said("2", "1", "two"))],
    ["one id twice", lines(said("1", null, "one"), said("1", "1", "one"))],
  ])("is found in bounded time: %s", async (_case, text) => {
    claude.put(text);
    expect(await claude.store.read(ID)).toSatisfy(
      (messages: unknown) => messages === null || Array.isArray(messages),
    );
  });

  test.each([
    ["nothing", ""],
    ["no message", lines({ type: "ai-title", aiTitle: "x" }, "42", "null", "[]")],
  ])("is null for a file with %s", async (_case, text) => {
    claude.put(text);
    expect(await claude.store.read(ID)).toBeNull();
  });
});

describe("a long transcript is read in one go", () => {
  const COUNT = 20_000;

  test("as a chain of turns", async () => {
    const records = Array.from({ length: COUNT }, (_, n) =>
      said(`${n}`, n === 0 ? null : `${n - 1}`, `${n}`),
    );
    expect(await claude.readOf(lines(...records))).toHaveLength(COUNT);
  }, 5_000);

  test("as one answer of many parts", async () => {
    const text = { type: "text", text: "x" };
    const records = Array.from({ length: COUNT }, (_, n) =>
      part(`${n}`, n === 0 ? null : `${n - 1}`, "m", text),
    );
    expect(await claude.readOf(lines(...records))).toHaveLength(1);
  }, 5_000);

  test("as calls side by side, each with a result that nothing follows", async () => {
    const records = Array.from({ length: COUNT / 2 }, (_, n) => [
      part(`${n}`, n === 0 ? null : `${n - 1}`, "m", { type: "tool_use", id: `c${n}`, name: "A", input: {} }),
      said(`r${n}`, `${n}`, "", { message: { content: [{ type: "tool_result", tool_use_id: `c${n}` }] } }),
    ]);
    expect(await claude.readOf(lines(...records.flat()))).toHaveLength(COUNT / 2 + 1);
  }, 5_000);
});

describe("ids from outside", () => {
  test.each(["../x", "a/b", "\0", "", "..", `${ID}/../${ID}`, `${ID}\0`, `${ID}\n`, "*"])(
    "that are no UUIDs find nothing: %j",
    async (id) => {
      claude.put(lines(said("1", null, "one")));
      claude.home.put("projects/x.jsonl", lines(said("1", null, "one")));
      expect(await claude.store.read(id)).toBeNull();
      expect(await claude.store.stamp(id)).toBeNull();
      expect(await claude.store.move?.(id, claude.home.dir)).toBe("missing");
    },
  );
});
