/** A cancel comes whenever a person likes: it reaches the agent behind its prompt, and what is answered is true. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { setImmediate as soon } from "node:timers/promises";
import { expect, test } from "vitest";
import { eventually } from "../eventually.ts";
import { ENDS_BY_CANCEL, type MiniBridge, killableMiniBridge, miniBridge } from "../mini-agent.ts";

/** `_go` lets what is open act. A cancel that comes while there is no turn is dropped, as real agents drop it. */
const ENDS = `
  if (method === "_go") {
    for (const [session, open] of waiting) {
      appendFileSync(dir + "/acts", session + "\\n");
      answer(open, { stopReason: "end_turn" });
    }
    waiting.clear();
    answer(id, {});
    return true;
  }
${ENDS_BY_CANCEL}`;

const AT_ONCE = `
  const { method, params, id } = message;
  if (method === "session/prompt") {
    waiting.set(params.sessionId, id);
    return true;
  }
  ${ENDS}`;

/** Its turn begins a moment after the prompt has come. */
const LATER = `
  const { method, params, id } = message;
  if (method === "session/prompt") {
    setTimeout(() => {
      waiting.set(params.sessionId, id);
      chunk(params.sessionId, "begun");
    }, 30);
    return true;
  }
  ${ENDS}`;

/** It asks for leave when it is cancelled, and acts if it gets it. */
const ASKS_LATE = `
  const { method, params, id } = message;
  if (method === "session/prompt") {
    waiting.set(params.sessionId, id);
    return true;
  }
  if (method === "session/cancel") {
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
    const asked = { sessionId: params.sessionId, toolCall: { toolCallId: "t", title: "Act" }, options };
    say(JSON.stringify({ jsonrpc: "2.0", id: "leave", method: "session/request_permission", params: asked }));
    return true;
  }
  if (id === "leave") {
    for (const [session, open] of waiting) {
      if (message.result.outcome.outcome === "selected") appendFileSync(dir + "/acts", session + "\\n");
      answer(open, { stopReason: "cancelled" });
    }
    waiting.clear();
    return true;
  }
`;

function acts({ dir }: MiniBridge): readonly string[] {
  const path = join(dir, "acts");
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
}

/** Sends a prompt and cancels it after so many turns of the event loop; then whatever is still open acts. */
async function cancelAfter({ host }: MiniBridge, sessionId: string, ticks: number): Promise<unknown> {
  const asked = host.start(sessionId, "act");
  for (let tick = 0; tick < ticks; tick++) await soon();
  host.notify("session/cancel", { sessionId });
  const { result, error } = await host.answerTo(asked);
  await host.request("_go", { sessionId });
  return result?.["stopReason"] ?? error;
}

test.each([
  ["as soon as the prompt has come", AT_ONCE],
  ["a moment after the prompt has come", LATER],
])("an early cancel is not lost on an agent whose turn begins %s", async (_when, body) => {
  await using bridge = miniBridge(body);
  await bridge.host.initialize();
  const id = await bridge.host.newSession();
  const ends: unknown[] = [];
  for (const ticks of [0, 1, 3, 10, 30, 100, 300, 1_000]) ends.push(await cancelAfter(bridge, id, ticks));
  expect(ends).toEqual(ends.map(() => "cancelled"));
  expect(acts(bridge)).toEqual([]);
});

test("a cancel never reaches an agent before the prompt it is meant for", async () => {
  await using bridge = miniBridge(AT_ONCE);
  await bridge.host.initialize();
  const id = await bridge.host.newSession();
  for (const ticks of [0, 0, 1, 2, 5, 20]) await cancelAfter(bridge, id, ticks);
  let open = 0;
  for (const { method } of bridge.received()) {
    if (method === "session/prompt") open++;
    if (method === "session/cancel") expect(open).toBeGreaterThan(0);
  }
});

test("a prompt and its cancel in one piece end as cancelled in a conversation that is not open yet", async () => {
  await using bridge = killableMiniBridge(AT_ONCE);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  await host.restart();
  const params = { sessionId: id, prompt: [{ type: "text", text: "act" }] };
  const cancel = JSON.stringify({ jsonrpc: "2.0", method: "session/cancel", params: { sessionId: id } });
  const asked = host.askRaw(
    (own) => `${JSON.stringify({ jsonrpc: "2.0", id: own, method: "session/prompt", params })}\n${cancel}`,
  );
  expect((await host.answerTo(asked)).result).toMatchObject({ stopReason: "cancelled" });
  await host.request("_go", { sessionId: id });
  expect(acts(bridge)).toEqual([]);
});

test("a question that comes after the cancel is answered for the person, who is not asked", async () => {
  await using bridge = miniBridge(ASKS_LATE);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  const asked = host.start(id, "act");
  await eventually("the prompt is there", () => bridge.received("session/prompt").length > 0);
  host.notify("session/cancel", { sessionId: id });
  expect((await host.answerTo(asked)).result).toMatchObject({ stopReason: "cancelled" });
  expect(host.messages.filter(({ method }) => method === "session/request_permission")).toEqual([]);
  expect(acts(bridge)).toEqual([]);
});

/** It asks for leave behind its turn's end, when `_go` comes; in a turn that is not cancelled it asks before it ends. */
const ASKS_BEHIND_ITS_END = `
  const { method, params, id } = message;
  const ask = (name) => {
    const options = [{ optionId: "yes", name: "Yes", kind: "allow_once" }];
    const asked = { sessionId: params.sessionId, toolCall: { toolCallId: name, title: "Act" }, options };
    say(JSON.stringify({ jsonrpc: "2.0", id: name, method: "session/request_permission", params: asked }));
  };
  if (method === "session/prompt") {
    waiting.set(params.sessionId, id);
    if (textOf(params) === "ask") ask("in-turn");
    return true;
  }
${ENDS_BY_CANCEL}  if (method === "_go") {
    ask("behind");
    answer(id, {});
    return true;
  }
  if (id === "behind" && message.result.outcome.outcome === "selected") appendFileSync(dir + "/acts", "behind\\n");
  if (id === "in-turn") {
    for (const open of waiting.values()) answer(open, { stopReason: "end_turn" });
    waiting.clear();
  }
  return id === "behind" || id === "in-turn";
`;

test("a question behind the end of a cancelled turn asks nobody, and the next turn's does", async () => {
  await using bridge = miniBridge(ASKS_BEHIND_ITS_END);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  const questions = (): number =>
    host.messages.filter(({ method }) => method === "session/request_permission").length;
  const asked = host.start(id, "act");
  await eventually("the prompt is there", () => bridge.received("session/prompt").length > 0);
  host.notify("session/cancel", { sessionId: id });
  expect((await host.answerTo(asked)).result).toMatchObject({ stopReason: "cancelled" });
  await host.request("_go", { sessionId: id });
  await eventually("the question is answered", () => bridge.received().some((one) => one["id"] === "behind"));
  expect([questions(), acts(bridge)]).toEqual([0, []]);
  expect((await host.prompt(id, "ask")).result).toMatchObject({ stopReason: "end_turn" });
  expect([questions(), acts(bridge)]).toEqual([1, []]);
});

test("an agent that does not hear a cancel is ended before the host is told that the turn is over", async () => {
  await using bridge = miniBridge(`
    const { method, params, id } = message;
    if (method === "session/close" || method === "session/cancel") return true;
    if (method === "session/prompt") { waiting.set(params.sessionId, id); return true; }
    ${ENDS}`);
  const { host } = bridge;
  await host.initialize();
  const id = await host.newSession();
  const asked = host.start(id, "act");
  await eventually("the prompt is there", () => bridge.received("session/prompt").length > 0);
  host.notify("session/cancel", { sessionId: id });
  expect((await host.answerTo(asked)).result).toMatchObject({ stopReason: "cancelled" });
  await host.request("_go", { sessionId: id });
  expect(acts(bridge)).toEqual([]);
  expect(bridge.pids()).toHaveLength(2);
});
