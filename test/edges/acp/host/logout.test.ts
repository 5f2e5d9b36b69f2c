import { expect, test } from "vitest";
import { runHere } from "../../cli/cli-here.ts";
import { holdfastEvents, openBridge } from "../bridge.ts";
import type { AcpHost } from "../host.ts";
import { fieldsOf } from "../../../support/scripted-agent/wire.ts";

/** That the agent starts empty, as an editor is told it: to its person, and to programs. */
async function toldReset(host: AcpHost, id: string, from: number, reason: string): Promise<void> {
  const meta = (update: object): object => fieldsOf(fieldsOf(fieldsOf(update)["_meta"])["holdfast"]);
  await host.update((update) => fieldsOf(meta(update))["event"] === "reset", from);
  await host.until("the notice for programs", () =>
    holdfastEvents(host.updates(id, from)).some((event) => event["event"] === "reset") ? true : undefined,
  );
  const told = host.updates(id, from).filter((update) => fieldsOf(meta(update))["event"] === "reset");
  expect(told.map((update) => update["sessionUpdate"])).toEqual([
    "agent_message_chunk",
    "session_info_update",
  ]);
  expect(meta(told[0] ?? {})).toMatchObject({ event: "reset", reason });
}

test("after a switch and back, a sign-out of the agent between empties the context, and the open editor is told", async () => {
  await using bridge = await openBridge({ like: "claude", others: ["codex"] });
  const { host, agents } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  await host.prompt(id, "/agent codex");
  await host.prompt(id, "remember shape=round");
  await host.prompt(id, "/agent claude");
  const from = host.messages.length;
  expect((await runHere(bridge.store, ["sign-out", "--agent", "codex"])).status).toBe(0);
  await toldReset(host, id, from, "sign_out");
  expect((await host.prompt(id, "what is shape?")).text).toBe("I do not know shape.");
  expect(agents.get("claude")?.prompts().at(-1)).not.toContain("shape=round");
});

test("an editor is told of a new chat that was begun elsewhere, and of a logout that it asked for itself", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const { host } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const from = host.messages.length;
  await runHere(bridge.store, ["new-chat", id]);
  await toldReset(host, id, from, "new_chat");
  await host.prompt(id, "remember color=red");
  const since = host.messages.length;
  await host.call("logout", {});
  await toldReset(host, id, since, "sign_out");
});

test("a logout through the bridge ends the agent's ids and its context; the next prompt begins anew", async () => {
  await using bridge = await openBridge({ like: "claude", args: ["--account", "work"] });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  expect((await bridge.entries(id, "upstream_link"))[0]).toMatchObject({ agent: "claude", account: "work" });
  expect(await host.call("logout", {})).toMatchObject({
    _meta: {
      holdfast: { signedOut: { agent: "claude", account: "work", ended: 1, reset: [id], failed: [] } },
    },
  });
  expect(agent.of("logout")).toHaveLength(1);
  expect((await host.prompt(id, "what is color?")).text).not.toContain("blue");
  expect(await bridge.chain(id)).toHaveLength(2);
});

test("a logout that names an unknown agent or option is refused, and nobody is signed out", async () => {
  await using bridge = await openBridge({ like: "claude", others: ["codex"] });
  const { host, agent } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  for (const holdfast of [{ agent: "coedx" }, { keepcontext: true }, { keepContext: "yes" }])
    expect((await host.request("logout", { _meta: { holdfast } })).error?.code).toBe(-32602);
  expect(agent.of("logout")).toEqual([]);
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
});

test("a host may ask to keep the context, and name the agent that is meant", async () => {
  await using bridge = await openBridge({ like: "claude", others: ["codex"] });
  const { host } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const other = await host.call("logout", { _meta: { holdfast: { agent: "codex" } } });
  expect(other).toMatchObject({
    _meta: { holdfast: { signedOut: { agent: "codex", ended: 0, reset: [] } } },
  });
  const kept = await host.call("logout", { _meta: { holdfast: { keepContext: true } } });
  expect(kept).toMatchObject({
    _meta: { holdfast: { signedOut: { agent: "claude", ended: 1, reset: [] } } },
  });
  expect((await host.prompt(id, "what is color?")).text).toBe("color is blue");
  expect(await bridge.chain(id)).toHaveLength(2);
});
