/** What happens beside the turns: sessions got ready, changes of settings, letting go, closing. */
import { expect, test } from "vitest";
import type { Upstream } from "#upstream/upstream";
import type { EntryBody } from "#log/entry";
import { LogError } from "#log/errors";
import { aRig, isText, Rig } from "../rig.ts";

const MODEL: EntryBody = { type: "model_change", model: "opus" };
const MODE: EntryBody = { type: "config_change", config: { mode: "plan" } };
const isAccepted = (event: { readonly type: string }): boolean => event.type === "accepted";

test("a session got ready is linked before the prompt and takes it without another being opened", async () => {
  const rig = await aRig();
  const { session, reason, fidelity } = await rig.runtime.connect("c", rig.host);
  expect([reason, fidelity, await rig.chain()]).toEqual(["first", "native", ["first"]]);
  expect(rig.runtime.session("c")).toBe(session);
  expect(await rig.send("hello")).toMatchObject({ outcome: "completed", upstream: session.id });
  expect(rig.asked()).toEqual(["open", "prompt"]);
});

test("a session got ready after a restart is proven once: the prompt resumes nothing again", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  rig.restart();
  expect(await rig.runtime.connect("c", rig.host)).toMatchObject({ reason: null, fidelity: "native" });
  expect(await rig.say("recall color")).toBe("blue");
  expect(rig.asked()).toEqual(["resume", "prompt"]);
  expect((await rig.of("attempt")).at(-1)?.fidelity).toBe("native");
});

test("a session is got ready by a new process when the first one dies of it", async () => {
  const rig = await aRig();
  rig.script({ kind: "crash", phase: "open" });
  await rig.runtime.connect("c", rig.host);
  expect(rig.asked()).toEqual(["open", "restart", "open"]);
});

test("getting a session ready ends in bounded time when the dead process cannot be ended", async () => {
  const stuck = (upstream: Upstream): Upstream => ({
    ...upstream,
    restart: () => new Promise<void>(() => undefined),
  });
  const rig = await aRig({ around: stuck, more: { resumeMs: 5_000 } });
  rig.script({ kind: "crash", phase: "open" });
  await expect(rig.runtime.connect("c", rig.host)).rejects.toThrow();
  expect(rig.runtime.cancel("c")).toBe(false);
});

test("a session that was got ready and could not be linked is let go of", async () => {
  const rig = await aRig();
  rig.fail = new LogError("disk_full", "full");
  await expect(rig.runtime.connect("c", rig.host)).rejects.toMatchObject({ code: "disk_full" });
  expect([rig.asked(), rig.runtime.session("c")]).toEqual([["open", "close"], null]);
});

test("a session is not got ready while another host is at work", async () => {
  const rig = await aRig({ two: true });
  const turn = rig.send("work 8");
  await rig.when(isText);
  const connecting = rig.runtimeOf("other").connect("c", rig.host);
  await expect(connecting).rejects.toMatchObject({ code: "busy" });
  expect(await turn).toMatchObject({ outcome: "completed" });
});

test("closing while a session is got ready returns, and leaves none behind", async () => {
  const rig = await aRig();
  rig.script({ kind: "hang", phase: "open" });
  const connecting = rig.runtime.connect("c", rig.host);
  const refused = expect(connecting).rejects.toThrow();
  await rig.runtime.close();
  await refused;
  expect([rig.runtime.session("c"), await rig.chain()]).toEqual([null, []]);
});

test("closing cancels what runs, waits until it is recorded, and lets go of every session", async () => {
  const rig = await aRig();
  const turn = rig.send("work 50");
  await rig.when(isText);
  await rig.runtime.close();
  expect((await rig.of("turn_end")).map((end) => [end.outcome, end.class])).toEqual([
    ["interrupted", "cancelled"],
  ]);
  expect(await turn).toMatchObject({ outcome: "interrupted" });
  expect(rig.asked().at(-1)).toBe("close");
});

test("closing sees a prompt that was sent in the same breath", async () => {
  const rig = await aRig();
  const turn = rig.send("work 50");
  await rig.runtime.close();
  expect(await turn).toMatchObject({ outcome: "interrupted" });
  expect(rig.runtime.session("c")).toBeNull();
});

test("what is noted between turns is written at once, what is noted in one when it has ended", async () => {
  const rig = await aRig();
  await rig.runtime.note("c", [MODEL]);
  expect(await rig.of("model_change")).toHaveLength(1);
  const turn = rig.send("work 8");
  await rig.when(isText);
  await rig.runtime.note("c", [MODE]);
  expect(await rig.of("config_change")).toHaveLength(0);
  await turn;
  const [end] = await rig.of("turn_end");
  const [change] = await rig.of("config_change");
  expect(change?.seq).toBeGreaterThan(end?.seq ?? Infinity);
});

test("notes and a prompt of one host do not fence each other off, in whatever order they come", async () => {
  for (const order of ["before", "after", "both"] as const) {
    const rig = await aRig();
    const early = order === "after" ? [] : [rig.runtime.note("c", [MODEL]), rig.runtime.note("c", [MODE])];
    const turn = rig.send("hello");
    const late = order === "before" ? [] : [rig.runtime.note("c", [MODEL]), rig.runtime.note("c", [MODE])];
    await Promise.all([...early, ...late]);
    expect(await turn).toMatchObject({ outcome: "completed" });
    const changes = [...(await rig.of("model_change")), ...(await rig.of("config_change"))];
    expect(changes).toHaveLength(early.length + late.length);
  }
});

test("a note made in the moment a turn ends is not lost", async () => {
  const rig = await aRig();
  const notes: Promise<void>[] = [];
  const done = rig.when(
    (event) => event.type === "ended",
    () => {
      // One for every step the end of a turn takes after it was told.
      let steps: Promise<void> = Promise.resolve();
      for (let step = 0; step < 40; step++)
        steps = steps.then(() => void notes.push(rig.runtime.note("c", [MODE])));
    },
  );
  await rig.send("hello");
  await done;
  await rig.world.timeline.pass(1);
  await Promise.all(notes);
  expect([notes.length, (await rig.of("config_change")).length]).toEqual([40, 40]);
});

test("what was noted in a turn is written also when the turn fails", async () => {
  const rig = await aRig();
  const retry = rig.runtime.retry("c", rig.host);
  const noted = rig.runtime.note("c", [MODE]);
  await expect(retry).rejects.toMatchObject({ code: "invalid_request" });
  await noted;
  expect(await rig.of("config_change")).toHaveLength(1);
});

test("a note that nobody can write is refused, not forgotten", async () => {
  const rig = await aRig({ two: true });
  const turn = rig.send("work 8");
  await rig.when(isText);
  const other = rig.runtimeOf("other");
  const send = expect(rig.send("hello", { via: "other" })).rejects.toMatchObject({ code: "busy" });
  await expect(other.note("c", [MODE])).rejects.toMatchObject({ code: "busy" });
  await send;
  await turn;
});

test("letting go while a turn runs lets the turn end, and the next prompt resumes", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  const turn = rig.send("work 8");
  await rig.when(isText);
  await rig.runtime.release("c");
  expect(await turn).toMatchObject({ outcome: "completed" });
  expect([rig.asked().at(-1), rig.runtime.session("c")]).toEqual(["close", null]);
  expect(await rig.say("recall color")).toBe("blue");
  expect(rig.asked().slice(-2)).toEqual(["resume", "prompt"]);
});

test("a turn that could not be recorded leaves no session open", async () => {
  const rig = await aRig({ agents: [{ agent: "claude" }, { agent: "codex" }] });
  await rig.send("hello", { agent: "codex" });
  rig.script({ kind: "roll", phase: "text" });
  void rig.when(isText, () => (rig.fail = new LogError("disk_full", "full")));
  await expect(rig.send("work 8")).rejects.toMatchObject({ code: "disk_full" });
  expect([rig.asked(0).at(-1), rig.asked(1).at(-1)]).toEqual(["close", "close"]);
});

test("a change of model or config between turns says nothing to the agent again", async () => {
  const rig = await aRig();
  await rig.say("remember color=blue");
  await rig.runtime.note("c", [MODEL, MODE, { type: "custom", customType: "mark" }]);
  expect(await rig.say("recall color")).toBe("blue");
  rig.restart();
  await rig.runtime.note("c", [{ type: "model_change", model: "haiku" }]);
  expect(await rig.say("recall color")).toBe("blue");
  expect((await rig.of("attempt")).map(({ fidelity }) => fidelity)).toEqual(["native", "native", "native"]);
  expect(rig.upstreams[0]?.requests.at(-1)?.settings?.model).toBe("haiku");
  expect(await rig.chain()).toEqual(["first"]);
});

test("something the agent has not been told makes its link unproven, and is told", async () => {
  const rig = await aRig();
  await rig.say("hello");
  const content = [{ type: "text", text: "The build failed" }] as const;
  await rig.runtime.note("c", [{ type: "custom", customType: "mark", inContext: true, content }]);
  await rig.say("hello again");
  expect((await rig.of("attempt")).at(-1)?.fidelity).toBe("preamble");
  expect(rig.transcripts().at(-1)).toContain("> The build failed");
});

test("a prompt that was limited is sent again after another model was chosen, with that model", async () => {
  const rig = await aRig();
  rig.script({ kind: "limit", phase: "start", resetMs: 1_000 });
  const limited = await rig.send("remember color=blue");
  await rig.runtime.note("c", [MODEL]);
  const again = await rig.runtime.retry("c", { force: true, ...rig.host });
  expect(again).toMatchObject({ outcome: "completed", prompt: limited.prompt });
  expect(rig.upstreams[0]?.requests.at(-1)?.settings?.model).toBe("opus");
  const texts = (await rig.of("message")).map(({ message }) => message.role);
  expect(texts).toEqual(["user", "assistant"]);
});

test("a change of settings after a crash does not take the interrupted answer off the branch", async () => {
  const rig = await aRig();
  await rig.dieDuring("email bob about lunch; work 8", isText);
  await rig.runtime.note("c", [MODE]);
  await rig.say("hello");
  const branch = await (await rig.holdfast.conversation("c")).branch();
  const calls = branch.filter(({ payload }) => payload.includes("toolCall"));
  expect(calls).not.toEqual([]);
});

test("a prompt goes on being refused while one runs", async () => {
  const rig = await aRig();
  const turn = rig.send("hello");
  await expect(rig.send("hello")).rejects.toMatchObject({ code: "busy" });
  expect(rig.told("accepted").filter(isAccepted)).toHaveLength(0);
  expect(await turn).toMatchObject({ outcome: "completed" });
  expect(new Rig().runtime.cancel("c")).toBe(false);
});
