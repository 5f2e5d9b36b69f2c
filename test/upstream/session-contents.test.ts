/** What a session holds, and that it is told what it lacks, once, and nothing else. */
import { describe, expect, test } from "vitest";
import type { EntryBody } from "#log/entry";
import { aRig, isText, isTool, type Rig } from "./rig.ts";

const OPENING = "[Earlier conversation, restored from its log]";

/** How often each session was told something again. */
const preambles = (rig: Rig): readonly number[] =>
  rig.transcripts().map((words) => words.split(OPENING).length - 1);

/** What the newest session was given last. */
const given = (rig: Rig): string =>
  rig.world
    .transcript(rig.world.sessions.at(-1) ?? "")
    ?.findLast(({ role }) => role === "user")
    ?.text.trim() ?? "";

async function stop(rig: Rig, prompt: string): Promise<void> {
  const stopped = rig.when(isText, () => rig.runtime.cancel("c"));
  const turn = rig.send(prompt);
  await stopped;
  expect(await turn).toMatchObject({ outcome: "interrupted", class: "cancelled" });
}

describe("a session that the same process still holds", () => {
  test("is told nothing again after ten stops", async () => {
    const rig = await aRig();
    await rig.say("remember color=blue");
    for (let at = 0; at < 10; at++) {
      await stop(rig, `work ${50 + at}`);
      expect(await rig.say("recall color")).toBe("blue");
    }
    expect(preambles(rig)).toEqual([0]);
    expect(await rig.chain()).toEqual(["first"]);
  });

  test("is told nothing again after limits and overloads", async () => {
    const rig = await aRig();
    await rig.say("remember color=blue");
    for (let at = 0; at < 5; at++) {
      rig.script({ kind: "limit", phase: "start", resetMs: 1_000 });
      expect(await rig.send(`remember n${at}=${at}`)).toMatchObject({ class: "limit" });
      await rig.world.timeline.pass(2_000);
      rig.script({ kind: "overload", phase: "start" });
      expect(await rig.say(`recall n${at}`)).toBe(`${at}`);
    }
    expect(preambles(rig)).toEqual([0]);
  });

  test("that was made for an old conversation is told it once, however often the service is overloaded", async () => {
    const rig = await aRig();
    await rig.say("remember color=blue");
    rig.script({ kind: "expire", phase: "start" }, { kind: "overload", phase: "start", times: 3 });
    expect(await rig.say("recall color")).toBe("blue");
    expect(preambles(rig).at(-1)).toBe(1);
  });

  test("and that was stopped before it had begun with what it was told is told it again", async () => {
    const rig = await aRig();
    await rig.say("remember color=blue");
    rig.script({ kind: "expire", phase: "start" }, { kind: "hang", phase: "start" });
    const rolled = rig.when(
      (event) => event.type === "session" && event.reason === "expired",
      () => void rig.world.timeline.sleep(100).then(() => rig.runtime.cancel("c")),
    );
    const turn = rig.send("hello");
    await rolled;
    expect(await turn).toMatchObject({ outcome: "interrupted" });
    expect(await rig.say("recall color")).toBe("blue");
    expect(given(rig)).toContain(OPENING);
  });

  test("and that was stopped in a tool is told that nobody knows what became of it", async () => {
    const rig = await aRig();
    await rig.say("remember color=blue");
    const stopped = rig.when(isTool("started"), () => rig.runtime.cancel("c"));
    const turn = rig.send("email bob about rent");
    await stopped;
    expect(await turn).toMatchObject({ outcome: "interrupted", class: "cancelled" });
    await rig.say("recall color");
    expect(given(rig)).toContain("outcome unknown");
    expect(given(rig)).not.toContain("color=blue");
    await rig.say("hello");
    expect(preambles(rig)).toEqual([1]);
  });

  test.each([
    [{ type: "state_change", state: { step: 2 } }],
    [{ type: "skill_change", skills: [{ name: "sum" }] }],
    [{ type: "seed", run: "r", messages: [{ role: "user", content: "seeded" }] }],
    [{ type: "model_change", model: "m2" }],
  ] satisfies readonly [EntryBody][])("goes on natively after a %j", async (body) => {
    const rig = await aRig();
    await rig.say("remember color=blue");
    await (await rig.holdfast.conversation("c")).append(body);
    expect(await rig.say("recall color")).toBe("blue");
    expect(preambles(rig)).toEqual([0]);
    expect((await rig.of("attempt")).map(({ fidelity }) => fidelity).at(-1)).toBe("native");
  });
});

describe("a session that is resumed", () => {
  test("after a stop is told nothing again", async () => {
    const rig = await aRig();
    await rig.say("remember color=blue");
    await stop(rig, "work 50");
    rig.restart();
    expect(await rig.say("recall color")).toBe("blue");
    expect([preambles(rig), rig.asked()]).toEqual([[0], ["resume", "prompt"]]);
  });

  test("after a stop and with its end lost is told what it lost", async () => {
    const rig = await aRig();
    await rig.say("remember color=blue");
    await stop(rig, "work 50; remember shape=round");
    const [session = ""] = rig.world.sessions;
    const lines = rig.world.transcript(session) ?? [];
    rig.restart();
    rig.world.saveTranscript(session, lines.slice(0, 2));
    expect(await rig.say("recall shape")).toBe("round");
    expect(given(rig)).not.toContain("color=blue");
  });

  test("after a crash is told only how far the reply came, and only once", async () => {
    const rig = await aRig();
    await rig.say("remember color=blue", "remember shape=round");
    await rig.dieDuring("email bob about rent", isTool("done"));
    expect(await rig.say("recall color")).toBe("blue");
    expect(given(rig)).toContain("send_email");
    expect(given(rig)).not.toContain("shape=round");
    expect(await rig.say("recall shape")).toBe("round");
    rig.restart();
    expect(await rig.say("hello")).toContain("hello");
    expect(preambles(rig)).toEqual([1]);
  });

  test("after a limit is told nothing again", async () => {
    const rig = await aRig();
    await rig.say("remember color=blue");
    rig.script({ kind: "limit", phase: "start", resetMs: 1_000 });
    await rig.send("remember shape=round");
    await rig.world.timeline.pass(2_000);
    rig.restart();
    expect(await rig.say("recall shape")).toBe("round");
    expect(preambles(rig)).toEqual([0]);
  });
});

describe("an agent that is come back to", () => {
  const two = { agents: [{ agent: "claude" }, { agent: "codex" }] };

  test("is told what was said meanwhile, and nothing it knows", async () => {
    const rig = await aRig(two);
    await rig.send("remember color=blue");
    await rig.send("remember shape=round", { agent: "codex" });
    expect(await rig.send("recall shape", { agent: "claude" })).toMatchObject({ text: "round" });
    const [claude] = rig.transcripts();
    expect(claude?.split(OPENING)[1]).toContain("shape=round");
    expect(claude?.split(OPENING)[1]).not.toContain("color=blue");
  });

  test("is recognised after a restart, though it knows the other's turns only from a preamble", async () => {
    const rig = await aRig(two);
    await rig.send("remember color=blue");
    await rig.send("remember shape=round", { agent: "codex" });
    await rig.send("recall shape", { agent: "claude" });
    rig.restart();
    expect(await rig.send("recall color", { agent: "claude" })).toMatchObject({ text: "blue" });
    expect(rig.asked()).toEqual(["resume", "prompt"]);
    expect(preambles(rig)).toEqual([1, 1]);
    expect((await rig.of("upstream_link")).map(({ reason }) => reason)).toEqual([
      "first",
      "agent_switch",
      "switched_back",
    ]);
  });
});
