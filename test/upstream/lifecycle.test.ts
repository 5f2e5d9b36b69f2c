/** Scenarios 48, 50, 53 to 55 and what else a host lives through: steering, restarts, sign-out, many at once. */
import { expect, test } from "vitest";
import type { HostEvent } from "#turn/host";
import { systemClock } from "#conversation/clock";
import { Runtime } from "#upstream/runtime";
import { LogError } from "#log/errors";
import { aRig, isText, isTool } from "./rig.ts";

const words = (text: string): readonly [{ readonly type: "text"; readonly text: string }] => [
  { type: "text", text },
];

test("scenario 48: what is typed during a turn is delivered once, with the next prompt", async () => {
  const rig = await aRig();
  const conversation = await rig.holdfast.conversation("c");
  let steered: Promise<unknown> = Promise.resolve();
  const typed = rig.when(isText, () => {
    steered = conversation.steer("s1", words("remember color=blue"));
  });
  const turn = rig.send("work 30");
  await typed;
  await steered;
  await turn;
  expect(await rig.say("recall color")).toContain("blue");
  await rig.say("hello");
  const told = rig.transcripts().join("\n");
  expect(told.match(/remember color=blue/g)).toHaveLength(1);
  expect(
    (await rig.of("message")).filter(({ message }) =>
      JSON.stringify(message.content).includes("remember color"),
    ),
  ).toHaveLength(1);
});

test("scenario 48: steered words survive a restart, a crash of the agent and a resume that is checked", async () => {
  const rig = await aRig();
  await rig.say("hello");
  await (await rig.holdfast.conversation("c")).steer("s1", words("remember color=blue"));
  rig.restart();
  rig.script({ kind: "crash", phase: "start" });
  await rig.say("remember shape=round");
  rig.restart();
  const { text, upstream } = await rig.send("recall color");
  expect(text).toBe("blue");
  expect((await rig.of("attempt")).at(-1)).toMatchObject({ fidelity: "native", upstream });
  expect((await rig.of("steer")).map((steer) => steer.state)).toEqual(["accepted", "delivered"]);
});

test("scenario 50: a turn whose agent dies fails promptly, and the next one finds a new process", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  rig.script({ kind: "crash", phase: "start", times: 2 });
  const before = rig.world.nowMs();
  expect(await rig.send("hello")).toMatchObject({ outcome: "interrupted", class: "crashed" });
  expect(rig.world.nowMs() - before).toBeLessThan(1_000);
  expect(await rig.say("recall color")).toBe("blue");
});

test("scenario 53: every event of every path says which conversation it is about", async () => {
  const rig = await aRig({ more: { silenceMs: 10_000, toolSilenceMs: 10_000 } });
  await rig.create("d");
  for (const kind of ["limit", "crash", "empty", "stale", "overload", "expire", "auth", "hang"] as const) {
    rig.script({ kind, phase: "start" });
    await rig.send("work 3", { to: "d", force: true });
  }
  expect(rig.events.filter((event) => event.conversation !== "d")).toEqual([]);
  expect(rig.told("ended")).toHaveLength(8);
});

test("scenario 54: after a sign-out that keeps the context, the account's ids are not used again", async () => {
  const rig = await aRig({ agents: [{ agent: "claude", account: "work" }] });
  const { upstream } = await rig.send("remember color=blue");
  expect(await rig.holdfast.signOut({ account: "work", keepContext: true })).toMatchObject({ ended: 1 });
  const next = await rig.send("recall color");
  expect(next.text).toBe("blue");
  expect(next.upstream).not.toBe(upstream);
  expect(rig.asked()).toEqual(["open", "prompt", "open", "prompt"]);
});

test("scenario 55: nothing is doubled by recovery: each prompt and each answer is one message", async () => {
  const rig = await aRig();
  for (const kind of ["crash", "expire", "stale", "empty", "overload"] as const) {
    rig.script({ kind, phase: "start" });
    await rig.say(`note ${kind}`);
  }
  expect((await rig.of("message")).map(({ message }) => message.role)).toEqual(
    Array.from({ length: 5 }, () => ["user", "assistant"]).flat(),
  );
});

test("the prompt, its link and its attempt are durable before the prompt leaves", async () => {
  const seen: string[] = [];
  const rig = await aRig({
    async beforePrompt(watched) {
      const log = await watched.log();
      seen.push(
        log
          .slice(-4)
          .map((entry) => entry.type)
          .join(" "),
      );
    },
  });
  await rig.say("hello");
  expect(seen).toEqual(["message turn_start upstream_link attempt"]);
});

const IN_TURN = ["start", "text", "before_tool", "after_tool", "end"] as const;

test.each(IN_TURN)(
  "a session that the agent opens in mid-turn (%s) is linked, and is told the conversation with the next prompt",
  async (phase) => {
    for (const release of ["held", "released", "killed"]) {
      const rig = await aRig({ agents: [{ agent: "claude", capabilities: { trustedResume: true } }] });
      await rig.say("remember color=blue");
      rig.script({ kind: "roll", phase });
      const { upstream } = await rig.send("remember shape=round; email bob about rent");
      expect(await rig.chain(), release).toEqual(["first", "rolled_by_upstream"]);
      if (release === "released") await rig.runtime.release("c");
      if (release === "killed") rig.restart();
      const asked = await rig.send("recall color; recall shape; email bob about rent");
      expect(asked.text, release).toBe("blue\nround\nAlready sent: email bob about rent");
      expect(asked.upstream, release).toBe(upstream);
      expect(await rig.say("recall color")).toBe("blue");
      // It was told once, and holds it from then on.
      const told = (await rig.of("attempt")).map((attempt) => attempt.priorContext !== undefined);
      expect(told, release).toEqual([false, false, true, false]);
    }
  },
);

test.each(IN_TURN)("a session that the agent renames in mid-turn (%s) holds what it held", async (phase) => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  rig.script({ kind: "roll", phase, renamed: true });
  const { upstream } = await rig.send("remember shape=round; email bob about rent");
  expect(await rig.chain()).toEqual(["first", "renamed_by_upstream"]);
  expect(await rig.send("recall color")).toMatchObject({ text: "blue", upstream });
  rig.restart();
  expect(await rig.send("recall shape")).toMatchObject({ text: "round", upstream });
  expect((await rig.of("attempt")).map(({ fidelity }) => fidelity)).toEqual(
    Array.from({ length: 4 }, () => "native"),
  );
});

test.each([false, true])(
  "a host killed after an agent changed its id resumes the new one (%s)",
  async (renamed) => {
    const rig = await aRig();
    await rig.say("remember color=blue");
    rig.script({ kind: "roll", phase: "text", renamed });
    await rig.dieDuring("work 20", (event) => event.type === "update" && event.event.type === "session");
    expect(await rig.say("recall color")).toBe("blue");
    expect(rig.asked()).toEqual(["restart", "resume", "prompt"]);
    expect((await rig.chain()).at(-1)).toBe(renamed ? "renamed_by_upstream" : "rolled_by_upstream");
  },
);

test("what an agent did unheard is found in the record of the session that it renamed", async () => {
  const rig = await aRig({ agents: [{ agent: "claude", records: true }] });
  await rig.say("remember color=blue");
  rig.script({ kind: "roll", phase: "start", renamed: true });
  const isRenamed = (event: HostEvent): boolean => event.type === "update" && event.event.type === "session";
  await rig.dieDuring("email bob about rent", isRenamed, { orphans: true });
  await rig.world.timeline.pass(5_000);
  expect(rig.world.outbox.count("email bob about rent")).toBe(1);
  await rig.say("recall color");
  const results = (await rig.of("message")).filter(({ message }) => message.role === "toolResult");
  expect(results.map(({ message }) => message)).toMatchObject([{ toolName: "send_email", isError: false }]);
});

test("a prompt that is sent again to a session that the agent opened carries the conversation", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  rig.script({ kind: "roll", phase: "start" }, { kind: "overload", phase: "text" });
  expect(await rig.say("recall color")).toBe("blue");
  expect((await rig.of("attempt")).map(({ fidelity }) => fidelity)).toEqual(["native", "native", "preamble"]);
});

test("a hidden message does not come back through a session that knew it", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  const conversation = await rig.holdfast.conversation("c");
  for (const { id } of await rig.of("message")) await conversation.hide(id);
  expect(await rig.say("recall color")).toBe("I do not know color");
});

test("a branch that was left does not come back through a session that knew it", async () => {
  const rig = await aRig();
  await rig.say("remember shape=round");
  const conversation = await rig.holdfast.conversation("c");
  const { leaf } = await conversation.head();
  await rig.say("remember color=blue");
  await conversation.goTo(leaf.id);
  expect(await rig.say("recall color")).toBe("I do not know color");
  expect(await rig.say("recall shape")).toBe("round");
});

test("tools that had finished when the host died keep their results, and the words before them are kept", async () => {
  const rig = await aRig();
  await rig.dieDuring("remember a=1; email bob about rent; work 30", isTool("done"));
  await rig.say("hello");
  const kept = (await rig.of("message")).slice(1, 3).map(({ message }) => message);
  expect(kept[0]).toMatchObject({
    role: "assistant",
    content: [{ type: "text" }, { type: "toolCall", name: "send_email" }],
  });
  expect(rig.world.outbox.count("email bob about rent")).toBe(1);
});

test("words that were streamed before an agent fell silent are in the log while it is silent", async () => {
  const rig = await aRig();
  rig.script({ kind: "hang", phase: "text" });
  void rig.send("work 30");
  await rig.when(isText);
  await rig.world.timeline.pass(1_000);
  rig.restart();
  await rig.say("hello");
  const reply = (await rig.of("message")).find(({ message }) => message.role === "assistant");
  expect(JSON.stringify(reply?.message)).toContain("Step 1 of 30");
});

test("twenty conversations at once share nothing", async () => {
  const rig = await aRig();
  const names = Array.from({ length: 20 }, (_, at) => `n${at}`);
  for (const name of names) await rig.create(name);
  await Promise.all(names.map((to, at) => rig.send(`remember color=c${at}; work ${at}`, { to })));
  rig.script({ kind: "expire", phase: "start", times: 7 }, { kind: "crash", phase: "text" });
  await Promise.all(names.map((to, at) => rig.send(`work ${at}`, { to })));
  const answers = await Promise.all(names.map((to) => rig.send("recall color", { to })));
  expect(answers.map((answer) => answer.text)).toEqual(names.map((_, at) => `c${at}`));
});

test("scenario 52: another host is told that the conversation is busy; one of the same name takes it over and fences the first", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  const upstream = rig.upstreams[0];
  if (upstream === undefined) throw new RangeError("no agent");
  const newId = (): string => rig.world.idsAndTime.newId();
  const hosts = ["other", "main-1"].map(
    (writer) => new Runtime(rig.holdfast, { upstreams: [upstream], clock: rig.world.clock, newId, writer }),
  );
  const first = rig.send("work 200");
  await rig.when(isText);
  const silent = { onEvent: (): void => undefined };
  await expect(hosts[0]?.send("c", "hello", silent)).rejects.toMatchObject({ code: "busy" });
  const [taken, overtaken] = await Promise.allSettled([hosts[1]?.send("c", "recall color", silent), first]);
  expect(taken).toMatchObject({ status: "fulfilled", value: { text: "blue" } });
  expect(overtaken).toMatchObject({ status: "rejected", reason: { code: "fenced" } });
  expect((await rig.of("turn_end")).map((end) => end.outcome)).toEqual([
    "completed",
    "interrupted",
    "completed",
  ]);
});

test("scenario 52: a store that fails is heard of, and the agent is told to stop", async () => {
  const rig = await aRig();
  rig.script({ kind: "hang", phase: "text" });
  const broken = new LogError("disk_full", "No space left");
  const turn = rig.send("work 50");
  await rig.when(isText);
  rig.fail = broken;
  const before = rig.world.nowMs();
  await expect(turn).rejects.toBe(broken);
  expect(rig.world.nowMs() - before).toBeLessThan(1_000);
  rig.fail = null;
  expect(await rig.say("hello")).toContain("hello");
  expect((await rig.of("turn_end")).map((end) => end.outcome)).toEqual(["interrupted", "completed"]);
});

test("a sleep that is cancelled before it begins is over", async () => {
  await systemClock.sleep(1_000_000, AbortSignal.abort());
});
