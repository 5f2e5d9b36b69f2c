/** What a host may do at an awkward moment. */
import { expect, test } from "vitest";
import { ENDS_BY_CANCEL, miniBridge, runs } from "../mini-agent.ts";
import { fieldsOf } from "../../../support/scripted-agent/wire.ts";

/** A turn that speaks, and goes on when it is told to by a request of the host or ended by a cancel. */
const SLOW = `
  const { method, params, id } = message;
  if (method === "session/prompt" && textOf(params).startsWith("slow")) {
    chunk(params.sessionId, "begun ");
    waiting.set(params.sessionId, id);
    return true;
  }
  if (method === "_go") {
    chunk(params.sessionId, "gone on ");
    const open = waiting.get(params.sessionId);
    waiting.delete(params.sessionId);
    answer(id, {});
    answer(open, { stopReason: "end_turn" });
    return true;
  }
${ENDS_BY_CANCEL}`;

const begun = (update: object): boolean => JSON.stringify(update).includes("begun");

test("a load that is refused during a turn leaves the turn's words their way", async () => {
  await using bridge = miniBridge(SLOW);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  const from = host.messages.length;
  const asked = host.start(id, "slow");
  await host.update(begun);
  await host.load(id);
  host.ask("_go", { sessionId: id });
  const { text } = await host.finish(id, asked, from);
  expect(text).toContain("gone on");
  expect((await host.prompt(id, "hello")).text).toBe("You said hello");
});

test("two loads at once are both answered with the history", async () => {
  await using bridge = miniBridge(SLOW);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  await host.prompt(id, "hello");
  const params = { sessionId: id, cwd: bridge.dir, mcpServers: [] };
  const asked = [host.ask("session/load", params), host.ask("session/load", params)];
  for (const one of asked) expect((await host.answerTo(one)).error).toBeNull();
  expect((await host.prompt(id, "again")).text).toBe("You said again");
});

test("a prompt that waits behind a turn does not run once the host is gone", async () => {
  await using bridge = miniBridge(SLOW);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  host.start(id, "slow");
  await host.update(begun);
  host.start(id, "slow second");
  await host.call("session/list", {});
  expect(await host.hangUp()).toBe(0);
  expect(bridge.received("session/prompt")).toHaveLength(1);
  expect(bridge.pids()).toHaveLength(1);
  expect(bridge.pids().every((pid) => !runs(pid))).toBe(true);
});

test.each(["session/close", "session/delete"])(
  "%s does not wait for prompts behind the turn",
  async (method) => {
    await using bridge = miniBridge(SLOW);
    const { host } = bridge;
    await host.initialize();
    const id = await host.newSession();
    const first = host.start(id, "slow");
    await host.update(begun);
    const second = host.start(id, "slow second");
    await host.call("session/list", {});
    await host.call(method, { sessionId: id });
    for (const asked of [first, second])
      expect((await host.answerTo(asked)).result).toMatchObject({ stopReason: "cancelled" });
    expect(bridge.received("session/prompt")).toHaveLength(1);
  },
);

test("a host that takes back a request takes back that request, by the agent's id of it", async () => {
  await using bridge = miniBridge(`
    if (message.method === "_wait") return true;
    if (message.method === "$/cancel_request") {
      fail(message.params.requestId, { code: -32800, message: "cancelled" });
      return true;
    }
  `);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  await host.call("session/list", {});
  await host.call("session/list", {});
  const asked = host.ask("_wait", { sessionId: id });
  await host.call("_other", { sessionId: id });
  host.notify("$/cancel_request", { requestId: asked });
  expect((await host.answerTo(asked)).error?.code).toBe(-32800);
  const [waiting] = bridge.received("_wait");
  const [taken] = bridge.received("$/cancel_request");
  expect(fieldsOf(taken?.["params"])["requestId"]).toBe(waiting?.["id"]);
});

test("a host that takes back a prompt cancels its turn", async () => {
  await using bridge = miniBridge(SLOW);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  const asked = host.start(id, "slow");
  await host.update(begun);
  host.notify("$/cancel_request", { requestId: asked });
  expect((await host.answerTo(asked)).result).toMatchObject({ stopReason: "cancelled" });
  expect(bridge.received("$/cancel_request")).toHaveLength(0);
});

test("the answer to a request does not overtake what the agent said of the session before it", async () => {
  await using bridge = miniBridge(`
    const { method, params, id } = message;
    if (method === "session/prompt" && textOf(params).startsWith("slow")) {
      waiting.set(params.sessionId, id);
      chunk(params.sessionId, "begun ");
      return true;
    }
    if (method === "_tell" || method === "session/set_mode") {
      const lines = [1, 2, 3].map((n) => JSON.stringify({ jsonrpc: "2.0", method: "session/update", params: {
        sessionId: params.sessionId, update: { sessionUpdate: "agent_message_chunk", content: { type: "text", text: "word" + n } } } }));
      say([...lines, JSON.stringify({ jsonrpc: "2.0", id, result: {} })].join("\\n"));
      return true;
    }
    if (method === "_end") { answer(id, {}); answer(waiting.get(params.sessionId), { stopReason: "end_turn" }); return true; }
  `);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  const turn = host.start(id, "slow");
  await host.update(begun);
  for (const method of ["_tell", "session/set_mode"]) {
    const from = host.messages.length;
    const asked = host.ask(method, { sessionId: id, modeId: "m" });
    await host.answerTo(asked);
    const seen = host.messages.slice(from);
    expect(seen.map((message) => message["method"] ?? message["id"])).toEqual([
      "session/update",
      "session/update",
      "session/update",
      asked,
    ]);
  }
  host.ask("_end", { sessionId: id });
  await host.answerTo(turn);
});
