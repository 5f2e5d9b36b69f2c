/** New sessions that are given the whole history, and agents that can be asked about limits and silence. */
import { describe, expect, test } from "vitest";
import type { Limit } from "#turn/host";
import type { Upstream, UpstreamSession } from "#upstream/upstream";
import { PRIOR_BUDGET } from "#upstream/rules/prior-budget";
import { aRig, isText, isTool } from "../rig.ts";

const RESTORES = [{ agent: "claude", restores: true }];
const TWO = [{ agent: "claude" }, { agent: "codex" }];

describe("a session that can be given the history", () => {
  test("holds all of it, tools included, and is told nothing", async () => {
    const rig = await aRig({ agents: RESTORES });
    const { upstream } = await rig.send("remember color=blue");
    await rig.say("email bob about lunch");
    rig.world.loseTranscript(upstream ?? "");
    rig.restart();
    const { leaf } = await (await rig.holdfast.conversation("c")).head();
    expect(await rig.say("email bob about lunch", "recall color")).toBe("blue");
    expect((await rig.of("upstream_link")).at(-1)?.node).toBe(leaf.id);
    expect(rig.world.outbox.count("email bob about lunch")).toBe(1);
    expect(rig.told("session").at(-1)).toMatchObject({ reason: "lost", fidelity: "transcript" });
    expect((await rig.of("attempt")).map(({ fidelity }) => fidelity).slice(-2)).toEqual([
      "transcript",
      "native",
    ]);
    expect(rig.transcripts().join("\n")).not.toContain("restored from its log");
  });

  test("is proven also when it was got ready before the prompt", async () => {
    const rig = await aRig({ agents: [{ agent: "codex" }, ...RESTORES] });
    await rig.send("remember color=blue", { agent: "codex" });
    const ready = await rig.runtime.connect("c", { agent: "claude", ...rig.host });
    expect(ready.fidelity).toBe("transcript");
    expect(await rig.send("recall color", { agent: "claude" })).toMatchObject({ text: "blue" });
    expect((await rig.of("attempt")).at(-1)?.fidelity).toBe("native");
    expect(rig.transcripts().join("\n")).not.toContain("restored from its log");
  });

  test("is opened plainly when there is nothing to give", async () => {
    const rig = await aRig({ agents: RESTORES });
    await rig.say("hello");
    expect(rig.asked()).toEqual(["open", "prompt"]);
  });

  test.each(["too_long", "poison"] as const)("is not given it again after %s", async (kind) => {
    const rig = await aRig({ agents: RESTORES });
    await rig.say("remember color=blue");
    rig.script({ kind, phase: "start" });
    expect(await rig.say("recall color")).toBe("blue");
    expect(rig.asked()).not.toContain("restore");
    expect((await rig.of("attempt")).at(-1)?.fidelity).toBe("preamble");
  });

  test.each([
    ["fails", () => Promise.reject(new Error("cannot write"))],
    ["never answers", () => new Promise<never>(() => undefined)],
    ["gives none", () => Promise.resolve(null)],
  ] as const)("is told instead when the restoring %s", async (_, restore) => {
    const around = (upstream: Upstream): Upstream => ({ ...upstream, restore });
    const rig = await aRig({ around, more: { resumeMs: 5_000 } });
    const { upstream } = await rig.send("remember color=blue");
    rig.world.loseTranscript(upstream ?? "");
    rig.restart();
    expect(await rig.say("recall color")).toBe("blue");
    expect((await rig.of("attempt")).at(-1)?.fidelity).toBe("preamble");
  });

  test("is let go of when it comes too late, or comes without an id", async () => {
    for (const kind of ["late", "nameless"] as const) {
      const closed: string[] = [];
      const around = (upstream: Upstream): Upstream => ({
        ...upstream,
        restore: async (_, settings): Promise<UpstreamSession> => {
          const session = await upstream.open(settings);
          if (kind === "late") await rig.world.timeline.sleep(10_000);
          const id = kind === "late" ? session.id : " ";
          return { ...session, id, close: async () => void closed.push(id) };
        },
      });
      const rig = await aRig({ around, more: { resumeMs: 5_000 } });
      const { upstream } = await rig.send("remember color=blue");
      rig.world.loseTranscript(upstream ?? "");
      rig.restart();
      expect(await rig.say("recall color"), kind).toBe("blue");
      await rig.world.timeline.pass(20_000);
      expect(closed, kind).toHaveLength(1);
    }
  });
});

describe("a silent agent", () => {
  const patience = { silenceMs: 5_000, toolSilenceMs: 60_000, cancelMs: 1_000 };

  test("is told of again and again and not stopped, where people want that", async () => {
    const rig = await aRig({ more: { ...patience, onSilence: "tell" } });
    rig.script({ kind: "hang", phase: "text" });
    const turn = rig.send("work 8");
    await rig.when(isText);
    await rig.world.timeline.pass(17_000);
    expect(rig.told("silent").map(({ forMs }) => Math.round(forMs / 1_000))).toEqual([5, 10, 15]);
    expect(rig.told("lost")).toEqual([]);
    rig.runtime.cancel("c");
    expect(await turn).toMatchObject({ outcome: "interrupted", class: "cancelled" });
    expect(rig.asked()).toEqual(["open", "prompt"]);
  });

  test("is told of anew after it has spoken", async () => {
    const rig = await aRig({
      more: { ...patience, silenceMs: 250, toolSilenceMs: 1_500, onSilence: "tell" },
    });
    await rig.say("email bob about lunch; email bob about dinner");
    // It thinks for 300 ms, and each of its tools takes 2 seconds.
    expect(rig.told("silent").map(({ forMs }) => forMs)).toEqual([250, 1_500, 1_500]);
  });

  test.each([-3_600_000, 3_600_000])(
    "is told of by the time that passed, though the date is set by %i ms",
    async (byMs) => {
      const rig = await aRig({ more: { ...patience, onSilence: "tell" } });
      rig.script({ kind: "hang", phase: "text" });
      const turn = rig.send("work 8");
      await rig.when(isText);
      await rig.world.timeline.pass(2_000);
      rig.world.timeline.setDate(byMs);
      await rig.world.timeline.pass(15_000);
      expect(rig.told("silent").map(({ forMs }) => Math.round(forMs / 1_000))).toEqual([5, 10, 15]);
      rig.runtime.cancel("c");
      expect(await turn).toMatchObject({ outcome: "interrupted", class: "cancelled" });
    },
  );

  test("may be silent for longer while a tool runs", async () => {
    const rig = await aRig({ more: { ...patience, silenceMs: 1_000, onSilence: "tell" } });
    await rig.say("email bob about lunch");
    expect(rig.told("silent")).toEqual([]);
  });

  test("is stopped where nothing else was said", async () => {
    const rig = await aRig({ more: patience });
    rig.script({ kind: "hang", phase: "text" });
    expect(await rig.send("work 8")).toMatchObject({ outcome: "completed" });
    expect([rig.told("silent").length, rig.told("lost").length]).toEqual([0, 1]);
  });
});

describe("a limit that people are asked about", () => {
  test("is carried on by the next agent when they agree, and both are named", async () => {
    const rig = await aRig({ agents: TWO });
    const asked: Limit[] = [];
    rig.limit = async (limit) => asked.push(limit) > 0;
    await rig.say("remember color=blue");
    rig.script({ kind: "limit", phase: "start", agent: "claude" });
    expect(await rig.send("recall color", { whenLimited: "ask" })).toMatchObject({ text: "blue" });
    expect(asked).toMatchObject([{ agent: "claude", next: "codex", resetAtMs: expect.any(Number) }]);
    expect(rig.told("switched")).toMatchObject([{ from: "claude", to: "codex" }]);
  });

  test("parks when they decline, when nobody can be asked, and when the asking fails", async () => {
    for (const limit of [async () => false, undefined, () => Promise.reject(new Error("gone"))]) {
      const rig = await aRig({ agents: TWO });
      rig.limit = limit;
      rig.script({ kind: "limit", phase: "start", agent: "claude" });
      expect(await rig.send("hello", { whenLimited: "ask" })).toMatchObject({
        outcome: "failed",
        class: "limit",
      });
      expect([rig.asked(1), rig.told("switched"), rig.told("parked").length]).toEqual([[], [], 1]);
    }
  });

  test("is asked about also when the agent is parked already, and the switch is told", async () => {
    const rig = await aRig({ agents: TWO });
    let agrees = false;
    rig.limit = async () => agrees;
    rig.script({ kind: "limit", phase: "start", agent: "claude" });
    await rig.send("remember color=blue");
    expect(await rig.send("hello", { whenLimited: "ask" })).toMatchObject({ class: "limit", upstream: null });
    expect(rig.told("switched")).toEqual([]);
    agrees = true;
    expect(await rig.send("recall color", { whenLimited: "ask" })).toMatchObject({ text: "blue" });
    expect(rig.told("switched")).toMatchObject([{ from: "claude", to: "codex" }]);
    expect([rig.asked(0).length, await rig.chain()]).toEqual([2, ["first", "agent_switch"]]);
  });

  test("is not asked about once a tool ran", async () => {
    const rig = await aRig({ agents: TWO });
    rig.limit = async () => true;
    rig.script({ kind: "limit", phase: "after_tool", agent: "claude" });
    const sent = await rig.send("email bob about lunch", { whenLimited: "ask" });
    expect(sent).toMatchObject({ outcome: "failed", class: "limit" });
    expect(rig.world.outbox.count("email bob about lunch")).toBe(1);
  });

  test("does not hold up a person who cancels", async () => {
    const rig = await aRig({ agents: TWO });
    const asked = Promise.withResolvers<void>();
    rig.limit = () => {
      asked.resolve();
      return new Promise<never>(() => undefined);
    };
    rig.script({ kind: "limit", phase: "start", agent: "claude" });
    const turn = rig.send("hello", { whenLimited: "ask" });
    await asked.promise;
    rig.runtime.cancel("c");
    expect((await turn).outcome).not.toBe("completed");
    expect(rig.asked(1)).toEqual([]);
  });
});

test("an unproven agent is told as much as the runtime allows", async () => {
  const prior = { ...PRIOR_BUDGET, messages: 2 };
  const rig = await aRig({ agents: TWO, more: { prior } });
  await rig.say("remember a=1", "remember b=2", "remember c=3");
  expect(await rig.send("recall c", { agent: "codex" })).toMatchObject({ text: "3" });
  expect(rig.told("session").at(-1)).toMatchObject({ restored: 2 });
});

test("an agent whose login cannot be asked for ends the turn as an auth failure, recorded", async () => {
  const rig = await aRig();
  rig.login = () => Promise.reject(new Error("the window was closed"));
  rig.script({ kind: "auth", phase: "start" });
  expect(await rig.send("hello")).toMatchObject({ outcome: "failed", class: "auth" });
  expect(await rig.of("turn_end")).toHaveLength(1);
  expect(rig.events.some(isTool("started"))).toBe(false);
});
