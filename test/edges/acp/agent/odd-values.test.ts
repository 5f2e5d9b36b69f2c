/** Odd values in familiar places: the turn goes on, and what was said is in the log. */
import { expect, test } from "vitest";
import { AcpHost } from "../host.ts";
import { eventually } from "../eventually.ts";
import { killableMiniBridge, miniBridge, runs } from "../mini-agent.ts";

const ODD: readonly object[] = [
  { sessionUpdate: "tool_call", toolCallId: "", title: "", status: "completed" },
  { sessionUpdate: "tool_call", toolCallId: "__proto__", title: "t", status: "constructor" },
  {
    sessionUpdate: "tool_call_update",
    toolCallId: "../\u001b[31m\u0000",
    status: "completed",
    rawOutput: "\ud800",
  },
  { sessionUpdate: "tool_call", toolCallId: "x".repeat(5_000), title: "t".repeat(5_000), rawInput: "words" },
  { sessionUpdate: "tool_call_update", toolCallId: "n", status: 7, rawInput: 12, content: "c", locations: 3 },
  { sessionUpdate: "agent_message_chunk", messageId: 12, content: { type: "text", text: "odd" } },
  { sessionUpdate: "agent_message_chunk", content: null },
  { sessionUpdate: "plan" },
  { sessionUpdate: "session_info_update", title: "a\nb\u001b[2J\ud800", _meta: { holdfast: 1 } },
  { sessionUpdate: "current_mode_update", currentModeId: "" },
  { sessionUpdate: "config_option_update", configOptions: [null, 3, { id: 7, currentValue: null }] },
  { sessionUpdate: null },
  JSON.parse('{"__proto__":{"polluted":true},"sessionUpdate":"x"}') as object,
  { sessionUpdate: "tool_call", toolCallId: 7, title: "a number" },
  {},
];

test.each(ODD.map((update) => [JSON.stringify(update).slice(0, 90), update] as const))(
  "the turn survives %s",
  async (_name, update) => {
    await using bridge = miniBridge(`
      if (message.method === "session/prompt") update(message.params.sessionId, ${JSON.stringify(update)});
    `);
    const { host } = bridge;
    await host.initialize();
    const id = await host.newSession();
    const { error, text } = await host.prompt(id, "hello");
    expect(error).toBeNull();
    expect(text).toContain("You said hello");
    expect((await host.load(id)).error).toBeNull();
    expect((await host.prompt(id, "again")).error).toBeNull();
  },
);

test("odd numbers in the usage of an answer do not fail it", async () => {
  await using bridge = miniBridge(`
    if (message.method === "session/prompt") {
      chunk(message.params.sessionId, "said");
      say('{"jsonrpc":"2.0","id":' + message.id + ',"result":{"stopReason":"end_turn","usage":{"inputTokens":1.5,"outputTokens":12345678901234567890}}}');
      return true;
    }
  `);
  const { host } = bridge;
  await host.initialize();
  expect((await host.prompt(await host.newSession(), "hello")).error).toBeNull();
});

test("an agent that closes its output and stays is ended, and another takes its place", async () => {
  await using bridge = miniBridge(`
    if (message.method === "_mute") {
      globalThis.kept = setInterval(() => undefined, 1000);
      import("node:fs").then((fs) => fs.closeSync(1));
      return true;
    }
  `);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  await host.prompt(id, "hello");
  expect((await host.request("_mute", { sessionId: id })).error).not.toBeNull();
  expect((await host.prompt(id, "again")).text).toContain("You said again");
  const [first = 0] = bridge.pids();
  await eventually("the mute one is gone", () => !runs(first));
});

test("a second bridge on a conversation in a turn shows it, is told that it is busy, and harms nothing", async () => {
  await using bridge = killableMiniBridge(`
    const { method, params, id } = message;
    if (method === "session/prompt" && textOf(params) === "slow") { chunk(params.sessionId, "begun "); waiting.set("p", id); return true; }
    if (method === "_go") { answer(id, {}); chunk(params.sessionId, "done"); answer(waiting.get("p"), { stopReason: "end_turn" }); return true; }
  `);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  const from = host.messages.length;
  const asked = host.start(id, "slow");
  await host.update((update) => JSON.stringify(update).includes("begun"));
  const other = new AcpHost(bridge.command);
  try {
    await other.initialize();
    expect((await other.load(id)).error).toBeNull();
    const { error: busy } = await other.prompt(id, "me too");
    expect(busy?.data).toMatchObject({ sessionId: id, holdfast: { code: "busy" } });
    host.ask("_go", { sessionId: id });
    const { text, error } = await host.finish(id, asked, from);
    expect([text, error]).toEqual(["begun done", null]);
    expect((await other.load(id)).error).toBeNull();
    expect((await other.prompt(id, "hello")).text).toContain("You said hello");
  } finally {
    await other.hangUp();
  }
});
