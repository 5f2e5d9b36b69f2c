/** Agents' sessions in a pool: those nobody uses are let go of, and the next prompt takes them up again. */
import { expect, test } from "vitest";
import { Pool } from "#turn/pool";
import { PoolClock } from "../../turn/pool-clock.ts";
import { Rig } from "../rig.ts";

const reasons = (rig: Rig): readonly string[] =>
  rig.events.flatMap((event) => (event.type === "session" ? [`${event.conversation}: ${event.reason}`] : []));

async function twoConversations(rig: Rig): Promise<void> {
  await rig.create("c");
  await rig.create("d");
}

const said = (rig: Rig, to: string, text: string): Promise<unknown> => rig.send(text, { to });

test("unless told otherwise sessions are held until they are released", async () => {
  const rig = new Rig();
  await twoConversations(rig);
  for (const id of ["c", "d", "c"]) await said(rig, id, "remember color=blue");
  expect([rig.runtime.session("c"), rig.runtime.session("d")]).not.toContain(null);
});

test("over the limit of processes the least recently used goes; its conversation is resumed with the next prompt", async () => {
  const rig = new Rig({ more: { pool: { processes: 1 } } });
  await twoConversations(rig);
  await said(rig, "c", "remember color=blue");
  await said(rig, "d", "hello");
  expect(rig.runtime.session("c")).toBeNull();
  expect(rig.runtime.session("d")).not.toBeNull();
  const log = (await (await rig.holdfast.conversation("c")).context()).messages.length;
  expect(await said(rig, "c", "recall color")).toMatchObject({
    outcome: "completed",
    text: expect.stringContaining("blue"),
  });
  expect((await (await rig.holdfast.conversation("c")).context()).messages).toHaveLength(log + 2);
  expect(await (await rig.holdfast.conversation("c")).chain()).toHaveLength(1);
});

test("what nobody used for so long goes by itself, and not in the middle of a turn", async () => {
  const clock = new PoolClock();
  const pool = new Pool({ idleMs: 60_000, clock });
  const rig = new Rig({
    more: { pool },
    async beforePrompt() {
      await clock.advance(10 * 60_000);
      expect(pool.use()).toMatchObject({ inUse: 1 });
    },
  });
  await rig.create("c");
  expect(await said(rig, "c", "remember color=blue")).toMatchObject({ outcome: "completed" });
  await clock.advance(59_999);
  expect(rig.runtime.session("c")).not.toBeNull();
  await clock.advance(1);
  expect(rig.runtime.session("c")).toBeNull();
  expect(await said(rig, "c", "recall color")).toMatchObject({ text: expect.stringContaining("blue") });
  expect(reasons(rig)).not.toContain("lost");
});

test("rebuild: every prompt takes the session up from the log", async () => {
  const rig = new Rig({ more: { pool: { mode: "rebuild" } } });
  await rig.create("c");
  for (const text of ["remember color=blue", "recall color"]) {
    expect(await said(rig, "c", text)).toMatchObject({ outcome: "completed" });
    expect(rig.runtime.session("c")).toBeNull();
  }
  expect(await (await rig.holdfast.conversation("c")).chain()).toHaveLength(1);
});

test("a turn says where its host is reached", async () => {
  const rig = new Rig({ more: { pool: { address: "host-1", idleMs: 60_000 } } });
  await rig.create("c");
  await said(rig, "c", "hello");
  expect(await (await rig.holdfast.conversation("c")).holder()).toMatchObject({ address: "host-1" });
});
