/** Scenarios 33 to 41: limits, overloads and logins, none of which is the end of a conversation. */
import { expect, test } from "vitest";
import { aRig } from "./rig.ts";

test("scenario 33: an overload typed as a rate limit is waited out on the same id, without a restart", async () => {
  const rig = await aRig();
  const { upstream } = await rig.send("remember color=blue");
  rig.script({ kind: "overload", phase: "start", times: 3 });
  expect(await rig.send("recall color")).toMatchObject({ text: "blue", upstream });
  expect(rig.told("backing_off").map((event) => event.delayMs)).toEqual([1_000, 2_000, 4_000]);
  expect(await rig.chain()).toEqual(["first"]);
  expect(rig.asked()).toEqual(["open", "prompt", "prompt", "prompt", "prompt", "prompt"]);
  expect((await rig.of("attempt")).map((attempt) => attempt.fidelity)).toEqual([
    "native",
    "native",
    "native",
    "native",
    "native",
  ]);
});

test("scenario 33: an overload that does not end is left to people, id and prompt kept", async () => {
  const rig = await aRig();
  const { upstream } = await rig.send("remember color=blue");
  rig.script({ kind: "overload", phase: "start", times: 5 });
  expect(await rig.send("remember shape=round")).toMatchObject({
    outcome: "failed",
    class: "overloaded",
    upstream,
  });
  expect(await rig.send("recall shape")).toMatchObject({ text: "round", upstream });
});

test("scenario 34: a limit parks with its reset time; before it the agent is not called, after it the same id goes on", async () => {
  const rig = await aRig();
  const { upstream } = await rig.send("remember color=blue");
  rig.script({ kind: "limit", phase: "start", resetMs: 3_600_000 });
  const limited = await rig.send("remember shape=round");
  expect(limited).toMatchObject({ outcome: "failed", class: "limit", upstream });
  const resetAtMs = limited.resetAtMs ?? 0;
  expect(resetAtMs - rig.world.nowMs()).toBeGreaterThan(3_500_000);
  const calls = rig.asked().length;
  expect(await rig.send("are you there")).toMatchObject({ outcome: "failed", class: "limit", resetAtMs });
  rig.restart();
  expect(await rig.send("and now")).toMatchObject({ outcome: "failed", class: "limit", resetAtMs });
  expect(rig.asked()).toEqual([]);
  expect(calls).toBe(3);
  await rig.world.timeline.pass(resetAtMs - rig.world.nowMs());
  expect(await rig.send("recall shape")).toMatchObject({ text: "round", upstream });
  expect(await rig.chain()).toEqual(["first"]);
  expect(rig.told("parked")).toHaveLength(3);
});

test("a switch of agents right after a loss goes on in the next agent's own session", async () => {
  const rig = await aRig({ agents: [{ agent: "claude" }, { agent: "codex" }] });
  const { upstream } = await rig.send("remember color=blue", { agent: "codex" });
  await rig.send("hello");
  rig.script({ kind: "expire", phase: "start", agent: "claude" });
  rig.script({ kind: "limit", phase: "open", agent: "claude" });
  expect(await rig.send("recall color", { whenLimited: "switch" })).toMatchObject({ text: "blue", upstream });
  expect(await rig.chain()).toEqual(["first", "agent_switch", "switched_back"]);
});

test("scenario 34: a turn that a dead host left open does not lift the limit", async () => {
  const rig = await aRig();
  rig.script({ kind: "limit", phase: "start" });
  await rig.send("hello");
  await rig.dieDuring("hello again", (event) => event.type === "accepted");
  expect(await rig.send("and now")).toMatchObject({ class: "limit" });
  expect(rig.asked()).toEqual([]);
});

test("scenario 34: a person may insist", async () => {
  const rig = await aRig();
  rig.script({ kind: "limit", phase: "start" });
  await rig.send("hello");
  expect(await rig.send("now", { force: true })).toMatchObject({ outcome: "completed" });
  expect(await rig.send("and again")).toMatchObject({ outcome: "completed" });
});

test("when asked to, a limited turn goes on with the next agent, and the first is left alone until its reset", async () => {
  const rig = await aRig({ agents: [{ agent: "claude" }, { agent: "codex" }] });
  await rig.send("remember color=blue");
  rig.script({ kind: "limit", phase: "start", agent: "claude" });
  expect(await rig.send("recall color", { whenLimited: "switch" })).toMatchObject({
    outcome: "completed",
    text: "blue",
  });
  const calls = rig.asked(0).length;
  expect(await rig.send("recall color", { whenLimited: "switch" })).toMatchObject({ text: "blue" });
  expect(await rig.send("hello")).toMatchObject({ class: "limit" });
  expect(rig.asked(0)).toHaveLength(calls);
  rig.script({ kind: "limit", phase: "start", agent: "codex" });
  expect(await rig.send("hello", { whenLimited: "switch" })).toMatchObject({
    outcome: "failed",
    class: "limit",
  });
  expect(await rig.send("hello", { whenLimited: "switch" })).toMatchObject({
    outcome: "failed",
    class: "limit",
    upstream: null,
  });
  await rig.world.timeline.pass(4_000_000);
  expect(await rig.send("recall color")).toMatchObject({ text: "blue" });
});

test("a limit that strikes at open parks that agent and no other", async () => {
  const rig = await aRig({ agents: [{ agent: "claude" }, { agent: "codex" }] });
  rig.script({ kind: "limit", phase: "open", agent: "claude" });
  expect(await rig.send("remember color=blue")).toMatchObject({ class: "limit", upstream: null });
  expect(await rig.send("recall color", { agent: "codex" })).toMatchObject({ text: "blue" });
  const calls = rig.asked(0).length;
  expect(await rig.send("hello")).toMatchObject({ class: "limit" });
  expect(rig.asked(0)).toHaveLength(calls);
});

test("scenario 35: one conversation's limit says nothing about another's broken line", async () => {
  const rig = await aRig();
  await rig.create("d");
  rig.script({ kind: "limit", phase: "start" });
  await rig.send("hello");
  rig.script({ kind: "overload", phase: "start" });
  expect(await rig.send("hello", { to: "d" })).toMatchObject({ outcome: "completed" });
  expect(rig.told("parked").map((event) => event.conversation)).toEqual(["c"]);
});

test("scenario 37: after a new login the same session goes on with the same context", async () => {
  const rig = await aRig();
  const { upstream } = await rig.send("remember color=blue");
  let asked = 0;
  rig.login = async () => ++asked > 0;
  rig.script({ kind: "auth", phase: "start" });
  expect(await rig.send("recall color")).toMatchObject({ text: "blue", upstream });
  expect(asked).toBe(1);
  expect(await rig.chain()).toEqual(["first"]);
});

test("scenario 37: without a login the turn fails, and everything is kept for later", async () => {
  const rig = await aRig();
  const { upstream } = await rig.send("remember color=blue");
  rig.script({ kind: "auth", phase: "start" });
  expect(await rig.send("hello")).toMatchObject({ outcome: "failed", class: "auth", upstream });
  expect(await rig.send("recall color")).toMatchObject({ text: "blue", upstream });
});

test("scenario 38: three refusals in one turn are enough", async () => {
  const rig = await aRig();
  await rig.say("hello");
  let asked = 0;
  rig.login = async () => ++asked > 0;
  rig.script({ kind: "auth", phase: "start", times: 9 });
  expect(await rig.send("recall color")).toMatchObject({ outcome: "failed", class: "auth" });
  expect(rig.asked().filter((verb) => verb === "prompt")).toHaveLength(4);
  expect(asked).toBe(1);
});

test("a login that is never given does not hold back a person who cancels", async () => {
  const rig = await aRig();
  rig.login = () => new Promise(() => undefined);
  rig.script({ kind: "auth", phase: "start" });
  const turn = rig.send("hello");
  await rig.when((event) => event.type === "session");
  await rig.world.timeline.pass(1_000);
  rig.runtime.cancel("c");
  expect(await turn).toMatchObject({ outcome: "interrupted", class: "auth" });
});

test("scenario 39: a prompt that is too long is not sent as it was: less is told, once", async () => {
  const rig = await aRig();
  for (let turn = 0; turn < 12; turn++) await rig.say(`remember k${turn}=v${turn}`);
  rig.script({ kind: "too_long", phase: "start", times: 2 });
  expect(await rig.send("recall k11")).toMatchObject({ outcome: "failed", class: "too_long" });
  expect(rig.asked().slice(-5)).toEqual(["prompt", "close", "open", "prompt", "close"]);
  const told = rig.transcripts().at(-1) ?? "";
  expect(told.match(/The user said:|You replied:/g)).toHaveLength(8);
  expect(await rig.say("recall k11")).toBe("v11");
});

test("scenario 41: many conversations that need a login ask once", async () => {
  const rig = await aRig();
  const { promise, resolve } = Promise.withResolvers<boolean>();
  let asked = 0;
  rig.login = () => {
    asked++;
    return promise;
  };
  const names = ["a", "b", "d", "e"];
  for (const name of names) await rig.create(name);
  rig.script({ kind: "auth", phase: "start", times: 4 });
  const turns = names.map((to) => rig.send("hello", { to }));
  await rig.world.timeline.pass(10_000);
  resolve(true);
  expect((await Promise.all(turns)).map((turn) => turn.outcome)).toEqual(names.map(() => "completed"));
  expect(asked).toBe(1);
});

test("a parked prompt is sent once more without being written again, and only while nothing has answered it", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  rig.script({ kind: "limit", phase: "start", resetMs: 60_000 });
  expect(await rig.send("recall color")).toMatchObject({ outcome: "failed", class: "limit" });
  const host = { onEvent: () => undefined };
  expect(await rig.runtime.retry("c", host)).toMatchObject({ class: "limit", upstream: null });
  await rig.world.timeline.pass(61_000);
  expect((await rig.runtime.retry("c", host)).text).toBe("blue");
  const prompts = (await rig.of("message")).filter((entry) => entry.message.role === "user");
  expect(prompts).toHaveLength(2);
  await expect(rig.runtime.retry("c", host)).rejects.toMatchObject({ code: "invalid_request" });
});

test("a prompt whose tool may have started is not sent once more, whoever asks", async () => {
  const rig = await aRig();
  rig.script({ kind: "crash", phase: "in_tool", effect: true });
  await rig.send("email bob about rent");
  const host = { onEvent: () => undefined };
  await expect(rig.runtime.retry("c", host)).rejects.toMatchObject({ code: "invalid_request" });
  expect(rig.world.outbox.count("email bob about rent")).toBe(1);
});
