/** Agents keep their sessions in one folder; spaces do not see each other through it. */
import { expect, test } from "vitest";
import { openBridge } from "../bridge.ts";
import type { AcpHost } from "../host.ts";
import { fieldsOf, textOf } from "../../../support/scripted-agent/wire.ts";

async function listed(host: AcpHost): Promise<readonly string[]> {
  const ids: string[] = [];
  let page = await host.call("session/list", {});
  for (;;) {
    ids.push(...(page["sessions"] as readonly unknown[]).map((one) => textOf(fieldsOf(one)["sessionId"])));
    if (page["nextCursor"] === undefined) return ids;
    page = await host.call("session/list", { cursor: page["nextCursor"] });
  }
}

test.each(["claude", "codex"] as const)(
  "what %s keeps for one space is neither listed nor loaded in another",
  async (like) => {
    await using bridge = await openBridge({ like, args: ["--space", "a"] });
    const id = await bridge.host.newSession();
    await bridge.host.prompt(id, "remember secret=blue");
    const [link] = await bridge.chain(id, "a");
    const native = `${like}:${link?.id}`;
    // One by name, and the one that shows what only agents know.
    for (const space of ["b", "default"]) {
      const other = await bridge.another("--space", space);
      expect(await listed(other)).toEqual([]);
      expect((await other.load(native)).error).toMatchObject({ code: -32002 });
      expect((await other.load(id)).error).toMatchObject({ code: -32002 });
      expect(other.bytes().includes("secret")).toBe(false);
    }
    expect(await listed(bridge.host)).toEqual([id]);
  },
);

test("what only the agent knows is shown in the default space, and in no other", async () => {
  await using bridge = await openBridge({ like: "claude" });
  const id = await bridge.host.newSession();
  await bridge.host.prompt(id, "remember color=blue");
  const [link] = await bridge.chain(id);
  const session = bridge.agent.session(link?.id ?? "");
  bridge.agent.write({ ...session, id: "0b7d5f3e-2d7f-4a43-9d5c-1f2e3d4c5b6a" });
  const found = "claude:0b7d5f3e-2d7f-4a43-9d5c-1f2e3d4c5b6a";
  expect(await listed(bridge.host)).toEqual([id, found]);
  const other = await bridge.another("--space", "b");
  expect(await listed(other)).toEqual([]);
  expect((await other.load(found)).error).toMatchObject({ code: -32002 });
  expect((await bridge.host.load(found)).error).toBeNull();
});
