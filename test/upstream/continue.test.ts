/** A turn that was cut off after something had come back can be finished, without sending or doing anything again. */
import { expect, test } from "vitest";
import { aRig, isText, isTool } from "./rig.ts";

const RENT = "email bob about rent";

test("an interrupted reply is gone on with: it stays, the agent is asked to go on, and people do not see the asking", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  let texts = 0;
  const stopped = rig.when(
    (event) => isText(event) && ++texts === 15,
    () => rig.runtime.cancel("c"),
  );
  const [cut] = await Promise.all([rig.send("work 20"), stopped]);
  expect(cut).toMatchObject({ outcome: "interrupted", class: "cancelled" });
  const went = await rig.runtime.continue("c", rig.host);
  expect(went.outcome).toBe("completed");
  const messages = await rig.of("message");
  expect(messages.map(({ message }) => message.role)).toEqual([
    "user",
    "assistant",
    "user",
    "assistant",
    "user",
    "assistant",
  ]);
  expect(messages.map(({ message }) => message.internal === true)).toEqual([
    false,
    false,
    false,
    false,
    true,
    false,
  ]);
  expect(JSON.stringify(messages[3]?.message.content)).toContain("Step 1 of 20");
  await expect(rig.runtime.continue("c", rig.host)).rejects.toMatchObject({ code: "invalid_request" });
});

test("a turn whose host died after a tool had finished is gone on with, and the tool is not run again", async () => {
  const rig = await aRig();
  await rig.dieDuring(RENT, isTool("done"));
  rig.script({ kind: "lose", phase: "resume" });
  await rig.world.timeline.pass(60_000);
  expect((await rig.runtime.continue("c", rig.host)).outcome).toBe("completed");
  expect(rig.world.outbox.count(RENT)).toBe(1);
  expect(await rig.say(RENT)).toMatch(/Already sent|cannot tell/);
  expect(rig.world.outbox.count(RENT)).toBe(1);
});

test("the agent that goes on is told how far the reply came", async () => {
  const rig = await aRig();
  let texts = 0;
  const dead = rig.when(
    (event) => isText(event) && ++texts === 15,
    () => rig.restart(),
  );
  void rig.send("work 20");
  await dead;
  rig.script({ kind: "lose", phase: "resume" });
  await rig.runtime.continue("c", { key: "k1", ...rig.host });
  expect(rig.transcripts().at(-1)).toContain("Step 3 of 20");
  const turns = (await rig.of("turn_start")).length;
  expect(await rig.runtime.continue("c", { key: "k1", ...rig.host })).toHaveProperty("repeated");
  expect(await rig.of("turn_start")).toHaveLength(turns);
});

test("where nothing came back, or nothing is missing, there is nothing to go on with", async () => {
  const rig = await aRig();
  await expect(rig.runtime.continue("c", rig.host)).rejects.toMatchObject({ code: "invalid_request" });
  await rig.say("hello");
  await expect(rig.runtime.continue("c", rig.host)).rejects.toMatchObject({ code: "invalid_request" });
  rig.script({ kind: "limit", phase: "start" });
  await rig.send("hello");
  await expect(rig.runtime.continue("c", rig.host)).rejects.toMatchObject({ code: "invalid_request" });
  expect(rig.asked().filter((verb) => verb === "prompt")).toHaveLength(2);
});
