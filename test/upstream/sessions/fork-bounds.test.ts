/** What a fork beside must not do: carry on with what was hidden, or wait for an agent that does not answer. */
import { expect, test } from "vitest";
import { forkAside } from "#upstream/sessions/fork-session";
import { aRig } from "../rig.ts";

test("a fork is not made of a session that holds what was hidden since", async () => {
  const rig = await aRig();
  const [upstream] = rig.upstreams;
  if (upstream === undefined) throw new Error("There is no agent");
  const told = await rig.send("remember color=blue");
  await rig.send("hello");
  const conversation = await rig.holdfast.conversation("c");
  const branch = await conversation.branch();
  for (const node of branch.filter(({ payload }) => payload.includes("color=")))
    await conversation.hide(node.id);
  expect(told.outcome).toBe("completed");
  expect(await forkAside(conversation, upstream, { id: "d" })).toMatchObject({ fidelity: "preamble" });
  expect((await rig.send("recall color", { to: "d" })).text).toBe("I do not know color");
});

test("an agent that does not answer a fork costs bounded time, and the fork is there all the same", async () => {
  const rig = await aRig();
  const [upstream] = rig.upstreams;
  if (upstream === undefined) throw new Error("There is no agent");
  await rig.send("remember color=blue");
  rig.script({ kind: "hang", phase: "open" });
  const conversation = await rig.holdfast.conversation("c");
  const { clock } = rig.world;
  expect(await forkAside(conversation, upstream, { id: "d", clock, forkMs: 1_000 })).toMatchObject({
    fidelity: "preamble",
  });
  expect((await rig.send("recall color", { to: "d" })).text).toBe("blue");
});
