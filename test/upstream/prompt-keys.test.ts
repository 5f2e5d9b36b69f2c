/** A prompt that a client sends again, because its answer was lost, is one turn. */
import { expect, test } from "vitest";
import { aRig, isText } from "./rig.ts";

const RENT = "email bob about rent";

test("the same key is one turn: a finished one is answered with what became of it, in every life of the host", async () => {
  const rig = await aRig();
  const first = await rig.send(RENT, { key: "k1" });
  const again = await rig.send(RENT, { key: "k1" });
  expect(again).toMatchObject({
    outcome: "completed",
    turn: first.turn,
    text: first.text,
    repeated: { differs: false },
  });
  rig.restart();
  expect(await rig.send("email eve", { key: "k1" })).toMatchObject({
    turn: first.turn,
    repeated: { differs: true },
  });
  expect([rig.world.outbox.count(RENT), (await rig.of("turn_start")).length]).toEqual([1, 1]);
  expect(await rig.send("hello", { key: "k2" })).not.toHaveProperty("repeated");
});

test("one that runs here is waited for; what is finished is answered while another runs", async () => {
  const rig = await aRig();
  await rig.send("hello", { key: "done" });
  const [first, second] = await Promise.all([
    rig.send("work 20", { key: "k1" }),
    (async () => {
      await rig.when(isText);
      expect(await rig.send("hello", { key: "done" })).toMatchObject({ outcome: "completed" });
      return rig.send("work 20", { key: "k1" });
    })(),
  ]);
  expect(second).toEqual(first);
  expect(await rig.of("turn_start")).toHaveLength(2);
});

test("one that runs in another host is busy there", async () => {
  const rig = await aRig({ two: true });
  const turn = rig.send("work 20", { key: "k1" });
  await rig.when(isText);
  await expect(rig.send("work 20", { key: "k1", via: "other" })).rejects.toMatchObject({ code: "busy" });
  await turn;
});

test("one that a dead host left open has ended interrupted, and is not sent again", async () => {
  const rig = await aRig();
  let texts = 0;
  const dead = rig.when(
    (event) => isText(event) && ++texts === 15,
    () => rig.restart(),
  );
  void rig.send("work 20", { key: "k1" });
  await dead;
  const known = await rig.send("work 20", { key: "k1" });
  expect(known).toMatchObject({ outcome: "interrupted", class: "crashed", repeated: { differs: false } });
  expect(known.text).not.toBe("");
  expect(rig.asked()).not.toContain("prompt");
});

test("a retry has a key, too", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  rig.script({ kind: "limit", phase: "start", resetMs: 60_000 });
  await rig.send("recall color", { key: "k1" });
  await rig.world.timeline.pass(61_000);
  const first = await rig.retry({ key: "k1" });
  expect(first).toMatchObject({ outcome: "completed", text: "blue" });
  expect(await rig.retry({ key: "k1" })).toMatchObject({ text: "blue", turn: first.turn });
  expect(await rig.of("turn_start")).toHaveLength(3);
});

test("a prompt that is turned away while its agent is limited leaves the branch as it was, and can be sent later", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  const chat = await rig.holdfast.conversation("c");
  rig.script({ kind: "limit", phase: "start", resetMs: 60_000 });
  await rig.send("hello");
  const { leaf } = await chat.head();
  await chat.steer("s1", [{ type: "text", text: "remember shape=round" }]);
  for (const prompt of ["are you there", "recall color"])
    expect(await rig.send(prompt)).toMatchObject({ outcome: "failed", class: "limit" });
  expect((await chat.head()).leaf.id).toBe(leaf.id);
  expect(await chat.queue()).toHaveLength(1);
  await rig.world.timeline.pass(61_000);
  expect(await rig.retry()).toMatchObject({ outcome: "completed", text: "blue" });
  const words = (await chat.branch()).flatMap((node) =>
    node.type === "message" && node.message.role === "user" ? [JSON.stringify(node.message.content)] : [],
  );
  expect(words.join(" ")).not.toContain("are you there");
  expect(words.at(-1)).toContain("recall color");
  expect(await rig.say("recall shape")).toContain("round");
});
