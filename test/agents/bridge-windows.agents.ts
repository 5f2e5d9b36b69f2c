/** Two windows, each with a bridge and an agent of its own, on one conversation. */
import { describe, expect, test } from "vitest";
import { talk } from "./agent-rig.ts";
import { bridgeRig } from "./bridge-rig.ts";

describe.each(["claude", "codex"] as const)("%s in two windows", (agent) => {
  test("stays in one session, whichever window asks, and each knows what was said in the other", async () => {
    await using rig = await bridgeRig({ agents: [agent] });
    const first = await rig.open();
    await first.prompt("remember color=blue");
    const host = await rig.start();
    const { sessionId } = first;
    const loaded = await host.ask("session/load", { sessionId, cwd: rig.home.project, mcpServers: [] });
    expect(loaded.error).toBeUndefined();
    const second = talk(host, sessionId);
    expect((await second.prompt("what is color? #1")).said).toContain("color is blue #1");
    await second.prompt("remember shape=round");
    expect((await first.prompt("what is shape? #2")).said).toContain("shape is round #2");
    await first.prompt("remember size=big");
    expect((await second.prompt("what is size? #3")).said).toContain("size is big #3");
    expect((await first.prompt("what is color? #4")).said).toContain("color is blue #4");
    const chain = await rig.chain(sessionId);
    expect(chain.map(({ reason }) => reason)).toEqual(["first"]);
    const asked = rig.model.requests().at(-1)?.said.join("\n") ?? "";
    expect(asked.split("remember shape=round")).toHaveLength(2);
    expect(await rig.leaks()).toEqual([]);
  });
});
