/** What no session is given again: what made every request fail, and more than an agent can take. */
import { describe, expect, test } from "vitest";
import type { Poison } from "#turn/host";
import type { Upstream } from "#upstream/upstream";
import type { ContentBlock, Message } from "#log/message";
import { POISON_LEFT_OUT, SMALLER_BUDGET } from "#upstream/rules/prior-budget";
import { assistant, user } from "../support/a-log.ts";
import { aRig, type Rig } from "./rig.ts";

const PICTURE: ContentBlock = { type: "image", mediaType: "image/png", data: "AAAA" };
const SHOWN = [{ type: "text", text: "remember color=blue" } as const, PICTURE];

/** What each session was given as its own history. */
async function restoring(): Promise<{ readonly rig: Rig; readonly given: string[] }> {
  const given: string[] = [];
  const around = (upstream: Upstream): Upstream => ({
    ...upstream,
    restore: (messages: readonly Message[], settings) => {
      given.push(JSON.stringify(messages));
      return upstream.restore?.(messages, settings) ?? Promise.resolve(null);
    },
  });
  return { rig: await aRig({ agents: [{ agent: "claude", restores: true }], around }), given };
}

async function lose(rig: Rig, upstream: string | null): Promise<void> {
  rig.world.loseTranscript(upstream ?? "");
  rig.restart();
}

describe("something in the history makes every request fail", () => {
  test("a person is asked about it, and what is hidden reaches no session again", async () => {
    const { rig, given } = await restoring();
    const asked: Poison[] = [];
    rig.poisoned = async (poison) => asked.push(poison) > 0;
    const { prompt } = await rig.send(SHOWN);
    rig.script({ kind: "poison", phase: "start" });
    const { upstream, outcome } = await rig.send("hello");
    expect(outcome).toBe("completed");
    expect(asked).toMatchObject([{ entry: prompt, isPrompt: false }]);
    expect(await rig.of("hide")).toMatchObject([{ target: prompt }]);
    expect((await rig.of("upstream_end")).at(-1)).toMatchObject({ reason: "poisoned", node: prompt });
    expect(rig.told("poisoned")).toMatchObject([{ entry: prompt, hidden: true }]);
    await lose(rig, upstream);
    await rig.send("hello again");
    expect(given.join("\n")).not.toContain("AAAA");
    expect(rig.transcripts().at(-1)).not.toContain("remember color=blue");
  });

  test.each(["nobody to ask", "a person who wants to keep it"])(
    "with %s it stays, and is left out of what any session is given",
    async (who) => {
      const { rig, given } = await restoring();
      if (who !== "nobody to ask") rig.poisoned = async () => false;
      await rig.send(SHOWN);
      rig.script({ kind: "poison", phase: "start" });
      const { upstream } = await rig.send("hello");
      expect(rig.transcripts().at(-1)).toContain(POISON_LEFT_OUT);
      expect(await rig.of("hide")).toEqual([]);
      await lose(rig, upstream);
      await rig.send("hello again");
      expect(given).toHaveLength(1);
      expect(given[0]).toContain(POISON_LEFT_OUT);
      expect(given[0]).not.toContain("AAAA");
    },
  );

  test("a prompt that holds it itself is not sent a second time, and not carried on", async () => {
    const { rig, given } = await restoring();
    await rig.say("remember shape=round");
    rig.script({ kind: "poison", phase: "start" });
    const { outcome, prompt } = await rig.send(SHOWN);
    expect(outcome).toBe("failed");
    expect(rig.asked().filter((verb) => verb === "prompt")).toHaveLength(2);
    expect(rig.told("poisoned")).toMatchObject([{ entry: prompt, isPrompt: true, hidden: false }]);
    expect(await rig.say("recall shape")).toBe("round");
    expect(given.join("\n")).not.toContain("AAAA");
  });

  test("where it cannot be told what it is, no later session is given the history whole", async () => {
    const { rig, given } = await restoring();
    await rig.say("remember color=blue");
    rig.script({ kind: "poison", phase: "start" });
    const { upstream } = await rig.send("hello");
    await lose(rig, upstream);
    expect(await rig.say("recall color")).toBe("blue");
    expect(given).toEqual([]);
    await (await rig.holdfast.conversation("c")).append({ type: "compaction", summary: "color=blue" });
    const { upstream: last } = await rig.send("hello again");
    await lose(rig, last);
    await rig.send("and again");
    expect(given.length).toBeGreaterThan(0);
  });
});

describe("an agent that found it too long", () => {
  const long = (count: number): ReturnType<typeof user>[] =>
    Array.from({ length: count }, (_, at) => (at % 2 === 0 ? user : assistant)(`${at} ${"w".repeat(900)}`));

  test("is told less until the history is another one, whatever becomes of its sessions", async () => {
    const rig = await aRig();
    await rig.say("hello");
    await (await rig.holdfast.conversation("c")).append(long(40));
    rig.script({ kind: "too_long", phase: "start" });
    const told = async (words: string): Promise<number> => {
      const { upstream } = await rig.send(words);
      const count = (await rig.of("attempt")).at(-1)?.priorContext?.messages ?? 0;
      await lose(rig, upstream);
      return count;
    };
    expect(await told("first")).toBeLessThanOrEqual(SMALLER_BUDGET.messages);
    expect(await told("second")).toBeLessThanOrEqual(SMALLER_BUDGET.messages);
    expect(await told("third")).toBeLessThanOrEqual(SMALLER_BUDGET.messages);
    await (await rig.holdfast.conversation("c")).append([{ type: "reset" }, ...long(20)]);
    expect(await told("fourth")).toBeGreaterThan(SMALLER_BUDGET.messages);
  });

  test("says nothing about what another agent can take", async () => {
    const rig = await aRig({ agents: [{ agent: "claude" }, { agent: "codex" }] });
    await rig.say("hello");
    await (await rig.holdfast.conversation("c")).append(long(40));
    rig.script({ kind: "too_long", phase: "start", agent: "claude" });
    await rig.say("first");
    await rig.send("second", { agent: "codex" });
    expect((await rig.of("attempt")).at(-1)?.priorContext?.messages).toBeGreaterThan(SMALLER_BUDGET.messages);
  });
});
