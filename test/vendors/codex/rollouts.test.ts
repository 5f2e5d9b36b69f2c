import { appendFileSync, utimesSync } from "node:fs";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { codexStore } from "#vendors/codex/codex-store";
import type { NativeStore } from "#vendors/native-store";
import { briefMessages } from "#testing/vendors/records-cases";
import { aHome, fixture, type Home, ID } from "../homes.ts";

const TURNS = "01a1ddf7-f0af-7131-89ab-91fd1c8355f7";
const FORK = "01a1de01-8328-7fa0-bcb3-03015fd78c83";

let home: Home;
let store: NativeStore;
beforeEach(() => {
  home = aHome();
  store = codexStore({ home: home.dir });
});
afterEach(() => home[Symbol.dispose]());

function put(id: string, text: string, day = "2026/11/15"): string {
  return home.put(`sessions/${day}/rollout-2026-11-15T06-49-36-${id}.jsonl`, text);
}

function item(payload: object): object {
  return { type: "response_item", timestamp: "2026-01-02T03:04:05.678Z", payload };
}

function said(role: string, text: string): object {
  return item({ type: "message", role, content: [{ type: "input_text", text }] });
}

function lines(...records: readonly object[]): string {
  const meta = { type: "session_meta", payload: { id: ID, cwd: "/home/user/project", source: "cli" } };
  return [meta, ...records].map((record) => `${JSON.stringify(record)}\n`).join("");
}

const BEFORE_THE_FORK = [
  "user: hello there codex",
  "assistant: ANSWER to <hello there codex>",
  "user: please MODE:tool",
  "assistant: (Thinking it over.) + exec_command call_47",
  "result of call_47: Chunk ID: 1850e5\nWall time: 0.0000 secon",
  "assistant: ANSWER to <>",
  "user: please MODE:think",
  "assistant: (Thinking it over.) + ANSWER to <please MODE:think>",
  "user: please MODE:patch",
  "assistant: apply_patch call_50",
  "result of call_50: unsupported custom tool call: apply_patc",
  "assistant: ANSWER to <>",
  'user: an image for you + image/png + [@a.txt](file:///x/a.txt)\n<context ref="',
  "assistant: ANSWER to <an image for you\n\n[@a.txt](fi",
  "user: limit MODE:429",
  "user: cancel MODE:slow",
  "user: after the cancel",
  "assistant: ANSWER to <after the cancel>",
  "user: resumed elsewhere",
  "assistant: ANSWER to <resumed elsewhere>",
];

describe("a rollout that Codex wrote", () => {
  test("gives turns and tools, but neither its own notes nor the summary of a compaction", async () => {
    put(TURNS, fixture("codex/turns.jsonl"));
    expect(briefMessages(await store.read(TURNS))).toEqual([
      ...BEFORE_THE_FORK,
      "user: after compaction",
      "assistant: ANSWER to <after compaction>",
    ]);
  });

  test("of a fork gives what came before the fork as well, up to it", async () => {
    put(TURNS, fixture("codex/turns.jsonl"));
    put(FORK, fixture("codex/fork.jsonl"), "2026/11/16");
    expect(briefMessages(await store.read(FORK))).toEqual([
      ...BEFORE_THE_FORK,
      "user: in the fork",
      "assistant: ANSWER to <in the fork>",
    ]);
  });

  test("of a fork whose origin is gone gives its own part", async () => {
    put(FORK, fixture("codex/fork.jsonl"));
    expect(briefMessages(await store.read(FORK))).toHaveLength(2);
  });

  test("gives ids, times and the model", async () => {
    put(TURNS, fixture("codex/turns.jsonl"));
    expect((await store.read(TURNS))?.[7]).toEqual({
      id: "m_49",
      time: "2026-11-15T06:49:36.702Z",
      message: {
        role: "assistant",
        content: [
          { type: "thinking", thinking: "Thinking it over." },
          { type: "text", text: "ANSWER to <please MODE:think>" },
        ],
        model: "gpt-fake",
      },
    });
  });
});

describe("a rollout", () => {
  test("of an older version gives no wrapped instructions as the user's words", async () => {
    const notes = [
      "<environment_context>\n</environment_context>",
      "# AGENTS.md instructions for /x",
      "<turn_aborted>",
    ];
    put(ID, lines(...notes.map((note) => said("user", note)), said("developer", "x"), said("user", "hi")));
    expect(briefMessages(await store.read(ID))).toEqual(["user: hi"]);
  });

  test("marks what stands in place of an outcome", async () => {
    const output = (call_id: string, text: string): object =>
      item({ type: "function_call_output", call_id, output: text });
    put(ID, lines(said("user", "run"), output("1", "out"), output("2", "aborted by user after 0.1s")));
    expect((await store.read(ID))?.map(({ cutOff }) => cutOff)).toEqual([undefined, undefined, true]);
  });

  test("knows a command that a person refused for one that failed", async () => {
    const output = { type: "function_call_output", call_id: "1", output: "exec command rejected by user" };
    put(ID, lines(said("user", "run"), item(output)));
    expect((await store.read(ID))?.at(-1)?.message).toMatchObject({ role: "toolResult", isError: true });
  });

  test("leaves out the turns that were rolled back", async () => {
    const back = { type: "event_msg", payload: { type: "thread_rolled_back", num_turns: 2 } };
    const turns = ["one", "two", "three"].flatMap((word) => [said("user", word), said("assistant", word)]);
    put(ID, lines(...turns, back, said("user", "four")));
    expect(briefMessages(await store.read(ID))).toEqual(["user: one", "assistant: one", "user: four"]);
  });

  test("is read though lines are damaged, and arguments that are no JSON stay text", async () => {
    const call = item({ type: "function_call", name: "f", call_id: "1", arguments: '{"a":' });
    const path = put(ID, lines(said("user", "hi"), call));
    appendFileSync(path, 'damaged\n42\n{"type":"response_item","payload":{"type":"mess');
    expect((await store.read(ID))?.[1]?.message.content).toEqual([
      { type: "toolCall", id: "1", name: "f", input: '{"a":' },
    ]);
  });

  test("that names itself as its origin is read once", async () => {
    const meta = { type: "session_meta", payload: { id: ID, history_base: { thread_id: ID } } };
    put(ID, `${JSON.stringify(meta)}\n${JSON.stringify(said("user", "hi"))}\n`);
    expect(briefMessages(await store.read(ID))).toEqual(["user: hi"]);
  });

  test("changes its stamp when it changes", async () => {
    expect(await store.stamp(ID)).toBeNull();
    const path = put(ID, lines(said("user", "hi")));
    const before = await store.stamp(ID);
    expect(await store.stamp(ID)).toBe(before);
    appendFileSync(path, "\n");
    expect(await store.stamp(ID)).not.toBe(before);
  });

  test.each(["../x", "a/b", "\0", "", `${ID}\0`, ".*"])("is not found under a hostile id: %j", async (id) => {
    put(ID, lines(said("user", "hi")));
    expect(await store.read(id)).toBeNull();
    expect(await store.stamp(id)).toBeNull();
  });
});

describe("a list of rollouts", () => {
  test("is newest first, titled by the index or else by the first prompt", async () => {
    utimesSync(put(TURNS, fixture("codex/turns.jsonl")), 1, 1);
    home.put("session_index.jsonl", `${JSON.stringify({ id: TURNS, thread_name: "Named" })}\n`);
    put(
      ID,
      lines(said("user", "<environment_context>"), said("user", `two   ${"\u{1F600}".repeat(100)}\nlines`)),
      "2026/01/02",
    );
    expect(await store.list()).toMatchObject([
      { id: ID, cwd: "/home/user/project", title: `two ${"\u{1F600}".repeat(33)}…` },
      { id: TURNS, cwd: "/home/user/project", title: "Named", updatedAt: "1970-01-01T00:00:01.000Z" },
    ]);
  });

  test("passes over what is no session of a person", async () => {
    put(ID, "");
    put(TURNS, "no rollout\n");
    const meta = { type: "session_meta", payload: { id: FORK, source: { subagent: "review" } } };
    put(FORK, `${JSON.stringify(meta)}\n`);
    home.put("sessions/2026/11/15/other.jsonl", "{}\n");
    expect(await store.list()).toEqual([]);
  });
});
