/** Two living hosts on one conversation, and what a dead one leaves behind. */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { Runtime } from "#upstream/runtime";
import type { Upstream } from "#upstream/upstream";
import { inMemoryStore } from "#stores/in-memory/index";
import { actingUpstream } from "../support/acting-upstream.ts";
import { aRig, isText, isTool } from "./rig.ts";

const ENDLESS = "work 50";

test("a session that another host's process went on with is taken up anew, with what was said there", async () => {
  const rig = await aRig({ two: true });
  const { upstream } = await rig.send("remember color=blue");
  await rig.send("remember shape=round", { via: "other" });
  expect(await rig.send("recall shape")).toMatchObject({ text: "round", upstream });
  expect(await rig.send("recall color", { via: "other" })).toMatchObject({ text: "blue", upstream });
  expect((await rig.of("attempt")).map(({ fidelity }) => fidelity)).toEqual([
    "native",
    "native", // resumed by the other host, whose agent showed all of it
    "native",
    "native",
  ]);
  expect(await rig.chain()).toEqual(["first"]);
});

test("a host that has the conversation to itself tells its agent nothing again", async () => {
  const rig = await aRig({ two: true });
  await rig.say("remember color=blue", "hello", "recall color");
  expect((await rig.of("attempt")).map(({ fidelity }) => fidelity)).toEqual(["native", "native", "native"]);
});

test("an effect that one host's agent had is not had again by the other's", async () => {
  const rig = await aRig({ two: true });
  await rig.say("hello");
  await rig.send("email bob about lunch", { via: "other" });
  await rig.send("email bob about lunch");
  expect(rig.world.outbox.count("email bob about lunch")).toBe(1);
});

test("the process that is prompted is durable before the prompt", async () => {
  const seen: (string | undefined)[] = [];
  const rig = await aRig({
    beforePrompt: async (at) => void seen.push((await at.of("attempt")).at(-1)?.process),
  });
  await rig.say("hello");
  expect(seen).toEqual([rig.world.processOf("claude")?.token]);
});

test("whoever finds a turn open ends its process before anything is sent, also another host's", async () => {
  const rig = await aRig({ two: true });
  await rig.dieDuring("email bob about lunch", isTool("started"), { orphans: true });
  await rig.send("email bob about lunch", { via: "other" });
  const asked = (rig.other?.upstreams[0]?.requests ?? []).map(({ verb }) => verb);
  expect(asked.slice(0, 2)).toEqual(["restart", "resume"]);
  await rig.world.timeline.pass(60_000);
  expect(rig.world.outbox.doubles()).toEqual([]);
});

test("a process that was started since is left alone", async () => {
  const rig = await aRig();
  await rig.create("d");
  await rig.dieDuring(ENDLESS, isText);
  await rig.send("hello", { to: "d" });
  const token = rig.world.processOf("claude")?.token;
  await rig.say("hello");
  expect(rig.asked()).toContain("restart");
  expect(rig.world.processOf("claude")?.token).toBe(token);
});

test.each([
  ["fails", () => Promise.reject(new Error("no such process group"))],
  ["never answers", () => new Promise<void>(() => undefined)],
] as const)("nothing is sent while the end of a left process %s; later it is", async (_, restart) => {
  let stuck = true;
  const around = (upstream: Upstream): Upstream => ({
    ...upstream,
    restart: (process) => (stuck ? restart() : upstream.restart(process)),
  });
  const rig = await aRig({ around });
  await rig.dieDuring(ENDLESS, isText);
  await expect(rig.send("hello")).rejects.toMatchObject({ code: "busy" });
  await expect(rig.runtime.connect("c", rig.host)).rejects.toMatchObject({ code: "busy" });
  expect([rig.asked(), await rig.of("turn_end"), (await rig.of("turn_start")).length]).toEqual([[], [], 1]);
  stuck = false;
  expect(await rig.send("hello")).toMatchObject({ outcome: "completed" });
  expect((await rig.of("turn_end")).map(({ outcome }) => outcome)).toEqual(["interrupted", "completed"]);
});

test("a turn that ended leaves no process to be ended", async () => {
  const rig = await aRig();
  await rig.say("hello");
  rig.restart();
  await rig.say("hello");
  expect(rig.asked()).not.toContain("restart");
});

test("the lease of a dead writer is taken over at once, that of a living one is not", async () => {
  const rig = await aRig({ two: true });
  await rig.dieDuring(ENDLESS, isText);
  const beforeMs = rig.world.nowMs();
  const turn = rig.send("work 8", { via: "other" });
  await rig.when(isText);
  expect(rig.world.nowMs() - beforeMs).toBeLessThan(5_000);
  await expect(rig.send("hello")).rejects.toMatchObject({ code: "busy" });
  expect(await turn).toMatchObject({ outcome: "completed" });
});

test("whoever takes over from the dead holds the lease in its own name", async () => {
  const rig = await aRig({ two: true });
  await rig.dieDuring(ENDLESS, isText);
  const turn = rig.send("work 8", { via: "other" });
  await rig.when(isText);
  const { lease } = await (await rig.holdfast.conversation("c")).head();
  expect(lease?.writer).toBe("other-2");
  await turn;
});

test("without word of a death a lease is waited for", async () => {
  const rig = await aRig({ two: true, more: { isDead: async () => false } });
  await rig.dieDuring(ENDLESS, isText);
  await expect(rig.send("hello")).rejects.toMatchObject({ code: "busy" });
  await rig.world.timeline.pass(30_000);
  expect(await rig.send("hello")).toMatchObject({ outcome: "completed" });
});

test("two runtimes of one process, with default options, keep each other out", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const upstream = actingUpstream(async function* () {
    begun.resolve();
    await go.promise;
    yield { type: "text", text: "Here I am." };
  });
  const [first, second] = [
    new Runtime(holdfast, { upstreams: [upstream] }),
    new Runtime(holdfast, { upstreams: [upstream] }),
  ];
  const { id } = await holdfast.create();
  const host = { onEvent: (): void => undefined };
  const turn = first.send(id, "take your time", host);
  await begun.promise;
  await expect(second.send(id, "hello", host)).rejects.toMatchObject({ code: "busy" });
  go.resolve();
  expect(await turn).toMatchObject({ outcome: "completed" });
  expect(await second.send(id, "hello", host)).toMatchObject({ outcome: "completed" });
});
