import { describe, expect, test } from "vitest";
import { CLAUDE } from "#vendors/claude/claude";
import { fixture, ID } from "../homes.ts";
import { ClaudeHome } from "./claude-home.ts";

const claude = new ClaudeHome();

describe("a transcript that Claude wrote", () => {
  // Written by Claude Code 2.1.312 behind claude-agent-acp 0.99.0, with most attachments and its requests left out.
  test("gives a call that was never permitted as one that never ran", async () => {
    const text = fixture("claude/refused.jsonl");
    expect(await claude.readOf(text)).toEqual([
      "user: run: echo once >> out.txt; echo there",
      "assistant: Bash toolu_fake0007",
      "error of toolu_fake0007: Tool permission request failed: Error: T",
    ]);
    expect((await claude.store.read(ID))?.at(-1)?.notRun).toBe(true);
  });

  test("is known by each of its lines, since any of them may come first", () => {
    for (const line of fixture("claude/refused.jsonl").trim().split("\n"))
      expect(CLAUDE.records?.isRecord(JSON.parse(line)), line).toBe(true);
  });

  test("gives tool turns, thoughts, images, a limit, two cancels and both sides of a compaction", async () => {
    expect(await claude.readOf(fixture("claude/turns.jsonl"))).toEqual([
      "user: hello there",
      "assistant: ANSWER to <hello there>",
      "user: please MODE:tool",
      "assistant: I will look. + Bash toolu_3a + Bash toolu_3b",
      "error of toolu_3b: Exit code 2\nls: cannot access '/nonexist",
      "result of toolu_3a: one",
      "assistant: ANSWER to <>",
      "user: please MODE:think",
      "assistant: (Let me think about it.) + ANSWER to <please MODE:think>",
      "user: please MODE:thinktool",
      "assistant: (Let me think about it.) + I will look. + Bash toolu_7a",
      "result of toolu_7a: one",
      "assistant: ANSWER to <>",
      "user: limit MODE:429",
      "user: after the limit",
      "assistant: ANSWER to <after the limit>",
      "user: img MODE:img FILE:/home/user/project/dot",
      "assistant: I will read it. + Read toolu_12a",
      "result of toolu_12a: image/png",
      "assistant: ANSWER to <>",
      'user: an image for you + image/png + [@a.txt](file:///x/a.txt) + [@b.txt](file:///x/b.txt) + \n<context ref="file:///x/a.txt">\nthe tex',
      "assistant: ANSWER to <[Image: source: /tmp/claude/-",
      "user: cancel MODE:slow",
      "assistant: w0 w1 w2 ",
      "user: canceltool MODE:slowtool",
      "assistant: I will look. + Bash toolu_16a",
      "error of toolu_16a: The user doesn't want to proceed with th",
      "user: after the cancels",
      "assistant: ANSWER to <after the cancels>",
      "user: /compact",
      "user: after the compaction",
      "assistant: ANSWER to <after the compaction>",
    ]);
  });

  test("gives a thought with its signature, and an answer with its model, its end and its cost", async () => {
    claude.put(fixture("claude/turns.jsonl"));
    const answer = (await claude.store.read(ID))?.find(({ id }) => id === "msg_fake0007");
    expect(answer).toEqual({
      id: "msg_fake0007",
      time: "2026-11-15T06:45:45.002Z",
      message: {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Let me think about it.", signature: "c2lnbmF0dXJl" },
          { type: "text", text: "I will look." },
          {
            type: "toolCall",
            id: "toolu_7a",
            name: "Bash",
            input: { command: "echo one", description: "Say one" },
          },
        ],
        model: "claude-opus-5-5",
        stopReason: "tool_use",
        usage: { inputTokens: 12, outputTokens: 7, cacheReadTokens: 3, cacheWriteTokens: 4 },
      },
    });
  });

  test("gives what was said during a turn, not the notices that come the same way", async () => {
    expect(await claude.readOf(fixture("claude/queued.jsonl"))).toEqual([
      "user: first MODE:midtool",
      "assistant: I will wait. + Bash toolu_2a",
      "result of toolu_2a: waited",
      "user: second while it runs",
      "assistant: ANSWER to <The user sent a new message w",
      "user: big MODE:big",
      "assistant: Bash toolu_4a",
      "result of toolu_4a: <persisted-output>\nOutput too large (164",
      "assistant: ANSWER to <>",
      "user: task MODE:task",
      "assistant: Agent toolu_7a",
      "result of toolu_7a: Async agent launched successfully. (This",
      "assistant: ANSWER to <>",
      "user: /context",
    ]);
  });

  test.each([
    ["claude/killed-text.jsonl", ["user: killed MODE:slow"]],
    [
      "claude/killed-text-resumed.jsonl",
      [
        "user: killed MODE:slow",
        "user: after the kill killed",
        "assistant: ANSWER to <after the kill killed>",
      ],
    ],
    ["claude/killed-tool.jsonl", ["user: killed MODE:slowtool", "assistant: I will look. + Bash toolu_40a"]],
    [
      "claude/killed-tool-resumed.jsonl",
      [
        "user: killed MODE:slowtool",
        "assistant: I will look. + Bash toolu_40a",
        "error of toolu_40a: [Tool call interrupted: the session ende",
        "user: after the kill killedtool",
        "assistant: ANSWER to <after the kill killedtool>",
      ],
    ],
  ])("gives what was left of a killed turn: %s", async (name, turn) => {
    expect(await claude.readOf(fixture(name))).toEqual([
      "user: hello",
      "assistant: ANSWER to <hello>",
      ...turn,
    ]);
  });
});
