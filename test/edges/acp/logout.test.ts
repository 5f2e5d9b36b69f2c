import { expect, test } from "vitest";
import { openBridge } from "./bridge.ts";

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
