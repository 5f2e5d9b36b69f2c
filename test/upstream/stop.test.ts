/** Scenarios 19 to 28: old answers that come again, empty ones, and agents that will not stop. */
import { expect, test } from "vitest";
import { aRig, isText, isTool, type Rig } from "./rig.ts";

const shownText = (rig: Rig): string =>
  rig
    .told("update")
    .map(({ event }) => (event.type === "text" ? event.text : ""))
    .join("");

test("scenario 19: the previous answer served again is neither shown nor stored, and the prompt is answered", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  const shown = shownText(rig);
  rig.script({ kind: "stale" });
  expect(await rig.say("recall color")).toBe("blue");
  expect(shownText(rig)).toBe(`${shown}blue`);
  const replies = (await rig.of("message")).filter(({ message }) => message.role === "assistant");
  expect(replies).toHaveLength(2);
  expect(await rig.of("update")).toEqual([]);
  expect(await rig.chain()).toEqual(["first", "stale_replay"]);
});

test("scenario 19: an agent that honestly says the same thing twice is believed", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue", "hello", "hello");
  expect((await rig.of("turn_end")).map((end) => end.class)).toEqual(["completed", "completed", "completed"]);
  expect(await rig.chain()).toEqual(["first"]);
  const texts = (await rig.of("message")).map(({ message }) => JSON.stringify(message.content));
  expect(texts[5]).toBe(texts[3]);
  expect(shownText(rig).split("You said").length).toBe(3);
});

test("scenario 19: an answer with tools that comes again as one text is known too", async () => {
  const rig = await aRig();
  await rig.say("remember a=1; email bob about rent");
  rig.script({ kind: "stale" });
  expect(await rig.say("recall a")).toBe("1");
  expect(rig.world.outbox.count("email bob about rent")).toBe(1);
});

test("scenario 19: an agent that is come back to may serve its own last answer, which is not the last of all", async () => {
  const rig = await aRig({ agents: [{ agent: "claude" }, { agent: "codex" }] });
  await rig.send("remember color=blue");
  await rig.send("remember shape=round", { agent: "codex" });
  rig.script({ kind: "stale" });
  expect(await rig.send("recall shape", { agent: "claude" })).toMatchObject({ text: "round" });
});

test("scenario 20: a stop during a tool that ignores it gives control back in bounded time, and the next prompt works", async () => {
  const rig = await aRig({ more: { cancelMs: 5_000 } });
  await rig.say("remember color=blue");
  rig.script({ kind: "ignore_cancel" }, { kind: "hang", phase: "in_tool", heedsCancel: false });
  const stopped = rig.when(isTool("started"), () => rig.runtime.cancel("c"));
  const turn = rig.send("remember a=1; email bob about rent");
  await stopped;
  const before = rig.world.nowMs();
  const { upstream, ...result } = await turn;
  expect(result).toMatchObject({ outcome: "interrupted", class: "cancelled" });
  expect(result.text.trim()).toBe("Noted a=1");
  expect(rig.world.nowMs() - before).toBeLessThanOrEqual(5_000);
  const next = await rig.send("recall color");
  expect(next.text).toBe("blue");
  expect(next.upstream).not.toBe(upstream);
  expect((await rig.of("upstream_end")).map((end) => end.upstream)).toEqual([upstream]);
});

test("scenario 20: a stop that is confirmed keeps the session", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  const stopped = rig.when(isText, () => rig.runtime.cancel("c"));
  const turn = rig.send("work 50");
  await stopped;
  const { upstream, outcome } = await turn;
  expect(outcome).toBe("interrupted");
  expect(await rig.send("recall color")).toMatchObject({ text: "blue", upstream });
});

test("scenario 20: a stop while a session is being opened, or while backing off, comes back at once", async () => {
  const rig = await aRig();
  rig.script({ kind: "hang", phase: "open" });
  const opening = rig.send("hello");
  await rig.when((event) => event.type === "accepted");
  rig.runtime.cancel("c");
  expect(await opening).toMatchObject({ outcome: "interrupted", class: "cancelled", upstream: null });
  rig.script({ kind: "overload", phase: "start", times: 9 });
  const backing = rig.when(
    (event) => event.type === "backing_off",
    () => rig.runtime.cancel("c"),
  );
  const turn = rig.send("hello");
  await backing;
  expect(await turn).toMatchObject({ outcome: "interrupted" });
});

test("scenario 20: a stop before the prompt has left ends the turn, and the agent is sent nothing", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  const asked = rig.asked().length;
  const stopped = rig.when(
    (event) => event.type === "accepted",
    () => rig.runtime.cancel("c"),
  );
  const turn = rig.send("email bob about rent");
  await stopped;
  expect(await turn).toMatchObject({ outcome: "interrupted", class: "cancelled", upstream: null });
  expect(rig.asked().slice(asked)).toEqual([]);
  expect(rig.world.outbox.count("email bob about rent")).toBe(0);
  expect(await rig.say("recall color")).toBe("blue");
  expect(await rig.chain()).toEqual(["first"]);
});

test("scenario 21: what an agent still says for a prompt that was given up reaches no other turn", async () => {
  const rig = await aRig({ more: { cancelMs: 1_000 } });
  rig.script({ kind: "ignore_cancel" });
  const stopped = rig.when(isText, () => rig.runtime.cancel("c"));
  const first = rig.send("work 200");
  await stopped;
  await first;
  const seen = rig.events.length;
  const second = await rig.send("work 100");
  expect(second.outcome).toBe("completed");
  const words = rig.events
    .slice(seen)
    .flatMap((event) => (event.type === "update" && event.event.type === "text" ? [event.event.text] : []));
  expect(words.filter((text) => !text.endsWith("of 100 done. "))).toEqual([]);
  expect(second.text).not.toContain("of 200");
});

test("scenario 21: the rest of a cancelled answer served as the next one is thrown away", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  const stopped = rig.when(isText, () => rig.runtime.cancel("c"));
  const cut = rig.send("work 50");
  await stopped;
  await cut;
  const seen = rig.events.length;
  rig.script({ kind: "late" });
  expect(await rig.say("recall color")).toBe("blue");
  expect(JSON.stringify(rig.events.slice(seen))).not.toContain("of 50 done");
  expect((await rig.chain()).at(-1)).toBe("stale_replay");
});

test("scenario 22: an answer of nothing is tried once elsewhere and else shown as what it is", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  rig.script({ kind: "empty" });
  expect(await rig.say("recall color")).toBe("blue");
  expect(await rig.chain()).toEqual(["first", "empty"]);
});

test("scenario 22: nothing said after a tool is stored with the tool, and the prompt is not sent again", async () => {
  const rig = await aRig();
  rig.script({ kind: "empty", phase: "after_tool" });
  expect(await rig.send("email bob about rent")).toMatchObject({ outcome: "completed", text: "" });
  expect((await rig.of("message")).map(({ message }) => message.role)).toEqual([
    "user",
    "assistant",
    "toolResult",
  ]);
  expect(rig.asked()).toEqual(["open", "prompt"]);
});

test("scenario 23: when the second session answers nothing too, there is no third", async () => {
  const rig = await aRig();
  rig.script({ kind: "empty", times: 5 });
  expect(await rig.send("hello")).toMatchObject({ outcome: "completed", class: "empty", text: "" });
  expect(rig.asked().filter((verb) => verb === "prompt")).toHaveLength(2);
  rig.world.faults.script([]);
});

test("scenario 23: whatever strikes, a prompt is recovered at most once", async () => {
  for (const kind of ["empty", "expire", "crash", "too_long", "poison"] as const) {
    const rig = await aRig();
    await rig.say("hello");
    rig.script({ kind, phase: "start", times: 9 });
    await rig.send("how are you");
    expect(
      rig.asked().filter((verb) => verb === "prompt"),
      kind,
    ).toHaveLength(3);
  }
});

test("scenario 26: hello after a lost long task ends with the raw words, behind a marked boundary", async () => {
  const rig = await aRig();
  await rig.say("work 30");
  rig.script({ kind: "expire", phase: "start" });
  await rig.say("hello");
  const told = rig.world.transcript(rig.world.sessions.at(-1) ?? "")?.[0]?.text ?? "";
  expect(told.endsWith("[End of the restored conversation. The user's new message follows.]\n\nhello")).toBe(
    true,
  );
});

test("scenario 27: a history an image has poisoned is left behind, and the context goes on without it", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  await rig.send([
    { type: "text", text: "look" },
    { type: "image", mediaType: "image/png", data: "AAAA" },
  ]);
  rig.script({ kind: "poison" });
  expect(await rig.say("recall color")).toBe("blue");
  const told = rig.transcripts().at(-1) ?? "";
  expect(told).toContain("(an image)");
  expect(told).not.toContain("AAAA");
  expect(await rig.chain()).toEqual(["first", "poisoned"]);
});

test("scenario 27: a session that proved bad is not tried again, even when its successor could not be had", async () => {
  const rig = await aRig();
  const { upstream } = await rig.send("remember color=blue");
  rig.script({ kind: "poison" }, { kind: "limit", phase: "open", resetMs: 1_000 });
  expect(await rig.send("hello")).toMatchObject({ class: "limit", upstream: null });
  await rig.world.timeline.pass(2_000);
  const next = await rig.send("recall color");
  expect(next.text).toBe("blue");
  expect(next.upstream).not.toBe(upstream);
  expect(rig.asked()).not.toContain("resume");
});

test("scenario 28: an agent that falls silent does not keep a turn open for ever; a long tool is left to work", async () => {
  const rig = await aRig({ more: { silenceMs: 1_000, toolSilenceMs: 10_000 } });
  await rig.say("email bob about rent");
  expect(rig.world.outbox.count("email bob about rent")).toBe(1);
  rig.script({ kind: "hang", phase: "in_tool", heedsCancel: false });
  const before = rig.world.nowMs();
  expect(await rig.send("email eve about rent")).toMatchObject({ outcome: "interrupted" });
  expect(rig.world.nowMs() - before).toBeGreaterThan(10_000);
  expect(rig.world.nowMs() - before).toBeLessThan(20_000);
  expect(rig.world.outbox.count("email eve about rent")).toBe(0);
});

test("an answer that is read from the cache is not taken for stale: not after a stop, and not when it says the same again", async () => {
  const rig = await aRig();
  await rig.say("hello", "hello");
  const stopped = rig.when(isText, () => rig.runtime.cancel("c"));
  const cut = rig.send("work 50");
  await stopped;
  await cut;
  const prompt = "hello again, with a prompt that is longer than a word or two";
  expect(await rig.say(prompt, prompt)).toContain(prompt);
  expect(await rig.chain()).toEqual(["first"]);
  expect((await rig.of("turn_end")).map((end) => end.class)).toEqual([
    "completed",
    "completed",
    "cancelled",
    "completed",
    "completed",
  ]);
});
