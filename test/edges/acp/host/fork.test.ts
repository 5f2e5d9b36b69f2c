/** Scenarios 16 to 18: a branch of a conversation, at its end or at a message, while the source goes on. */
import { describeError } from "#operations/views/error-steps";
import { describe, expect, test } from "vitest";
import { systemClock } from "#conversation/clock";
import { isLogError } from "#log/errors";
import { openHoldfast } from "#open";
import { fork as forkOperation } from "#operations/conversations";
import { perform } from "#operations/operation";
import { runHere } from "../../cli/cli-here.ts";
import { PREAMBLE } from "../../../support/scripted-agent/agent-folder.ts";
import { metaOf, openBridge, type Bridge, openKillable } from "../bridge.ts";
import { type Fields, fieldsOf, textOf } from "../../../support/scripted-agent/wire.ts";

async function fork(bridge: Bridge, id: string, params: Fields = {}): Promise<Fields> {
  return bridge.host.call("session/fork", { sessionId: id, cwd: bridge.dir, mcpServers: [], ...params });
}

describe.each(["claude", "codex", "opencode", "gemini", "plain"] as const)("with %s", (like) => {
  const native = like === "claude" || like === "codex" || like === "opencode";

  test("scenario 17: a fork at the head knows what its source knew, and from then on they go apart", async () => {
    await using bridge = await openBridge({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    const forked = await fork(bridge, id);
    const branch = textOf(forked["sessionId"]);
    expect(branch).not.toBe(id);
    expect(metaOf(forked)["fidelity"]).toBe(native ? "native" : "preamble");
    expect(agent.of("session/fork")).toHaveLength(native ? 1 : 0);
    expect((await host.prompt(branch, "what is color?")).text).toBe("color is blue");
    await host.prompt(branch, "remember shape=round");
    await host.prompt(id, "remember color=red");
    expect((await host.prompt(id, "what is shape?")).text).toBe("I do not know shape.");
    expect((await host.prompt(branch, "what is color?")).text).toBe("color is blue");
    expect(bridge.leaks()).toEqual([]);
    expect(await bridge.chain(id)).toHaveLength(1);
  });

  test("scenario 16: a fork that the agent shows again is shown to nobody", async () => {
    await using bridge = await openBridge({ like });
    const { host } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    const from = host.messages.length;
    const branch = textOf((await fork(bridge, id))["sessionId"]);
    expect((await host.prompt(branch, "say here")).text).toBe("here");
    const told = JSON.stringify(host.messages.slice(from));
    expect(told).not.toContain("Noted color=blue.");
    expect(told).not.toContain("remember color=blue");
    expect((await bridge.context(branch)).filter((words) => words.includes("Noted"))).toHaveLength(1);
  });

  test("scenario 18: a fork at an entry knows what came before it and nothing of what came after", async () => {
    await using bridge = await openBridge({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    await host.prompt(id, "remember shape=round");
    const answer = (await bridge.entries(id, "message")).find(
      (entry) => fieldsOf(entry["message"])["role"] === "assistant",
    );
    const at = textOf(answer?.["id"]);
    const forked = await fork(bridge, id, { _meta: { holdfast: { at } } });
    const branch = textOf(forked["sessionId"]);
    const before = agent.prompts().length;
    expect((await host.prompt(branch, "what is color?")).text).toBe("color is blue");
    expect((await host.prompt(branch, "what is shape?")).text).toBe("I do not know shape.");
    expect(metaOf(forked)["fidelity"]).toBe(like === "claude" ? "transcript" : "preamble");
    expect(agent.prompts().slice(before).join("\n")).not.toContain("shape=round");
    expect((await host.prompt(id, "what is shape?")).text).toBe("shape is round");
    expect(bridge.leaks()).toEqual([]);
  });
});

test("scenario 18: a fork at a message the host saw, named as the host's own extension names it", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  const first = await host.prompt(id, "remember color=blue");
  await host.prompt(id, "remember shape=round");
  const messageId = first.updates.find((update) => update["messageId"] !== undefined)?.["messageId"];
  const _meta = { jetbrains: { air: { fork: { version: 1, messageId } } } };
  const branch = textOf((await fork(bridge, id, { _meta }))["sessionId"]);
  expect((await host.prompt(branch, "what is color?")).text).toBe("color is blue");
  expect((await host.prompt(branch, "what is shape?")).text).toBe("I do not know shape.");
  expect(bridge.leaks()).toEqual([]);
  expect(agent.of("session/fork").map(({ params }) => params["sessionId"])).toEqual(
    agent.of("session/fork").map(() => agent.ids()[0]),
  );
});

test("a fork has one title, whoever forks and whatever its agent calls it, and a prompt does not change it", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue\nand nothing else");
  const branch = textOf((await fork(bridge, id))["sessionId"]);
  const from = host.messages.length;
  await host.prompt(branch, "title Another name");
  const command = await runHere(bridge.store, ["fork", id, "--id", "by-command"]);
  expect(command.status).toBe(0);
  await using holdfast = await openHoldfast({ store: bridge.store });
  await (await holdfast.conversation(id)).fork({ id: "by-library" });
  const { sessions } = await host.call("session/list", {});
  const titles = new Map((sessions as readonly Fields[]).map((one) => [one["sessionId"], one["title"]]));
  const title = "remember color=blue (fork)";
  expect([branch, "by-command", "by-library"].map((one) => titles.get(one))).toEqual([title, title, title]);
  const told = host.updates(branch, from).flatMap((update) => update["title"] ?? []);
  expect(told).toEqual([title]);
});

test("a fork and an edit at an entry that does not exist are rejected as the operations reject them", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, dir } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "say hello");
  await using holdfast = await openHoldfast({ store: bridge.store });
  const input = { conversation: id, at: "nobody" };
  const rejected = await perform(forkOperation, input, { holdfast, clock: systemClock }).catch(
    (error: unknown) => error,
  );
  if (!isLogError(rejected)) throw new TypeError("the operation does not reject it");
  const [code, message] = [rejected.code, describeError(rejected)];
  const [params, prompt] = [{ sessionId: id, cwd: dir, mcpServers: [] }, [{ type: "text", text: "no" }]];
  const requests = [
    host.request("session/fork", { ...params, _meta: { holdfast: { at: "nobody" } } }),
    host.request("session/prompt", { ...params, prompt, _meta: { holdfast: { edit: "nobody" } } }),
  ];
  for (const { error } of await Promise.all(requests))
    expect(error).toMatchObject({ message, data: { holdfast: { code, message } } });
});

test("a fork at a message nobody knows is refused, and makes nothing", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, dir } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "say hello");
  for (const holdfast of [{ at: "nobody" }, { at: 1 }, { att: "nobody" }]) {
    const params = { sessionId: id, cwd: dir, mcpServers: [], _meta: { holdfast } };
    expect((await host.request("session/fork", params)).error?.code).toBe(-32602);
  }
  const { sessions } = await host.call("session/list", {});
  expect(sessions).toHaveLength(1);
});

test("a fork of a fork, and forks of a source that rolls over, each keep to their own", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const branch = textOf((await fork(bridge, id))["sessionId"]);
  await host.prompt(branch, "remember shape=round");
  const twig = textOf((await fork(bridge, branch))["sessionId"]);
  agent.control({ failNext: { kind: "expired", times: 1 } });
  await host.prompt(id, "say rolled over");
  expect((await host.prompt(twig, "what is shape?")).text).toBe("shape is round");
  expect((await host.prompt(twig, "what is color?")).text).toBe("color is blue");
  expect((await host.prompt(id, "what is shape?")).text).toBe("I do not know shape.");
  expect(new Set([id, branch, twig]).size).toBe(3);
  expect(bridge.leaks()).toEqual([]);
});

describe.each(["claude", "codex", "opencode"] as const)("a fork that %s makes", (like) => {
  test.each([
    ["is told nothing where the record is whole", 0, {}],
    ["is told nothing where its own record is written later", 0, { forksUnwritten: true }],
    ["is told what the record has lost", 2, {}],
    ["is told what its source's record has lost where its own is written later", 2, { forksUnwritten: true }],
  ])("%s", async (_, lost, control) => {
    await using bridge = await openBridge({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    for (const prompt of ["remember color=blue", "remember shape=round", "say hello"])
      await host.prompt(id, prompt);
    const record = agent.session(agent.ids()[0] ?? "");
    agent.write({ ...record, messages: record.messages.slice(lost) });
    agent.control(control);
    // Another process of the agent knows the record only.
    const other = await bridge.another();
    const forked = await other.call("session/fork", { sessionId: id, cwd: bridge.dir, mcpServers: [] });
    expect(agent.of("session/fork")).toHaveLength(1);
    expect(metaOf(forked)["fidelity"]).toBe(lost === 0 ? "native" : "preamble");
    expect((await other.prompt(textOf(forked["sessionId"]), "what is color?")).text).toBe("color is blue");
    expect(agent.prompts().at(-1)?.includes(PREAMBLE)).toBe(lost > 0);
  });
});

test("a fork is listed in its folder, and loading it there ends none of its sessions", async () => {
  await using bridge = await openKillable({ like: "codex" });
  const { host, dir } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const params = { sessionId: id, cwd: dir, mcpServers: [] };
  const branch = textOf((await host.call("session/fork", params))["sessionId"]);
  await host.prompt(branch, "remember shape=round");
  const links = async (): Promise<readonly string[]> =>
    (await bridge.chain(branch)).map((link) => `${link.id} ${link.reason}`);
  const before = await links();
  await host.restart();
  const { sessions } = await host.call("session/list", { cwd: dir });
  expect(JSON.stringify(sessions)).toContain(branch);
  await host.load(branch);
  expect((await host.prompt(branch, "what is shape?")).text).toBe("shape is round");
  expect(await links()).toEqual(before);
});
