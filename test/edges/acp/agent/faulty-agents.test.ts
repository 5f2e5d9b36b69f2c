/** What an agent may do wrong, and what it must not cost. */
import { expect, test } from "vitest";
import { miniBridge, runs } from "../mini-agent.ts";
import { eventually } from "../eventually.ts";

const BROKEN = `
  if (message.method === "session/prompt") {
    const { sessionId } = message.params;
    say('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"' + sessionId +
      '","update":{"sessionUpdate":"session_info_update","title":nothing}}}');
    say('{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"' + sessionId +
      '","toolCall":{"toolCallId":tru},"options":[]}}');
  }
`;

test("a line that is broken deep inside passes, and the turn goes on", async () => {
  await using bridge = miniBridge(BROKEN);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  const { result, text } = await host.prompt(id, "hello");
  expect(result).toEqual({ stopReason: "end_turn" });
  expect(text).toBe("You said hello");
  expect(host.lines.some((line) => line.includes('"title":nothing'))).toBe(true);
});

test("an answer that is broken deep inside fails its prompt and nothing else", async () => {
  await using bridge = miniBridge(`
    if (message.method === "session/prompt" && textOf(message.params) === "break") {
      say('{"jsonrpc":"2.0","id":' + message.id + ',"result":{"stopReason":"end_turn","usage":{"inputTokens":x}}}');
      return true;
    }
    if (message.method === "session/prompt" && textOf(message.params) === "refuse") {
      say('{"jsonrpc":"2.0","id":' + message.id + ',"error":{"code":1,"message":"no","data":{"a":x}}}');
      return true;
    }
  `);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  const [broken, refused] = [host.start(id, "break"), host.start(id, "refuse")];
  await host.until("both answers", () => {
    const ids = [broken, refused].filter((asked) =>
      host.lines.some((line) => line.includes(`"id":${asked},`) && !line.includes('"method"')),
    );
    return ids.length === 2 ? true : undefined;
  });
  expect((await host.prompt(id, "hello")).text).toBe("You said hello");
});

test("a deep tool output does not take the bridge down", async () => {
  await using bridge = miniBridge(`
    if (message.method === "session/prompt" && textOf(message.params) === "deep") {
      const deep = "[".repeat(50000) + "]".repeat(50000);
      say('{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"' + message.params.sessionId +
        '","update":{"sessionUpdate":"tool_call","toolCallId":"t1","title":"t","status":"completed","rawOutput":' + deep + '}}}');
    }
  `);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  await host.prompt(id, "deep");
  expect((await host.prompt(id, "hello")).text).toBe("You said hello");
});

test("an agent that refuses to be introduced is not left running", async () => {
  await using bridge = miniBridge(`
    if (message.method === "initialize") {
      fail(message.id, { code: -32603, message: "not today" });
      return true;
    }
  `);
  const { host } = bridge;
  const first = await host.request("initialize", { protocolVersion: 1 });
  expect(first.error?.message).toContain("not today");
  await host.request("initialize", { protocolVersion: 1 });
  await eventually("no process is left", () => bridge.pids().every((pid) => !runs(pid)));
});
