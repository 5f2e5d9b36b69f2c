/**
 * Goal: no session is taken to hold what its record has lost. Method: the record is cut or begins anew while a process
 * holds the session, and another process takes it up: it must know what was said, told again or not.
 */
import { describe, expect, test } from "vitest";
import { forkAside } from "#upstream/sessions/fork-session";
import type { HostEvent } from "#turn/host";
import { aRig, isText, type Rig } from "../rig.ts";

const isBackingOff = (event: HostEvent): boolean => event.type === "backing_off";

/** The session that was asked last. */
async function lastSession(rig: Rig, id: string = "c"): Promise<string> {
  return (await rig.of("attempt", id)).at(-1)?.upstream ?? "";
}

async function lastFidelity(rig: Rig, id: string = "c"): Promise<string | undefined> {
  return (await rig.of("attempt", id)).at(-1)?.fidelity;
}

/** Sends a prompt that is put off at first, and loses the record meanwhile: it begins anew with the next sending. */
async function loseDuring(rig: Rig, prompt: string): Promise<void> {
  rig.script({ kind: "overload", phase: "start" });
  const lost = rig.when(isBackingOff, () => {
    for (const session of rig.world.sessions) rig.world.loseTranscript(session);
  });
  const [{ outcome }] = await Promise.all([rig.send(prompt), lost]);
  expect(outcome).toBe("completed");
}

describe("a session whose record has begun anew", () => {
  test("behind what it was told with its first turn is told again", async () => {
    const rig = await aRig();
    await rig.say("remember color=blue");
    rig.world.loseTranscript(await lastSession(rig));
    rig.restart();
    await loseDuring(rig, "remember pet=cat");
    rig.restart();
    expect(await rig.say("recall color")).toBe("blue");
    expect(await rig.chain()).toEqual(["first", "lost"]);
    expect(await lastFidelity(rig)).toBe("preamble");
    // It is proven by what it was told now.
    rig.restart();
    expect(await rig.say("recall pet")).toBe("cat");
    expect(await lastFidelity(rig)).toBe("native");
  });

  test("behind a turn that broke off, on which the next one was built, is told again", async () => {
    const rig = await aRig();
    await rig.dieDuring("remember color=blue", isText);
    expect(await rig.say("hello")).not.toBe("");
    expect(await lastFidelity(rig)).toBe("native");
    rig.restart();
    const session = await lastSession(rig);
    rig.world.saveTranscript(session, (rig.world.transcript(session) ?? []).slice(-2));
    expect(await rig.say("recall color")).toBe("blue");
    expect(await rig.chain()).toEqual(["first"]);
  });

  test("with what it was asked last is not taken for whole by the same words of an earlier turn", async () => {
    const rig = await aRig({ agents: [{ agent: "claude" }, { agent: "codex" }] });
    await rig.dieDuring("remember color=blue", isText);
    await rig.say("recall color");
    await rig.send("remember pet=cat", { agent: "codex" });
    rig.world.loseTranscript((await rig.of("upstream_link"))[0]?.upstream ?? "");
    rig.script({ kind: "crash", phase: "end" });
    expect(await rig.say("recall color")).toBe("blue");
  });
});

describe("a session that was made with the history", () => {
  const RESTORES = [{ agent: "claude", restores: true }];

  async function restored(): Promise<Rig> {
    const rig = await aRig({ agents: RESTORES });
    await rig.say("hello", "remember color=blue");
    rig.world.loseTranscript(await lastSession(rig));
    rig.restart();
    await rig.say("hello");
    expect(await lastFidelity(rig)).toBe("transcript");
    rig.restart();
    return rig;
  }

  test("is told nothing again by another process while its record is whole", async () => {
    const rig = await restored();
    expect(await rig.say("recall color")).toBe("blue");
    expect(await lastFidelity(rig)).toBe("native");
  });

  test.each([
    ["the same words of before in place of the turn it carried", (lines: number) => [0, lines / 3]],
    ["only the turn it carried", (lines: number) => [(lines / 3) * 2, lines]],
  ] as const)("is told again where its record has %s", async (_, kept) => {
    const rig = await restored();
    const session = await lastSession(rig);
    const lines = rig.world.transcript(session) ?? [];
    expect(lines).toHaveLength(6);
    rig.world.saveTranscript(session, lines.slice(...kept(lines.length)));
    expect(await rig.say("recall color")).toBe("blue");
    expect(await lastFidelity(rig)).toBe("preamble");
  });

  test.each([
    ["native", "is whole", 0],
    ["preamble", "has lost the summary", 1],
  ])("behind a summary goes on as %s where its record %s", async (fidelity, _, from) => {
    const rig = await aRig({ agents: RESTORES });
    await rig.say("remember color=blue", "remember pet=cat");
    const [, kept] = (await rig.of("message")).filter(({ message }) => message.role === "user");
    const chat = await rig.holdfast.conversation("c");
    await chat.append({ type: "compaction", summary: "color=blue", firstKeptEntryId: kept?.id ?? "" });
    rig.world.loseTranscript(await lastSession(rig));
    rig.restart();
    await rig.say("hello");
    expect(await lastFidelity(rig)).toBe("transcript");
    rig.restart();
    const session = await lastSession(rig);
    const lines = rig.world.transcript(session) ?? [];
    expect(lines).toHaveLength(5);
    rig.world.saveTranscript(session, lines.slice(from));
    expect(await rig.say("recall color")).toBe("blue");
    expect(await lastFidelity(rig)).toBe(fidelity);
  });

  test.each([
    ["the beginning", 2, 4],
    ["the end", 0, 2],
  ])("by a fork and never asked is told again where its record has lost %s", async (_, from, to) => {
    const rig = await aRig();
    await rig.say("remember color=blue", "remember pet=cat");
    const [upstream] = rig.upstreams;
    if (upstream === undefined) throw new RangeError("A rig needs an agent");
    await forkAside(await rig.holdfast.conversation("c"), upstream, { id: "side" });
    const session = (await rig.of("upstream_link", "side"))[0]?.upstream ?? "";
    rig.restart();
    rig.world.saveTranscript(session, (rig.world.transcript(session) ?? []).slice(from, to));
    for (const [key, value] of [["color", "blue"] as const, ["pet", "cat"] as const])
      expect((await rig.send(`recall ${key}`, { to: "side" })).text).toBe(value);
    expect((await rig.of("attempt", "side"))[0]?.fidelity).toBe("preamble");
  });
});

/** Three turns, another process, and a record that has lost the first of them. */
async function cut(lost: number = 2, options: Parameters<typeof aRig>[0] = {}): Promise<Rig> {
  const rig = await aRig(options);
  await rig.say("remember color=blue", "remember pet=cat", "hello");
  rig.restart();
  const session = await lastSession(rig);
  rig.world.saveTranscript(session, (rig.world.transcript(session) ?? []).slice(lost));
  return rig;
}

async function lastPrompt(rig: Rig): Promise<string> {
  return (await rig.of("message")).findLast(({ message }) => message.role === "user")?.id ?? "";
}

describe("a session that was just forked from a cut record", () => {
  test.each([
    ["is told again", 2, "preamble"],
    ["is told nothing where the record is whole", 0, "native"],
  ])("beside the conversation %s", async (_, lost, fidelity) => {
    const rig = await cut(lost);
    await rig.runtime.fork("c", { id: "side" });
    expect((await rig.send("recall color", { to: "side" })).text).toBe("blue");
    expect(await lastFidelity(rig, "side")).toBe(fidelity);
    expect((await rig.send("recall pet", { to: "side" })).text).toBe("cat");
    expect(await lastFidelity(rig, "side")).toBe("native");
  });

  test("beside the conversation, and got ready by a host before its first prompt, is told again", async () => {
    const rig = await cut();
    await rig.runtime.fork("c", { id: "side" });
    expect(await rig.runtime.connect("side")).toMatchObject({ fidelity: "preamble" });
    expect((await rig.send("recall color", { to: "side" })).text).toBe("blue");
  });

  test.each([
    ["is told again", 2, "preamble"],
    ["is told nothing where the record is whole", 0, "native"],
  ])("for other words in place of a prompt %s", async (_, lost, fidelity) => {
    const rig = await cut(lost);
    expect((await rig.send("recall color", { from: { edit: await lastPrompt(rig) } })).text).toBe("blue");
    expect(await lastFidelity(rig)).toBe(fidelity);
  });

  test.each([
    ["is told again", 2, "preamble"],
    ["is told nothing where the record is whole", 0, "native"],
  ])("to go on in %s", async (_, lost, fidelity) => {
    const rig = await cut(lost);
    expect((await rig.send("recall color", { from: { fork: true } })).text).toBe("blue");
    expect(await lastFidelity(rig)).toBe(fidelity);
  });

  test("is told again though its first prompt was put off", async () => {
    const rig = await cut();
    await rig.runtime.fork("c", { id: "side" });
    rig.script({ kind: "overload", phase: "start" });
    expect((await rig.send("recall color", { to: "side" })).text).toBe("blue");
  });

  test("is told again after a first prompt that was stopped before it was sent", async () => {
    const rig = await cut();
    await rig.runtime.fork("c", { id: "side" });
    const stopped = rig.when(
      (event) => event.type === "session" && event.conversation === "side",
      () => rig.runtime.cancel("side"),
    );
    const [{ outcome }] = await Promise.all([rig.send("recall pet", { to: "side" }), stopped]);
    expect(outcome).toBe("interrupted");
    expect(rig.upstreams[0]?.requests.some(({ verb }) => verb === "prompt")).toBe(false);
    expect((await rig.send("recall color", { to: "side" })).text).toBe("blue");
  });

  test("is resumed where another process went on with it", async () => {
    const rig = await cut(0, { two: true });
    await rig.runtime.fork("c", { id: "side" });
    await rig.send("remember size=big", { to: "side", via: "other" });
    rig.script({ kind: "limit", phase: "text" });
    await rig.send("remember shape=round", { to: "side", via: "other" });
    expect((await rig.send("recall size", { to: "side", force: true })).text).toBe("big");
    expect((await rig.send("recall color", { to: "side" })).text).toBe("blue");
    expect(await rig.chain("side")).toEqual(["first", "forked"]);
  });

  test.each([
    ["is told", false, 2, "preamble"],
    ["is told nothing where its fork can be trusted", true, 0, "native"],
  ])("and shows nothing of itself %s", async (_, trustedResume, lost, fidelity) => {
    const rig = await cut(lost, {
      agents: [{ agent: "claude", shows: false, capabilities: { trustedResume } }],
    });
    // What the fork is said to be is what its first prompt makes of it.
    expect(await rig.runtime.fork("c", { id: "side" })).toMatchObject({ fidelity });
    expect((await rig.send("recall color", { to: "side" })).text).toBe("blue");
    expect(await lastFidelity(rig, "side")).toBe(fidelity);
  });
});

test.each(["", "remember color=blue; "])(
  "a record that lost a tool behind the last words is told of it (%s)",
  async (before) => {
    const rig = await aRig();
    rig.script({ kind: "empty", phase: "after_tool" }, { kind: "truncate", phase: "resume" });
    expect(await rig.send(`${before}email bob about rent`)).toMatchObject({ class: "completed" });
    rig.restart();
    expect(await rig.say("email bob about rent")).toBe("Already sent: email bob about rent");
    expect(rig.world.outbox.doubles()).toEqual([]);
  },
);
