/** A session that fails every prompt with an error that no table knows: nobody can say whether another would not. */
import { expect, test } from "vitest";
import { aRig } from "../rig.ts";

test.each([false, true])(
  "a session that fails twice is left for a new one, which is told what came before (killed in between: %s)",
  async (killed) => {
    const rig = await aRig();
    const { upstream } = await rig.send("remember color=blue");
    rig.script({ kind: "corrupt", phase: "start" });
    expect(await rig.send("remember shape=round")).toMatchObject({ class: "failed", upstream });
    expect(await rig.chain()).toEqual(["first"]);
    if (killed) rig.restart();
    expect(await rig.send("recall color; recall shape")).toMatchObject({
      outcome: "completed",
      text: "blue\nround",
    });
    expect(await rig.chain()).toEqual(["first", "failed"]);
    expect(rig.told("lost").map((event) => event.class)).toEqual(["failed"]);
    expect(await rig.say("recall color")).toBe("blue");
    expect(await rig.chain()).toEqual(["first", "failed"]);
  },
);

test("an error that came once is the prompt's; one answer makes it the first again", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  for (let nth = 0; nth < 3; nth++) {
    rig.script({ kind: "corrupt", phase: "start" });
    expect(await rig.send("hello")).toMatchObject({ class: "failed" });
    rig.world.corrupt.clear();
    expect(await rig.say("recall color")).toBe("blue");
  }
  expect(await rig.chain()).toEqual(["first"]);
});

test("a prompt that fails the second time after a tool started is not sent again; the next one has a new session", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  rig.script({ kind: "corrupt", phase: "start" });
  await rig.send("hello");
  rig.world.corrupt.clear();
  rig.script({ kind: "corrupt", phase: "after_tool" });
  expect(await rig.send("email bob about rent")).toMatchObject({ outcome: "failed", class: "failed" });
  expect(await rig.chain()).toEqual(["first"]);
  expect(await rig.say("email bob about rent; recall color")).toBe(
    "Already sent: email bob about rent\nblue",
  );
  expect(await rig.chain()).toEqual(["first", "failed"]);
  expect(rig.world.outbox.doubles()).toEqual([]);
});

test("an agent that fails in every session is given a new one for every second prompt at most", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  rig.script({ kind: "corrupt", phase: "start", times: 9 });
  for (let nth = 0; nth < 6; nth++) expect(await rig.send("hello")).toMatchObject({ class: "failed" });
  expect(await rig.chain()).toEqual(["first", "failed", "failed", "failed"]);
  rig.world.corrupt.clear();
  expect(await rig.say("recall color")).toBe("blue");
});
