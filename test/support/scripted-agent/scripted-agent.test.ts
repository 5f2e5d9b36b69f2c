/** The two halves of these tests against each other, without the bridge: the agent is what it says it is. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { openAgent } from "../../edges/acp/bridge.ts";
import { fixed, IN_TEXT, oddJson, oddMember, oddObject } from "../../edges/acp/odd-json.ts";
import { LIKES } from "./flavours.ts";

describe.each(LIKES)("like %s", (like) => {
  test("remembers what it was told, and nothing else", async () => {
    await using at = await openAgent({ like });
    const id = await at.host.newSession();
    expect((await at.host.prompt(id, "remember color=blue")).text).toBe("Noted color=blue.");
    const asked = await at.host.prompt(id, "> color=red\nwhat is color?");
    expect(asked.text).toBe("color is red");
    expect((await at.host.prompt(id, "what is shape?")).text).toBe("I do not know shape.");
    expect(asked.result).toMatchObject({ stopReason: "end_turn" });
    expect(at.agent.ids()).toEqual([id]);
    expect(at.agent.sent("what is color?")).toBe(1);
  });

  test("keeps its sessions over a restart, if it can come back to them", async () => {
    await using at = await openAgent({ like, caps: "load,resume" });
    const id = await at.host.newSession();
    await at.host.prompt(id, "remember color=blue");
    await at.host.restart();
    const from = at.host.messages.length;
    expect((await at.host.load(id)).error).toBeNull();
    await at.host.prompt(id, "say hello");
    const shown = JSON.stringify(at.host.updates(id, from));
    expect(shown).toContain("remember color=blue");
    expect(shown.indexOf("remember color=blue")).toBeLessThan(shown.indexOf("Noted color=blue."));
    expect((await at.host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect(at.agent.pids()).toHaveLength(2);
  });

  test("does not know a session that is lost, each in its own words", async () => {
    await using at = await openAgent({ like, caps: "load,resume,fork" });
    const id = await at.host.newSession();
    await at.host.prompt(id, "say hello");
    at.agent.lose(id);
    const params = { sessionId: id, cwd: at.dir, mcpServers: [] };
    expect((await at.host.request("session/resume", params)).error?.code).toBe(
      like === "claude" || like === "plain" ? -32002 : -32603,
    );
    const { error } = await at.host.prompt("nobody", "say hello");
    expect(error?.code).toBe(like === "opencode" || like === "gemini" ? -32602 : -32002);
  });

  test("fails as it is told to, as often as it is told to", async () => {
    await using at = await openAgent({ like });
    const id = await at.host.newSession();
    at.agent.control({ failNext: { kind: "401", times: 1 } });
    const refused = await at.host.prompt(id, "say hello");
    expect(refused.error?.code).toBe(like === "opencode" ? -32603 : -32000);
    expect((await at.host.prompt(id, "say hello")).error).toBeNull();
    const limited = await at.host.prompt(id, "fail limit-reset");
    expect(limited.error?.code).toBe(like === "plain" ? -32003 : -32603);
  });
});

test("is born on its first prompt, like Claude", async () => {
  await using at = await openAgent({ like: "claude" });
  const id = await at.host.newSession();
  expect((await at.host.load(id)).error?.code).toBe(-32002);
  await at.host.prompt(id, "say hello");
  expect((await at.host.load(id)).error).toBeNull();
  expect(at.agent.transcript(id)).not.toBeNull();
});

test("comes back to a transcript that somebody else wrote, like Claude", async () => {
  await using at = await openAgent({ like: "claude" });
  const id = await at.host.newSession();
  await at.host.prompt(id, "remember color=blue");
  const other = "00000000-0000-4000-8000-000000000001";
  const transcript = at.agent.transcript(id) ?? "";
  writeFileSync(join(transcript, "..", `${other}.jsonl`), `${readFileSync(transcript, "utf8")}{"torn`);
  await at.host.call("session/resume", { sessionId: other, cwd: at.dir });
  expect((await at.host.prompt(other, "what is color?")).text).toBe("color is blue");
});

test("answers in the middle of a replay, like Gemini", async () => {
  await using at = await openAgent({ like: "gemini" });
  const id = await at.host.newSession();
  await at.host.prompt(id, "say hello");
  const from = at.host.messages.length;
  await at.host.load(id);
  await at.host.prompt(id, "say there");
  const kinds = at.host.messages.slice(from).map((message) => message["method"] ?? "answer");
  expect(kinds.slice(0, 4)).toEqual(["session/update", "answer", "session/update", "session/update"]);
});

test("writes all chunks and the answer in the order it says them", async () => {
  await using at = await openAgent({ like: "codex" });
  const id = await at.host.newSession();
  expect((await at.host.prompt(id, "chunks 5")).text).toBe("c1 c2 c3 c4 c5 ");
});

test("asks before a tool, heeds the answer, and tells of what it did", async () => {
  await using at = await openAgent({ like: "claude", ask: true });
  const id = await at.host.newSession();
  const file = join(at.dir, "side");
  at.host.policy = "reject";
  await at.host.prompt(id, `tool ${file} one`);
  expect(existsSync(file)).toBe(false);
  at.host.policy = "allow";
  const done = await at.host.prompt(id, `tool ${file} two`);
  expect(readFileSync(file, "utf8")).toBe("two\n");
  const states = done.updates.map((update) => update["status"]).filter((state) => state !== undefined);
  expect(states).toEqual(["pending", "in_progress", "completed"]);
});

test("stops when it is told to, and dies when it is told to", async () => {
  await using at = await openAgent({ like: "codex" });
  const id = await at.host.newSession();
  const asked = at.host.start(id, "partial half a word");
  await at.host.update((update) => update["sessionUpdate"] === "agent_message_chunk");
  at.host.notify("session/cancel", { sessionId: id });
  expect((await at.host.answerTo(asked)).result).toMatchObject({ stopReason: "cancelled" });
  await expect(at.host.prompt(id, "die")).rejects.toThrow("the process is gone");
});

test("asks the host for files and terminals, and tells what no schema knows", async () => {
  await using at = await openAgent({ like: "plain" });
  at.host.answers.set("fs/read_text_file", () => ({ content: "inside" }));
  at.host.answers.set("terminal/create", () => ({ terminalId: "t1" }));
  at.host.answers.set("terminal/wait_for_exit", () => ({ exitCode: 0 }));
  at.host.answers.set("terminal/output", () => ({ output: "out", truncated: false }));
  at.host.answers.set("terminal/release", () => ({}));
  at.host.answers.set("_vendor/ask", () => ({ because: 1 }));
  const id = await at.host.newSession();
  expect((await at.host.prompt(id, "read-file /x")).text).toContain("inside");
  expect((await at.host.prompt(id, "terminal ls")).text).toContain("out");
  expect((await at.host.prompt(id, "unknown")).text).toContain('{"because":1}');
  expect(at.host.bytes().includes("12345678901234567890")).toBe(true);
});

test("forgets its settings with the process", async () => {
  await using at = await openAgent({ like: "opencode" });
  const id = await at.host.newSession();
  await at.host.call("session/set_mode", { sessionId: id, modeId: "plan" });
  await at.host.call("session/set_config_option", { sessionId: id, configId: "model", value: "large" });
  expect((await at.host.prompt(id, "config")).text).toContain('"mode":"plan","model":"large"');
  await at.host.restart();
  await at.host.load(id);
  expect((await at.host.prompt(id, "config")).text).toContain('"mode":"default","model":"small"');
});

test("writes raw lines as they are given, and any of them is JSON, however odd", async () => {
  await using at = await openAgent({ like: "plain" });
  const id = await at.host.newSession();
  const line = oddObject([oddMember("method", fixed('"x"')), oddMember("payload", oddJson)]);
  await fc.assert(
    fc.asyncProperty(fc.array(line, { minLength: 1, maxLength: 5 }), async (lines) => {
      for (const one of lines) JSON.parse(one);
      const from = at.host.lines.length;
      await at.host.prompt(id, `raw ${Buffer.from(lines.join("\n")).toString("base64")}`);
      const came = at.host.lines.slice(from, from + lines.length).map((one) => one.toString("utf8"));
      expect(came).toEqual(lines.map((one) => one.replaceAll(IN_TEXT, id)));
    }),
    { numRuns: 50 },
  );
});
