import { appendFileSync, truncateSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { claudeStore } from "../../../../src/edges/acp/native/claude/claude-store.ts";
import type { NativeStore } from "../../../../src/edges/acp/native/native.ts";
import { aHome, brief, fixture, type Home, ID } from "./homes.ts";

let home: Home;
let store: NativeStore;
beforeEach(() => {
  home = aHome();
  store = claudeStore({ configDir: home.dir });
});
afterEach(() => home[Symbol.dispose]());

function put(text: string, id = ID): string {
  return home.put(`projects/-home-user-project/${id}.jsonl`, text);
}

async function readOf(text: string): Promise<readonly string[]> {
  put(text);
  return brief(await store.read(ID));
}

interface Line {
  readonly type: string;
  readonly uuid?: string;
  readonly [name: string]: unknown;
}

function said(uuid: string, parentUuid: string | null, text: string, more: object = {}): Line {
  return { type: "user", uuid, parentUuid, message: { role: "user", content: text }, ...more };
}

function part(uuid: string, parentUuid: string | null, id: string, block: object): Line {
  return { type: "assistant", uuid, parentUuid, message: { id, role: "assistant", content: [block] } };
}

function lines(...records: readonly (Line | string)[]): string {
  return records
    .map((record) => `${typeof record === "string" ? record : JSON.stringify(record)}\n`)
    .join("");
}

describe("a transcript that Claude wrote", () => {
  test("gives tool turns, thoughts, images, a limit, two cancels and both sides of a compaction", async () => {
    expect(await readOf(fixture("claude-turns.jsonl"))).toEqual([
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
    put(fixture("claude-turns.jsonl"));
    const answer = (await store.read(ID))?.find(({ id }) => id === "msg_fake0007");
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
    expect(await readOf(fixture("claude-queued.jsonl"))).toEqual([
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
    ["claude-killed-text.jsonl", ["user: killed MODE:slow"]],
    [
      "claude-killed-text-resumed.jsonl",
      [
        "user: killed MODE:slow",
        "user: after the kill killed",
        "assistant: ANSWER to <after the kill killed>",
      ],
    ],
    ["claude-killed-tool.jsonl", ["user: killed MODE:slowtool", "assistant: I will look. + Bash toolu_40a"]],
    [
      "claude-killed-tool-resumed.jsonl",
      [
        "user: killed MODE:slowtool",
        "assistant: I will look. + Bash toolu_40a",
        "error of toolu_40a: [Tool call interrupted: the session ende",
        "user: after the kill killedtool",
        "assistant: ANSWER to <after the kill killedtool>",
      ],
    ],
  ])("gives what was left of a killed turn: %s", async (name, turn) => {
    expect(await readOf(fixture(name))).toEqual(["user: hello", "assistant: ANSWER to <hello>", ...turn]);
  });
});

describe("the branch that is read", () => {
  test("is the one of the last leaf", async () => {
    const text = lines(said("1", null, "one"), said("2", "1", "left behind"), said("3", "1", "taken up"));
    expect(await readOf(text)).toEqual(["user: one", "user: taken up"]);
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
    expect(await readOf(text)).toEqual(["user: one", "user: <local-command-stdout>typed"]);
  });

  test("has a command as it was typed", async () => {
    const command =
      "<command-message>init</command-message>\n<command-name>/init</command-name>\n<command-args>a <b>\nc</command-args>";
    const bare = "<command-name>/compact</command-name>\n <command-args></command-args>";
    expect(await readOf(lines(said("1", null, command), said("2", "1", bare)))).toEqual([
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
    expect(await readOf(lines(said("1", null, "one"), waits, said("9", "2", "later")))).toEqual([
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
    expect(await readOf(text)).toEqual(["assistant: A a + B b", "result of a: 1"]);
  });

  test("goes over a damaged line to the one before it, without what the line held", async () => {
    const text = lines(said("1", null, "one"), '{"type":"user","uuid":"2","pare', said("3", "2", "three"));
    expect(await readOf(text)).toEqual(["user: one", "user: three"]);
  });

  test("ends before a torn last line", async () => {
    const path = put(lines(said("1", null, "one"), said("2", "1", "two")));
    truncateSync(path, 120);
    expect(brief(await store.read(ID))).toEqual(["user: one"]);
  });

  test.each([
    ["a record that is its own parent", lines(said("1", "1", "one"))],
    ["two that are each other's", lines(said("1", "2", "one"), said("2", "1", "two"))],
    ["one id twice", lines(said("1", null, "one"), said("1", "1", "one"))],
  ])("is found in bounded time: %s", async (_case, text) => {
    put(text);
    expect(await store.read(ID)).toSatisfy(
      (messages: unknown) => messages === null || Array.isArray(messages),
    );
  });

  test.each([
    ["nothing", ""],
    ["no message", lines({ type: "ai-title", aiTitle: "x" }, "42", "null", "[]")],
  ])("is null for a file with %s", async (_case, text) => {
    put(text);
    expect(await store.read(ID)).toBeNull();
  });
});

describe("a long transcript is read in one go", () => {
  const COUNT = 20_000;

  test("as a chain of turns", async () => {
    const records = Array.from({ length: COUNT }, (_, n) =>
      said(`${n}`, n === 0 ? null : `${n - 1}`, `${n}`),
    );
    expect(await readOf(lines(...records))).toHaveLength(COUNT);
  }, 5_000);

  test("as one answer of many parts", async () => {
    const text = { type: "text", text: "x" };
    const records = Array.from({ length: COUNT }, (_, n) =>
      part(`${n}`, n === 0 ? null : `${n - 1}`, "m", text),
    );
    expect(await readOf(lines(...records))).toHaveLength(1);
  }, 5_000);

  test("as calls side by side, each with a result that nothing follows", async () => {
    const records = Array.from({ length: COUNT / 2 }, (_, n) => [
      part(`${n}`, n === 0 ? null : `${n - 1}`, "m", { type: "tool_use", id: `c${n}`, name: "A", input: {} }),
      said(`r${n}`, `${n}`, "", { message: { content: [{ type: "tool_result", tool_use_id: `c${n}` }] } }),
    ]);
    expect(await readOf(lines(...records.flat()))).toHaveLength(COUNT / 2 + 1);
  }, 5_000);
});

describe("ids from outside", () => {
  test.each(["../x", "a/b", "\0", "", "..", `${ID}/../${ID}`, `${ID}\0`, `${ID}\n`, "*"])(
    "that are no UUIDs find nothing: %j",
    async (id) => {
      put(lines(said("1", null, "one")));
      home.put("projects/x.jsonl", lines(said("1", null, "one")));
      expect(await store.read(id)).toBeNull();
      expect(await store.stamp(id)).toBeNull();
      expect(await store.move?.(id, home.dir)).toBe("missing");
    },
  );
});

describe("a stamp", () => {
  test("stays while the transcript does, changes with it and goes with it", async () => {
    expect(await store.stamp(ID)).toBeNull();
    const path = put(lines(said("1", null, "one")));
    const before = await store.stamp(ID);
    expect(await store.stamp(ID)).toBe(before);
    appendFileSync(path, lines(said("2", "1", "two")));
    const after = await store.stamp(ID);
    expect(after).not.toBe(before);
    // Another folder has a newer one by now, and the one known is gone.
    home[Symbol.dispose]();
    expect(await store.stamp(ID)).toBeNull();
  });
});

describe("a list", () => {
  const other = (n: number): string => ID.replace("a", `${n}`);

  test("is newest first and tells folder and title", async () => {
    const old = put(fixture("claude-turns.jsonl"), other(1));
    utimesSync(old, 1, 1);
    put(lines(said("1", null, "a first prompt", { cwd: "/home/user/project" })), other(2));
    expect(await store.list()).toMatchObject([
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
    put(lines(wandered, back, ...titles));
    expect(await store.list()).toMatchObject([{ cwd: "/home/user/project", title: "Mine" }]);
  });

  test("passes over what is no session", async () => {
    home.put("projects/-home-user-project/notes.jsonl", "{}\n");
    home.put("projects/stray.txt", "x");
    put("");
    put(lines(said("1", null, "to a sub-agent", { isSidechain: true, cwd: "/x" })), other(3));
    home.put(join("projects", "-x", `${other(4)}.jsonl`, "a-folder"), "x");
    expect(await store.list()).toEqual([]);
  });

  test("is empty where Claude never ran", async () => {
    expect(await claudeStore({ configDir: join(home.dir, "none") }).list()).toEqual([]);
  });
});
