/** What the dialect of a vendor changes, each habit by itself: an agent of a few lines, and a vendor nobody knows. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Clock } from "#conversation/clock";
import { AcpUpstream } from "#edges/acp/agent/acp-upstream";
import { fieldsOf, textIn } from "#log/json/json-fields";
import { parseConversationId } from "#log/ids";
import { classifyEnd } from "#turn/rules/classify";
import { NO_PRIOR_CONTEXT } from "#upstream/rules/prior-context";
import type { PromptEvent, SessionSettings, UpstreamSession } from "#upstream/upstream";
import { CLAUDE } from "#vendors/claude/claude";
import { CODEX } from "#vendors/codex/codex";
import { UNKNOWN_VENDOR } from "#vendors/known-vendors";
import { type Dialect, PLAIN_DIALECT } from "#vendors/vendor";
import { tempDir } from "../../../support/temp-dir.ts";
import { EXAMPLE_VENDOR } from "../../../vendors/example-vendor.ts";

/** Tells one half of a history with the load, the other half when it is asked for `_rest`. */
const AGENT = `
import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";
appendFileSync(process.argv[2] + "/env", JSON.stringify(process.env) + "\\n");
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\\n");
const answer = (id, result) => say({ id, result });
const tell = (sessionId, update) => say({ method: "session/update", params: { sessionId, update } });
const chunk = (sessionUpdate, text) => ({ sessionUpdate, content: { type: "text", text } });
let late = [chunk("agent_message_chunk", "An answer")];
createInterface({ input: process.stdin }).on("line", (line) => {
  appendFileSync(process.argv[2] + "/lines", line + "\\n");
  const { id, method, params } = JSON.parse(line);
  if (method === "initialize")
    return answer(id, { protocolVersion: 1, agentCapabilities: { loadSession: true } });
  if (method === "session/new") return answer(id, { sessionId: "s1" });
  if (method === "session/load") tell("s1", chunk("user_message_chunk", "A question"));
  if (method === "_rest") for (const update of late.splice(0)) tell("s1", update);
  if (method !== "session/prompt") return answer(id, {});
  for (const { text } of params.prompt) for (const said of JSON.parse(text)) say(said);
  answer(id, { stopReason: "end_turn" });
}).on("close", () => process.exit(0));
`;

const NOW_MS = Date.parse("2026-01-02T03:04:05Z");
let folder: ReturnType<typeof tempDir>;
let upstream: AcpUpstream | null = null;
beforeEach(() => {
  folder = tempDir();
  writeFileSync(join(folder.path, "agent.mjs"), AGENT);
});
afterEach(async () => {
  await upstream?.stop();
  folder[Symbol.dispose]();
});

// Time passes only while somebody waits, and brings what the agent has still to say.
const clock: Clock = {
  nowMs: () => NOW_MS,
  steadyMs: () => 0,
  sleep: async () => {
    const { connection } = await started().start();
    await connection.request("_rest", "{}");
  },
};

function started(): AcpUpstream {
  if (upstream === null) throw new Error("no agent yet");
  return upstream;
}

function agentWith(dialect: Partial<Dialect>, time: Clock = clock): AcpUpstream {
  const args = [join(folder.path, "agent.mjs"), folder.path];
  const env = { PATH: process.env["PATH"], CLAUDECODE: "1", KEPT: "2" };
  upstream = new AcpUpstream(
    {
      name: "scribe",
      vendor: { ...EXAMPLE_VENDOR, dialect: { ...PLAIN_DIALECT, ...dialect } },
      command: { command: process.execPath, args, cwd: folder.path, env },
      native: null,
    },
    {
      introduction: () => "{}",
      sessionParams: () => "{}",
      forward: () => undefined,
      agentEnded: () => undefined,
    },
    time,
  );
  return upstream;
}

function settings(more: Partial<SessionSettings> = {}): SessionSettings {
  const conversation = parseConversationId("mine");
  return { conversation, cwd: folder.path, model: null, config: {}, usedAt: null, ...more };
}

function received(method: string): readonly { readonly [name: string]: unknown }[] {
  const path = join(folder.path, "lines");
  const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
  return lines.map((line) => JSON.parse(line)).filter((message) => message.method === method);
}

/** What comes of a prompt during which the agent says these messages. */
async function saidDuring(
  session: UpstreamSession,
  ...said: readonly object[]
): Promise<readonly PromptEvent[]> {
  const text = JSON.stringify(said);
  return Array.fromAsync(
    session.prompt({
      content: [{ type: "text", text }],
      proven: true,
      settings: settings(),
      prior: NO_PRIOR_CONTEXT,
      runEffects: async () => [],
    }),
  );
}

function told(update: object): object {
  return { method: "session/update", params: { sessionId: "s1", update } };
}

test("a session is not loaded before its time, and then it is", async () => {
  const agent = agentWith({ reloadAfterMs: 60_000 });
  const ago = (ms: number): string => new Date(NOW_MS - ms).toISOString();
  const early = agent.resume("s1", settings({ usedAt: ago(59_000) }));
  await expect(early).rejects.toMatchObject({ ending: { class: "lost" } });
  expect(received("session/load")).toHaveLength(0);
  await agent.resume("s1", settings({ usedAt: ago(60_000) }));
  expect(received("session/load")).toHaveLength(1);
});

test.each([
  [true, ["A question", "An answer"]],
  [false, ["A question"]],
])(
  "a history that goes on after the answer is waited for where that is a habit: %s",
  async (replaysLate, shown) => {
    const session = await agentWith({ replaysLate }).resume("s1", settings());
    expect(session.transcript?.map(({ text }) => text)).toEqual(shown);
  },
);

test("a history that only the agent has is waited for as long as a session that it resumes", async () => {
  const sleep: Clock["sleep"] = (ms) => (ms < 60_000 ? Promise.resolve() : new Promise(() => undefined));
  const agent = agentWith({}, { ...clock, sleep });
  const history = await agent.replayedHistory("s1", settings());
  expect(history.map(({ text }) => text)).toEqual(["A question"]);
});

test("what the agent's program says is asked for, understood, and meant for us alone", async () => {
  const agent = agentWith({
    programMessages: {
      method: "_scribe/says",
      ask: { path: ["_meta", "scribe"], text: "true" },
      meaning: (message) => ({
        event: { type: "waiting", text: textIn(fieldsOf(message)["why"]) ?? "", delayMs: 0 },
        signs: { failed: true, error: { message: "The well is dry until tomorrow" } },
      }),
    },
  });
  const session = await agent.open(settings());
  expect(received("session/new")).toMatchObject([{ params: { _meta: { scribe: true } } }]);
  const events = await saidDuring(session, {
    method: "_scribe/says",
    params: { sessionId: "s1", message: { why: "thirst" } },
  });
  expect(events.map((event) => event.type)).toEqual(["waiting", "end"]);
  const end = events.at(-1);
  expect(end?.type === "end" ? classifyEnd(agent.endings, end.end).class : null).toBe("limit");
});

test("tools go by the names the vendor knows, and a compaction is none", async () => {
  const agent = agentWith({
    toolName: (meta) => textIn(meta["scribeTool"]),
    compactionTools: ["condense"],
  });
  const call = { sessionUpdate: "tool_call", title: "Working" };
  const events = await saidDuring(
    await agent.open(settings()),
    told({ ...call, toolCallId: "s", _meta: { scribeTool: "write" } }),
    told({ ...call, toolCallId: "t", _meta: { scribeTool: "condense" } }),
    told({ sessionUpdate: "tool_call_update", toolCallId: "t", status: "completed" }),
  );
  expect(events.map((event) => (event.type === "tool" ? event.name : event.type))).toEqual([
    "write",
    "other",
    "other",
    "end",
  ]);
});

test("a call that was refused has failed and never ran, by the words of its own vendor alone", async () => {
  const refused = { sessionUpdate: "tool_call_update", toolCallId: "t", status: "failed" };
  const rawOutput = "Permission to use Bash has been denied.";
  const kind = { _meta: { claudeCode: { toolName: "Bash", nonExecutionKind: "permission-rule" } } };
  const stopped = { _meta: { claudeCode: { toolName: "Bash", nonExecutionKind: "user-rejected" } } };
  const detailsOf = async (dialect: Dialect, update: object): Promise<unknown> => {
    const session = await agentWith(dialect).open(settings());
    const [event] = await saidDuring(session, told({ ...refused, ...update }));
    return event?.type === "tool" && [event.state, event.details];
  };
  expect(await detailsOf(CLAUDE.dialect, kind)).toEqual(["failed", { notRun: true }]);
  expect(await detailsOf(CLAUDE.dialect, stopped)).toEqual(["failed", undefined]);
  expect(await detailsOf(UNKNOWN_VENDOR.dialect, kind)).toEqual(["failed", { notRun: true }]);
  expect(await detailsOf(UNKNOWN_VENDOR.dialect, { rawOutput })).toEqual(["failed", undefined]);
});

test("a review of another call is no call of its own", async () => {
  const agent = agentWith(CODEX.dialect);
  const rawInput = { action: { type: "command", command: "rm -r build" } };
  const review = { toolCallId: "guardian_assessment:1", title: "Guardian Review", rawInput };
  const events = await saidDuring(
    await agent.open(settings()),
    told({ sessionUpdate: "tool_call", toolCallId: "c1", title: "rm -r build", kind: "execute" }),
    told({ sessionUpdate: "tool_call", ...review, kind: "think", status: "in_progress" }),
    told({ sessionUpdate: "tool_call_update", toolCallId: review.toolCallId, status: "completed" }),
    told({ sessionUpdate: "tool_call_update", toolCallId: "c1", status: "failed" }),
  );
  expect(events.map((event) => (event.type === "tool" ? [event.call, event.state] : event.type))).toEqual([
    ["c1", "started"],
    "other",
    "other",
    ["c1", "failed"],
    "end",
  ]);
});

test("an agent of no known vendor is understood by the signs of those that are known", () => {
  const { dialect } = UNKNOWN_VENDOR;
  expect(dialect.failureIn({ _meta: { codex: { threadStatus: { type: "systemError" } } } })).toEqual({
    failed: true,
  });
  expect(dialect.toolName({ claudeCode: { toolName: "Bash" } })).toBe("Bash");
});

test("no agent is started as if inside another", async () => {
  await agentWith({}).start();
  const env = JSON.parse(readFileSync(join(folder.path, "env"), "utf8"));
  expect([env.CLAUDECODE, env.KEPT]).toEqual([undefined, "2"]);
});
