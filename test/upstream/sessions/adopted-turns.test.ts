/** Turns that exist only in the agent's own record, because someone went on in its own program. */
import { expect, test } from "vitest";
import { goBackTo } from "#upstream/sessions/fork-session";
import type { Upstream } from "#upstream/upstream";
import { visit } from "#testing/agent/simulated-upstream";
import { aRig, isText, type Rig } from "../rig.ts";

const RECORDS = [{ agent: "claude", records: true }];

/** The branch in short. */
async function said(rig: Rig): Promise<readonly string[]> {
  const branch = await (await rig.holdfast.conversation("c")).branch();
  return branch.flatMap((node) =>
    node.type === "message"
      ? [
          node.message.content
            .map((block) => (block.type === "text" ? block.text : `#${block.type}`))
            .join(""),
        ]
      : [],
  );
}

async function everSaid(rig: Rig, words: string): Promise<number> {
  return (await rig.of("message")).filter(({ payload }) => payload.includes(words)).length;
}

test("turns made in the agent's own program are in the log before the prompt, and the agent is told nothing again", async () => {
  const rig = await aRig({ agents: RECORDS });
  const { upstream } = await rig.send("remember color=blue");
  visit(rig.world, upstream ?? "", "remember shape=round");
  expect(await rig.send("recall shape")).toMatchObject({ text: "round", upstream });
  expect(await said(rig)).toEqual([
    "remember color=blue",
    "Noted color=blue",
    "remember shape=round",
    "Noted shape=round",
    "recall shape",
    "round",
  ]);
  expect(rig.told("adopted")).toMatchObject([{ messages: 2, aside: false }]);
  expect((await rig.of("attempt")).map(({ fidelity }) => fidelity)).toEqual(["native", "native"]);
  expect(rig.transcripts().join("\n")).not.toContain("restored from its log");
});

test("turns are adopted once, however often they are met", async () => {
  const rig = await aRig({ agents: RECORDS });
  const { upstream } = await rig.send("hello");
  visit(rig.world, upstream ?? "", "remember shape=round");
  await rig.runtime.connect("c", rig.host);
  rig.restart();
  await rig.runtime.connect("c", rig.host);
  await rig.say("hello again", "and again");
  expect([rig.told("adopted").length, await everSaid(rig, "remember shape")]).toEqual([1, 1]);
});

test("turns that a fork of a session brought into the log are not adopted from the session itself again", async () => {
  const rig = await aRig({ agents: [...RECORDS, { agent: "codex" }] });
  const { upstream } = await rig.send("remember color=blue");
  visit(rig.world, upstream ?? "", "remember shape=round");
  await rig.send("hello", { agent: "codex" });
  rig.restart(); // the process that had the session open knew nothing of the visit
  const chat = await rig.holdfast.conversation("c");
  const prompts = (await rig.of("message")).filter(({ message }) => message.role === "user");
  const [claude] = rig.upstreams;
  if (claude !== undefined) await goBackTo(chat, claude, prompts.at(-1)?.id ?? "");
  await rig.say("hello again");
  await chat.endUpstream((await chat.chain()).at(-1)?.id ?? "", "lost");
  visit(rig.world, upstream ?? "", "remember size=big");
  await rig.say("hello once more");
  expect(rig.told("adopted")).toMatchObject([{ aside: false }, { messages: 2, aside: true }]);
  expect([await everSaid(rig, "remember shape"), await everSaid(rig, "remember size")]).toEqual([1, 1]);
});

test("an effect that was had in the agent's own program is known to every agent", async () => {
  const rig = await aRig({ agents: [...RECORDS, { agent: "codex" }] });
  const { upstream } = await rig.send("hello");
  visit(rig.world, upstream ?? "", "email bob about lunch");
  await rig.say("hello again");
  await rig.send("email bob about lunch", { agent: "codex" });
  expect(rig.world.outbox.count("email bob about lunch")).toBe(1);
  const { messages } = await (await rig.holdfast.conversation("c")).context();
  expect(messages.filter(({ role }) => role === "toolResult")).toHaveLength(1);
});

test("where the conversation went on elsewhere, they are a branch beside it and the leaf stays", async () => {
  const rig = await aRig({ agents: [...RECORDS, { agent: "codex" }] });
  const { upstream } = await rig.send("remember color=blue");
  await rig.send("remember size=big", { agent: "codex" });
  visit(rig.world, upstream ?? "", "remember shape=round");
  expect(await rig.say("recall shape")).toBe("I do not know shape");
  expect(await rig.say("recall size", "recall color")).toBe("blue");
  expect(rig.told("adopted")).toMatchObject([{ messages: 2, aside: true }]);
  expect([await everSaid(rig, "remember shape"), (await said(rig)).join()]).toEqual([
    1,
    expect.not.stringContaining("shape=round"),
  ]);
  const tree = await (await rig.holdfast.conversation("c")).tree();
  expect(JSON.stringify(tree)).toContain("shape");
});

test("an answer that is still being written is left for the next time, and then taken whole", async () => {
  const rig = await aRig({ agents: RECORDS });
  const { upstream } = await rig.send("hello");
  const mark = 'send_email {"to":"bob"}';
  rig.world.appendTranscript(upstream ?? "", [
    { role: "user", text: "remember shape=round" },
    { role: "tool", text: `${mark}: outcome unknown` },
  ]);
  await rig.runtime.connect("c", rig.host);
  expect(rig.told("adopted")).toEqual([]);
  rig.world.appendTranscript(upstream ?? "", [
    { role: "tool", text: `${mark}: done` },
    { role: "assistant", text: "It is sent" },
  ]);
  await rig.runtime.connect("c", rig.host);
  expect(rig.told("adopted")).toMatchObject([{ messages: 4, aside: false }]);
});

test("the session held here is resumed after others went on with it", async () => {
  const rig = await aRig({ agents: RECORDS });
  const { upstream } = await rig.send("hello");
  visit(rig.world, upstream ?? "", "remember shape=round");
  await rig.say("hello again");
  expect(rig.asked()).toEqual(["open", "prompt", "history", "close", "resume", "prompt"]);
});

test("no turn is adopted from a session whose last turn was cut off", async () => {
  const rig = await aRig({ agents: RECORDS });
  const { upstream } = await rig.send("remember color=blue");
  await rig.dieDuring("work 8", isText);
  visit(rig.world, upstream ?? "", "remember shape=round");
  expect(await rig.say("recall color")).toBe("blue");
  expect(rig.told("adopted")).toEqual([]);
});

test("nothing is adopted of a session that was given up", async () => {
  const rig = await aRig({ agents: RECORDS });
  const { upstream } = await rig.send("remember color=blue");
  await (await rig.holdfast.conversation("c")).endUpstream(upstream ?? "", "signed_out");
  visit(rig.world, upstream ?? "", "remember shape=round");
  await rig.say("hello", "hello again");
  expect(rig.told("adopted")).toEqual([]);
});

test("a session that changed its id and lost half its record gives nothing of ours back", async () => {
  const rig = await aRig({ agents: RECORDS });
  await rig.say("hello", "remember a=1", "remember b=2");
  rig.script({ kind: "roll", phase: "text" });
  const { upstream } = await rig.send("hello");
  rig.world.truncateTranscript(upstream ?? "");
  await rig.say("recall a");
  expect([rig.told("adopted"), await everSaid(rig, "remember a=1")]).toEqual([[], 1]);
});

test("a record that lost its end gives nothing of ours back, though old words stand in it again", async () => {
  const rig = await aRig({ agents: RECORDS });
  await rig.say("hello", "remember a=1");
  void rig.when(isText, () => rig.runtime.cancel("c"));
  await rig.send("work 50");
  const { upstream } = await rig.send("hello");
  const lines = rig.world.transcript(upstream ?? "") ?? [];
  rig.world.saveTranscript(upstream ?? "", lines.slice(0, 4));
  await rig.say("recall a");
  expect([rig.told("adopted"), await everSaid(rig, "remember a=1")]).toEqual([[], 1]);
});

test("turns are found after an answer in many parts", async () => {
  const rig = await aRig({ agents: RECORDS });
  const emails = Array.from({ length: 8 }, (_, at) => `email bob about part-${at}`).join("; ");
  const { upstream } = await rig.send(emails);
  visit(rig.world, upstream ?? "", "remember shape=round");
  expect(await rig.say("recall shape")).toBe("round");
  expect(rig.told("adopted")).toMatchObject([{ messages: 2, aside: false }]);
});

test("a prompt that had to be sent twice is in the record twice, and is not adopted", async () => {
  const rig = await aRig({ agents: RECORDS });
  await rig.say("hello", "remember color=blue");
  rig.script({ kind: "overload", phase: "end" });
  const { upstream } = await rig.send("recall color");
  await rig.say("hello again");
  expect(rig.told("adopted")).toEqual([]);
  visit(rig.world, upstream ?? "", "remember shape=round");
  expect(await rig.say("recall shape")).toBe("round");
  expect([rig.told("adopted").length, await everSaid(rig, "recall color")]).toEqual([1, 1]);
});

test("a prompt sent again is not written again, whatever was adopted before it", async () => {
  const rig = await aRig({ agents: RECORDS });
  const { upstream } = await rig.send("hello");
  visit(rig.world, upstream ?? "", "remember shape=round");
  rig.script({ kind: "limit", phase: "start", resetMs: 1_000 });
  const limited = await rig.send("recall shape");
  const again = await rig.runtime.retry("c", { force: true, ...rig.host });
  expect(again).toMatchObject({ text: "round", prompt: limited.prompt });
  expect((await said(rig)).filter((text) => text === "recall shape")).toHaveLength(1);
  expect(rig.told("adopted")).toHaveLength(1);
});

test.each([
  ["fails", () => Promise.reject(new Error("not JSON"))],
  ["never answers", () => new Promise<never>(() => undefined)],
  [
    "throws",
    () => {
      throw new Error("no such file");
    },
  ],
] as const)("a record whose reading %s keeps no prompt from being sent", async (_, history) => {
  const around = (upstream: Upstream): Upstream => ({ ...upstream, history });
  const rig = await aRig({ around, more: { resumeMs: 5_000 } });
  await rig.say("remember color=blue");
  expect(await rig.say("recall color")).toBe("blue");
});
