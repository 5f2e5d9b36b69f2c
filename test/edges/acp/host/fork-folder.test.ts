/** A fork lives in a folder as its source does. */
import { expect, test } from "vitest";
import { openKillable } from "../bridge.ts";
import { textOf } from "../../../support/scripted-agent/wire.ts";

test("a fork is listed in its folder, and loading it there ends none of its sessions", async () => {
  await using bridge = await openKillable({ like: "codex" });
  const { host, dir } = bridge;
  const id = await host.newSession();
  await host.prompt(id, "remember color=blue");
  const params = { sessionId: id, cwd: dir, mcpServers: [] };
  const fork = textOf((await host.call("session/fork", params))["sessionId"]);
  await host.prompt(fork, "remember shape=round");
  const links = async (): Promise<readonly string[]> =>
    (await bridge.chain(fork)).map((link) => `${link.id} ${link.reason}`);
  const before = await links();
  await host.restart();
  const { sessions } = await host.call("session/list", { cwd: dir });
  expect(JSON.stringify(sessions)).toContain(fork);
  await host.load(fork);
  expect((await host.prompt(fork, "what is shape?")).text).toBe("shape is round");
  expect(await links()).toEqual(before);
});
