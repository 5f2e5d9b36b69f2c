/** What another agent is told when it takes a conversation over, what people are told of it, and what is told once. */
import { expect, test } from "vitest";
import { failureOf, holdfastEvents, metaOf, openBridge } from "../bridge.ts";
import { type Fields, fieldsOf, textOf } from "../../../support/scripted-agent/wire.ts";

const PICTURE = { type: "image", mimeType: "image/png", data: "AAAA" };

/** Everything a person reads among updates. */
function readBy(updates: readonly Fields[]): string {
  const words = updates.map((update) => {
    const { content, title, description } = update;
    return [textOf(fieldsOf(content)["text"]), textOf(title), textOf(description)].join(" ");
  });
  return words.join("\n");
}

test("an agent that is switched to after 40 turns knows the first, and people are told what it is told", async () => {
  await using bridge = await openBridge({ like: "claude", others: ["codex"] });
  const { host } = bridge;
  const made = await host.call("session/new", { cwd: bridge.dir, mcpServers: [] });
  const id = String(made["sessionId"]);
  await host.prompt(id, "remember color=blue");
  for (let turn = 1; turn < 40; turn++) await host.prompt(id, `remember k${turn}=v${turn}`);
  const switched = await host.prompt(id, "/agent codex");
  expect(switched.text).toContain("all 80 messages");
  expect(holdfastEvents(switched.updates).at(-1)).toMatchObject({
    priorContext: { messages: 80, leftOut: 0 },
  });
  expect((await host.prompt(id, "what is color?")).text).toMatch(/color is blue$/);
});

test("a session in which nothing was said holds all there is", async () => {
  await using bridge = await openBridge({ like: "codex", others: ["claude"] });
  const made = await bridge.host.call("session/new", { cwd: bridge.dir, mcpServers: [] });
  expect(metaOf(made)["fidelity"]).toBe("native");
});

test.each([
  ["claude", "429", "Request rejected"],
  ["codex", "limit-reset", "hit your usage limit"],
] as const)("what %s says of its limit is read once before the answer", async (like, kind, sentence) => {
  await using bridge = await openBridge({ like });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  agent.control({ failNext: { kind, times: 9 } });
  const { updates, error } = await host.prompt(id, "say something");
  expect(readBy(updates).split(sentence).length - 1).toBeLessThanOrEqual(1);
  expect(JSON.stringify(error)).toContain(sentence);
  expect(readBy(updates)).toContain("reached its limit");
});

test("every failed prompt has a class, and a code where the bridge refused it", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  const failed = async (params: Fields): Promise<Fields> => {
    const { error } = await host.answerTo(host.ask("session/prompt", params));
    return failureOf(error);
  };
  expect(await failed({ sessionId: id })).toMatchObject({ class: "failed", code: "invalid_request" });
  const nowhere = { sessionId: "nowhere", prompt: [{ type: "text", text: "hello" }] };
  expect(await failed(nowhere)).toMatchObject({ class: "failed", code: "conversation_not_found" });
  agent.control({ failNext: { kind: "credit", times: 1 } });
  expect(await failed({ ...nowhere, sessionId: id })).toMatchObject({ class: "credit", kept: true });
});

test.each(["allow", "reject"] as const)(
  "a picture that makes every request fail is asked about, and no session is given it again (%s)",
  async (policy) => {
    await using bridge = await openBridge({ like: "claude" });
    const { host, agent } = bridge;
    host.policy = policy;
    const id = await host.newSession();
    const shown = host.ask("session/prompt", {
      sessionId: id,
      prompt: [{ type: "text", text: "remember color=blue" }, PICTURE],
    });
    await host.answerTo(shown);
    agent.control({ failNext: { kind: "image", times: 1 } });
    const { updates, error } = await host.prompt(id, "say something");
    expect(error).toBeNull();
    const hidden = policy === "allow";
    expect(holdfastEvents(updates)).toContainEqual(expect.objectContaining({ event: "poisoned", hidden }));
    expect(await bridge.entries(id, "hide")).toHaveLength(hidden ? 1 : 0);
    const first = agent.of("session/prompt").length;
    await host.prompt(id, "say more");
    expect(JSON.stringify(agent.of("session/prompt").slice(first - 1))).not.toContain("AAAA");
  },
);
