/** Editing a message, forking in place and going back to an older session, without leaving the conversation. */
import { describe, expect, test } from "vitest";
import { type Bridge, holdfastEvents, metaOf, openBridge } from "../bridge.ts";
import type { Prompted } from "../host.ts";
import { type Fields, fieldsOf, textOf } from "../../../support/scripted-agent/wire.ts";

async function promptFrom(
  bridge: Bridge,
  sessionId: string,
  text: string,
  holdfast: Fields,
): Promise<Prompted> {
  const { host } = bridge;
  const from = host.messages.length;
  const prompt = [{ type: "text", text }];
  return host.finish(sessionId, host.ask("session/prompt", { sessionId, prompt, _meta: { holdfast } }), from);
}

function told({ updates }: Prompted): Fields | undefined {
  return holdfastEvents(updates).find(({ event }) => event === "continued");
}

describe.each(["claude", "codex", "gemini"] as const)("with %s", (like) => {
  const forks = like !== "gemini";

  test("an edited prompt takes the place of the one it names, and what came after it is not known", async () => {
    await using bridge = await openBridge({ like });
    const { host } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    await host.prompt(id, "remember shape=round");
    const edited = await promptFrom(bridge, id, "remember shape=square", { edit: 1 });
    expect(edited.error).toBeNull();
    expect(textOf(told(edited)?.["notUndone"])).not.toBe("");
    expect((await host.prompt(id, "what is shape?")).text).toBe("shape is square");
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect((await bridge.context(id)).join("\n")).not.toContain("round");
    expect(JSON.stringify(await bridge.entries(id, "message"))).toContain("round");
    expect(bridge.leaks()).toEqual([]);
  });

  test("a prompt in a fork in place goes to another session, and the one that was forked is untouched", async () => {
    await using bridge = await openBridge({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    const [first] = await bridge.chain(id);
    const before = agent.session(first?.id ?? "").messages.length;
    const forked = await promptFrom(bridge, id, "what is color?", { fork: true });
    expect(forked.text).toBe("color is blue");
    expect(told(forked)).toMatchObject({ how: "forked", fidelity: forks ? "native" : "preamble" });
    const chain = await bridge.chain(id);
    expect(chain.map(({ reason }) => reason)).toEqual(["first", "forked"]);
    expect(agent.session(first?.id ?? "").messages).toHaveLength(before);
    if (forks) expect(agent.calls().filter((method) => method === "session/resume")).toEqual([]);
    expect(bridge.leaks()).toEqual([]);
  });
});

describe.each(["claude", "codex"] as const)("with %s", (like) => {
  test("an older session is gone on with where it stood, by its number in the chain", async () => {
    await using bridge = await openBridge({ like });
    const { host, agent } = bridge;
    const id = await host.newSession();
    await host.prompt(id, "remember color=blue");
    await promptFrom(bridge, id, "remember shape=round", { fork: true });
    const { links } = await host.call("_holdfast/chain", { sessionId: id });
    expect((links as readonly Fields[]).map(({ link, reason }) => [link, reason])).toEqual([
      [1, "first"],
      [2, "forked"],
    ]);
    const prompts = agent.prompts().length;
    const back = await promptFrom(bridge, id, "what is shape?", { resume: 1 });
    expect(back.text).toBe("I do not know shape.");
    expect(told(back)).toMatchObject({ how: "resumed" });
    expect(agent.prompts().slice(prompts)).toEqual(["what is shape?"]);
    expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
    expect(bridge.leaks()).toEqual([]);
  });
});

test("what is not there is refused, and nothing is sent or moved", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const reply = textOf((await bridge.entries(id, "message")).at(-1)?.["id"]);
  expect(reply).not.toBe("");
  const missing = [{ edit: 7 }, { edit: "nobody" }, { edit: reply }, { resume: 9 }, { resume: "nobody" }];
  const unknown = [{ edt: 1 }, { edit: 1, forck: true }, { at: reply }, "edit", [1]];
  const wrong = [{ edit: 1.5 }, { edit: 0 }, { edit: null }, { resume: 1.5 }, { fork: "yes" }, { force: 1 }];
  for (const meta of [...missing, ...unknown, ...wrong])
    expect((await promptFrom(bridge, id, "say no", meta as Fields)).error?.code).toBe(-32602);
  expect(agent.sent("say no")).toBe(0);
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
});

test("settings stay as they are when a message is edited", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "say one");
  await host.call("session/set_mode", { sessionId: id, modeId: "plan" });
  await host.prompt(id, "say two");
  const { text } = await promptFrom(bridge, id, "config", { edit: 2 });
  expect(fieldsOf(JSON.parse(text))["mode"]).toBe("plan");
});

test("a fork goes out with the servers its host gave, and the session it made is the one that is prompted", async () => {
  await using bridge = await openBridge({ like: "codex" });
  const { host, agent, dir } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const mcpServers = [{ name: "files", command: "serve", args: ["--now"], env: [] }];
  const forked = await host.call("session/fork", { sessionId: id, cwd: dir, mcpServers });
  const branch = textOf(forked["sessionId"]);
  expect((await host.prompt(branch, "what is color?")).text).toBe("color is blue");
  const [asked] = agent.of("session/fork");
  expect(asked?.params["mcpServers"]).toEqual(mcpServers);
  expect(agent.calls().filter((name) => name === "session/resume" || name === "session/close")).toEqual([]);
  expect(metaOf(forked)).toMatchObject({ fidelity: "native", source: id });
  expect(textOf(metaOf(forked)["notUndone"])).not.toBe("");
});
