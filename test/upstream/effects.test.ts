/** Scenarios 29 to 32: what an agent did in the world happens once, whatever becomes of it. */
import type { FaultKind } from "#testing/faults";
import { expect, test } from "vitest";
import { FAULT_PHASES } from "#testing/index";
import { aRig, isTool } from "./rig.ts";

const RENT = "email bob about rent";

test("scenario 29: a process that dies after its tool had finished is not asked again; the action is listed as done", async () => {
  const rig = await aRig();
  rig.script({ kind: "crash", phase: "after_tool" });
  expect(await rig.send(RENT)).toMatchObject({ outcome: "interrupted", class: "crashed" });
  expect(rig.asked()).toEqual(["open", "prompt", "restart"]);
  rig.script({ kind: "lose", phase: "resume" });
  expect(await rig.say(RENT)).toBe(`Already sent: ${RENT}`);
  expect(rig.world.outbox.count(RENT)).toBe(1);
  const conversation = await rig.holdfast.conversation("c");
  expect((await conversation.effects()).map((effect) => effect.state)).toEqual(["done"]);
});

test("scenario 29: the host that dies after a tool had finished keeps its result", async () => {
  const rig = await aRig();
  await rig.dieDuring(RENT, isTool("done"));
  rig.script({ kind: "lose", phase: "resume" });
  await rig.world.timeline.pass(60_000);
  expect(await rig.say(RENT)).toMatch(/Already sent|cannot tell/);
  expect(rig.world.outbox.count(RENT)).toBe(1);
});

test("scenario 30: a tool whose end nobody saw has an unknown outcome and is not run again", async () => {
  for (const effect of [true, false]) {
    const rig = await aRig();
    rig.script({ kind: "crash", phase: "in_tool", effect });
    expect(await rig.send(RENT)).toMatchObject({ outcome: "interrupted" });
    const conversation = await rig.holdfast.conversation("c");
    expect((await conversation.effects()).map((one) => one.state)).toEqual(["unknown"]);
    rig.script({ kind: "lose", phase: "resume" });
    expect(await rig.say(RENT)).toContain("did not send it again");
    expect(rig.world.outbox.count(RENT)).toBe(effect ? 1 : 0);
  }
});

test("scenario 30: the group of a dead process is ended before another begins, so no child finishes behind our back", async () => {
  const rig = await aRig();
  rig.script({ kind: "crash", phase: "before_tool", orphan: true });
  expect(await rig.send(RENT)).toMatchObject({ outcome: "completed" });
  await rig.world.timeline.pass(60_000);
  // The child had begun: its own transcript says so, and the agent that comes back does not begin again.
  expect(rig.world.outbox.count(RENT)).toBe(0);
  const asked = rig.asked();
  expect(asked.indexOf("restart")).toBeLessThan(asked.lastIndexOf("resume"));
});

test("scenario 30: the group is ended even when the prompt is not sent again", async () => {
  const rig = await aRig();
  rig.script({ kind: "crash", phase: "in_tool", orphan: true });
  await rig.send(RENT);
  expect(rig.asked().at(-1)).toBe("restart");
  await rig.world.timeline.pass(60_000);
  expect(rig.world.outbox.count(RENT)).toBe(0);
});

test("scenario 30: a host that is killed while a child goes on does not run the tool again", async () => {
  const rig = await aRig();
  await rig.dieDuring(RENT, isTool("started"), { orphans: true });
  await rig.world.timeline.pass(60_000);
  expect(rig.world.outbox.count(RENT)).toBe(1);
  await rig.say(RENT);
  expect(rig.world.outbox.count(RENT)).toBe(1);
});

test("scenario 31: a failure before any tool is retried once, and the prompt is in the log once", async () => {
  for (const phase of ["start", "text", "before_tool"] as const) {
    const rig = await aRig();
    await rig.say("remember color=blue");
    rig.script({ kind: "crash", phase });
    expect(await rig.send(`remember a=1; ${RENT}`), phase).toMatchObject({ outcome: "completed" });
    expect(rig.world.outbox.count(RENT)).toBe(1);
    const prompts = (await rig.of("message")).filter(({ message }) => message.role === "user");
    expect(prompts).toHaveLength(2);
    expect(rig.asked().filter((verb) => verb === "prompt")).toHaveLength(3);
  }
});

test("scenario 32: a limit in one conversation leaves another's tool alone", async () => {
  const rig = await aRig();
  await rig.create("d");
  const busy = rig.send(RENT, { to: "d" });
  await rig.when(isTool("started"));
  rig.script({ kind: "limit", phase: "start" });
  expect(await rig.send("hello")).toMatchObject({ class: "limit" });
  expect(await busy).toMatchObject({ outcome: "completed" });
  expect(rig.asked()).not.toContain("restart");
});

test("a crash of a process two conversations share ends both turns, and neither kills the other's new process", async () => {
  const rig = await aRig();
  await rig.create("d");
  const other = rig.send("work 40", { to: "d" });
  await rig.when((event) => event.type === "update" && event.conversation === "d");
  rig.script({ kind: "crash", phase: "text" });
  const [c, d] = await Promise.all([rig.send("work 30"), other]);
  expect([c.outcome, d.outcome]).toEqual(["completed", "completed"]);
});

const STRIKES = Object.entries(FAULT_PHASES).flatMap(([kind, phases]) =>
  phases
    .filter((phase) => phase.endsWith("tool") || phase === "end")
    .map((phase) => [kind as FaultKind, phase] as const),
);

test.each(STRIKES)(
  "a prompt is not sent again once a tool may have started: %s in %s",
  async (kind, phase) => {
    const rig = await aRig({ more: { silenceMs: 10_000, toolSilenceMs: 10_000 } });
    rig.login = async () => true;
    await rig.say("remember color=blue");
    rig.script({ kind, phase });
    await rig.send(RENT);
    await rig.world.timeline.pass(5_000_000);
    await rig.send(RENT);
    rig.restart();
    await rig.send(RENT);
    expect(rig.world.faults.waiting).toBe(0);
    expect(rig.world.outbox.doubles()).toEqual([]);
    expect(await rig.say("recall color")).toBe("blue");
  },
);
