/** Scenarios 11 to 18: coming back to a session that may be there, gone, or not what it was. */
import { expect, test } from "vitest";
import { aRig } from "../rig.ts";

test("scenario 11: a resume that shows everything is told nothing again, and gets its settings back", async () => {
  const rig = await aRig();
  const conversation = await rig.holdfast.conversation("c");
  await conversation.append([
    { type: "model_change", model: "opus" },
    { type: "config_change", config: { mode: "plan" } },
  ]);
  await rig.say("remember color=blue", "hello");
  rig.restart();
  expect(await rig.say("recall color")).toBe("blue");
  expect(rig.transcripts().join("\n")).not.toContain("restored from its log");
  const settings = { cwd: "/work", model: "opus", config: { mode: "plan" } };
  expect(rig.upstreams[0]?.requests).toMatchObject([
    { verb: "resume", settings },
    { verb: "prompt", settings },
  ]);
  expect((await rig.of("attempt")).at(-1)?.fidelity).toBe("native");
});

test("scenario 11: an agent that shows nothing on resume is told again, unless its resume can be trusted", async () => {
  const unsure = await aRig({ agents: [{ agent: "claude", shows: false }] });
  await unsure.say("remember color=blue");
  unsure.restart();
  await unsure.say("hello");
  expect((await unsure.of("attempt")).map((attempt) => attempt.fidelity)).toEqual(["native", "preamble"]);
  const trusted = await aRig({
    agents: [{ agent: "claude", shows: false, capabilities: { trustedResume: true } }],
  });
  await trusted.say("remember color=blue");
  trusted.restart();
  await trusted.say("hello");
  expect((await trusted.of("attempt")).map((attempt) => attempt.fidelity)).toEqual(["native", "native"]);
});

test("scenario 12: an unknown session is replaced, told what was before, and the person hears of it", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  rig.restart();
  rig.script({ kind: "lose", phase: "resume" });
  expect(await rig.say("recall color")).toBe("blue");
  expect(rig.told("session").at(-1)).toMatchObject({
    reason: "lost",
    fidelity: "preamble",
    silent: false,
    restored: 2,
  });
});

test("scenario 13: an id that never answered is replaced without a word", async () => {
  const rig = await aRig();
  await rig.dieDuring("hello", (event) => event.type === "session");
  expect(rig.world.sessions).toEqual([]);
  await rig.say("hello again");
  expect(rig.told("session").map((event) => [event.reason, event.silent])).toEqual([
    ["first", true],
    ["lost", true],
  ]);
});

test("scenario 14: a transcript that is gone is a loss when our log has answers from it", async () => {
  const rig = await aRig();
  const { upstream } = await rig.send("remember color=blue");
  rig.world.loseTranscript(upstream ?? "");
  rig.restart();
  expect(await rig.say("recall color")).toBe("blue");
  expect(rig.told("session").at(-1)).toMatchObject({ reason: "lost", silent: false });
});

test("scenario 15: a resume that comes back with half its history is found out", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue", "remember shape=round", "remember size=big", "hello");
  rig.restart();
  rig.script({ kind: "truncate", phase: "resume" });
  expect(await rig.say("recall size")).toBe("big");
  expect(rig.told("session").at(-1)).toMatchObject({ reason: "lost", silent: false });
  expect(await rig.chain()).toEqual(["first", "lost"]);
});

test("scenario 15: a transcript deleted while live has only the turns after that, and is found out", async () => {
  const rig = await aRig();
  const { upstream } = await rig.send("remember color=blue");
  await rig.say("hello");
  rig.world.loseTranscript(upstream ?? "");
  await rig.say("one more turn");
  rig.restart();
  expect(await rig.say("recall color")).toBe("blue");
  expect(rig.told("session").at(-1)).toMatchObject({ reason: "lost" });
});

test("scenario 16: after a restart the conversation's own directory is used, wherever the host was started", async () => {
  const rig = await aRig();
  await rig.say("hello");
  rig.restart();
  await rig.say("hello again");
  expect(rig.upstreams[0]?.requests.map((one) => one.settings?.cwd)).toEqual(["/work", "/work"]);
});

test("scenario 17: a resume that never answers is given up in time, and another session takes over", async () => {
  const rig = await aRig({ more: { resumeMs: 20_000 } });
  await rig.say("remember color=blue");
  rig.restart();
  rig.script({ kind: "hang", phase: "resume" });
  const before = rig.world.nowMs();
  expect(await rig.say("recall color")).toBe("blue");
  expect(rig.world.nowMs() - before).toBeLessThan(25_000);
  expect(rig.asked()).not.toContain("restart");
});

test("scenario 17: an agent that does not even open a session is restarted, once", async () => {
  const rig = await aRig({ more: { resumeMs: 20_000 } });
  rig.script({ kind: "hang", phase: "open" });
  expect(await rig.say("hello")).toContain("hello");
  expect(rig.asked()).toEqual(["open", "restart", "open", "prompt"]);
  const worse = await aRig({ more: { resumeMs: 20_000 } });
  worse.script({ kind: "hang", phase: "open", times: 5 });
  expect(await worse.send("hello")).toMatchObject({
    outcome: "interrupted",
    class: "crashed",
    upstream: null,
  });
  expect(worse.asked()).toEqual(["open", "restart", "open", "restart"]);
});

test("scenario 17: one conversation's chatter does not hide another's silence", async () => {
  const rig = await aRig({ more: { silenceMs: 5_000, cancelMs: 1_000 } });
  await rig.create("d");
  rig.script({ kind: "hang", phase: "start", heedsCancel: true });
  const before = rig.world.nowMs();
  const silent = rig.send("hello");
  await rig.when((event) => event.type === "session");
  const chatty = rig.send("work 1000", { to: "d" });
  expect(await silent).toMatchObject({ outcome: "completed" });
  expect(rig.world.nowMs() - before).toBeLessThan(8_000);
  expect(await chatty).toMatchObject({ outcome: "completed" });
});

test("scenario 18: a process that keeps an old login is replaced after a new one", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  rig.login = async () => true;
  rig.script({ kind: "auth", phase: "start", times: 2 });
  expect(await rig.say("recall color")).toBe("blue");
  expect(rig.asked().filter((verb) => verb !== "prompt")).toEqual(["open", "restart", "resume"]);
  expect(await rig.chain()).toEqual(["first"]);
});

test("a limit, a login or an overload on resume says nothing about the session: it is kept", async () => {
  for (const kind of ["limit", "overload", "auth", "credit", "crash"] as const) {
    const rig = await aRig();
    rig.login = async () => true;
    const { upstream } = await rig.send("remember color=blue");
    rig.restart();
    rig.script({ kind, phase: "resume", resetMs: 1_000 });
    await rig.say("hello");
    await rig.world.timeline.pass(2_000);
    expect(await rig.send("recall color"), kind).toMatchObject({ text: "blue", upstream });
    expect(await rig.chain(), kind).toEqual(["first"]);
  }
});

test("a process replaced between two prompts is noticed: the session is resumed, not assumed", async () => {
  const rig = await aRig();
  rig.script({ kind: "restart", phase: "idle" });
  const { upstream } = await rig.send("remember color=blue");
  expect(await rig.send("recall color")).toMatchObject({ text: "blue", upstream });
  expect(rig.asked()).toEqual(["open", "prompt", "resume", "prompt"]);
});

test("an older link is not called when it cannot hold everything", async () => {
  const rig = await aRig();
  for (let turn = 0; turn < 5; turn++) {
    await rig.say(`remember k${turn}=v${turn}`);
    rig.script({ kind: "crash", phase: "start" }, { kind: "lose", phase: "resume" });
  }
  rig.restart();
  const resumes = rig.asked().length;
  await rig.say("recall k0");
  expect(
    rig
      .asked()
      .slice(resumes)
      .filter((verb) => verb === "resume").length,
  ).toBeLessThanOrEqual(2);
});
