/** The simulated agent itself: what it remembers, what it does, and how its world behaves. */
import { expect, test } from "vitest";
import { classifyEnd } from "#turn/rules/classify";
import type { PromptEvent, SessionSettings, UpstreamSession } from "#upstream/upstream";
import { FAULT_KINDS, FAULT_PHASES, simUpstream, SimWorld } from "#testing/index";
import { parseConversationId } from "#log/ids";
import { NO_PRIOR_CONTEXT, type PriorContext } from "#upstream/rules/prior-context";
import { everything, play } from "../../simulation/story.ts";

const SETTINGS: SessionSettings = {
  conversation: parseConversationId("c"),
  cwd: null,
  model: null,
  config: {},
  usedAt: null,
};

async function prompt(
  session: UpstreamSession,
  text: string,
  prior: PriorContext = NO_PRIOR_CONTEXT,
): Promise<readonly PromptEvent[]> {
  const events: PromptEvent[] = [];
  for await (const event of session.prompt({
    content: [{ type: "text", text }],
    prior,
    proven: prior === NO_PRIOR_CONTEXT,
    settings: SETTINGS,
    runEffects: async () => [],
  }))
    events.push(event);
  return events;
}

const words = (events: readonly PromptEvent[]): string =>
  events.map((event) => (event.type === "text" ? event.text : "")).join("");
const ask = async (session: UpstreamSession, text: string, prior?: PriorContext): Promise<string> =>
  words(await prompt(session, text, prior));

test("remembers what it was told on its own session and nothing else", async () => {
  const agent = simUpstream(new SimWorld(), { agent: "claude" });
  const one = await agent.open(SETTINGS);
  const other = await agent.open(SETTINGS);
  expect(await ask(one, "remember color=blue")).toBe("Noted color=blue");
  expect(await ask(one, "recall color")).toBe("blue");
  expect(await ask(other, "recall color")).toBe("I do not know color");
  await ask(one, "remember color=red");
  expect(await ask(one, "recall color")).toBe("red");
});

test("knows what stands in a preamble, and takes its word on what was done", async () => {
  const world = new SimWorld();
  const session = await simUpstream(world, { agent: "claude" }).open(SETTINGS);
  const effects = [{ name: "send_email", input: '{"to":"bob","about":"rent"}', state: "done" }] as const;
  const prior: PriorContext = {
    ...NO_PRIOR_CONTEXT,
    messages: [{ role: "user", text: "remember color=blue", entryId: "e" }],
    effects,
  };
  expect(await ask(session, "recall color", prior)).toBe("blue");
  expect(await ask(session, "email bob about rent")).toBe("Already sent: email bob about rent");
  expect(world.outbox.all).toEqual([]);
});

test("sends emails through a tool, once, and its outbox counts what came twice", async () => {
  const world = new SimWorld();
  const agent = simUpstream(world, { agent: "claude" });
  const session = await agent.open(SETTINGS);
  const events = await prompt(session, "email bob about rent");
  expect(events.flatMap((event) => (event.type === "tool" ? [event.state] : []))).toEqual([
    "started",
    "done",
  ]);
  expect(await ask(session, "email bob about rent")).toContain("Already sent");
  expect(world.outbox.doubles()).toEqual([]);
  await ask(await agent.open(SETTINGS), "email bob about rent");
  expect(world.outbox.doubles()).toEqual(["email bob about rent"]);
});

test("answers different prompts differently and the same prompt the same", async () => {
  const session = await simUpstream(new SimWorld(), { agent: "claude" }).open(SETTINGS);
  const [one, other, again] = [
    await ask(session, "hello"),
    await ask(session, "hello "),
    await ask(session, "hello!"),
  ];
  expect(one).toBe(other);
  expect(again).not.toBe(one);
});

test("takes no real time, and the same time in every run", async () => {
  const run = async (): Promise<number> => {
    const world = new SimWorld();
    const session = await simUpstream(world, { agent: "claude" }).open(SETTINGS);
    await ask(session, "work 10000");
    return world.nowMs();
  };
  const started = performance.now();
  const [one, other] = [await run(), await run()];
  expect(one).toBe(other);
  expect(one).toBeGreaterThan(400_000);
  expect(performance.now() - started).toBeLessThan(one);
});

test("a silent restart changes the process and forgets what was not saved", async () => {
  const world = new SimWorld();
  const agent = simUpstream(world, { agent: "claude" });
  const [used, unused] = [await agent.open(SETTINGS), await agent.open(SETTINGS)];
  await ask(used, "remember color=blue");
  const before = used.process;
  world.restartSilently("claude");
  expect(used.process).not.toBe(before);
  await expect(agent.resume(unused.id, SETTINGS)).rejects.toMatchObject({ ending: { class: "lost" } });
  const back = await agent.resume(used.id, SETTINGS);
  expect(back.transcript).toEqual([
    { role: "user", text: "remember color=blue" },
    { role: "assistant", text: "Noted color=blue" },
  ]);
  expect(await ask(back, "recall color")).toBe("blue");
});

test("a restart ends the process it names, with its children, and leaves a newer one alone", async () => {
  const world = new SimWorld();
  const agent = simUpstream(world, { agent: "claude" });
  const old = (await agent.open(SETTINGS)).process;
  await agent.restart(old);
  const session = await agent.open(SETTINGS);
  await agent.restart(old);
  expect(await ask(session, "hello")).toContain("hello");
  await agent.restart(null);
  expect(await ask(session, "hello")).toBe("");
});

test("a fork knows what its source knew at that turn, and leaves the source alone", async () => {
  const agent = simUpstream(new SimWorld(), { agent: "claude" });
  const session = await agent.open(SETTINGS);
  await ask(session, "remember color=blue");
  await ask(session, "remember shape=round");
  const fork = await agent.fork(session.id, SETTINGS, 1);
  expect(await ask(fork, "recall shape")).toBe("I do not know shape");
  expect(await ask(fork, "recall color")).toBe("blue");
  expect(await ask(session, "recall shape")).toBe("round");
});

test("a fork does not learn what its source is told later, also not from its transcript", async () => {
  const world = new SimWorld();
  const agent = simUpstream(world, { agent: "claude" });
  const session = await agent.open(SETTINGS);
  await ask(session, "remember color=blue");
  const { id } = await agent.fork(session.id, SETTINGS);
  await ask(session, "remember shape=round");
  world.restartSilently("claude");
  expect(await ask(await agent.resume(id, SETTINGS), "recall shape")).toBe("I do not know shape");
});

test("after a kill nothing of the old life answers, and the next life finds the transcripts", async () => {
  const world = new SimWorld();
  const session = await simUpstream(world, { agent: "claude" }).open(SETTINGS);
  await ask(session, "remember color=blue");
  let answered = false;
  void ask(session, "hello").then(() => (answered = true));
  world.kill();
  await world.timeline.pass(100_000);
  expect(answered).toBe(false);
  const back = await simUpstream(world, { agent: "claude" }).resume(session.id, SETTINGS);
  expect(await ask(back, "recall color")).toBe("blue");
});

test("refuses a fault in a phase it cannot strike in", () => {
  expect(() => new SimWorld().script({ kind: "restart", phase: "text" })).toThrow(RangeError);
});

test.each(
  FAULT_KINDS.filter(
    (kind) =>
      FAULT_PHASES[kind].includes("start") &&
      !["empty", "stale", "late", "hang", "ignore_cancel", "roll"].includes(kind),
  ),
)("says %s in the words of its dialect, which are understood", async (kind) => {
  const meant = {
    limit: "limit",
    credit: "credit",
    overload: "overloaded",
    expire: "expired",
    auth: "auth",
    too_long: "too_long",
    poison: "poisoned",
    corrupt: "failed",
    crash: "crashed",
  } as const;
  for (const name of ["claude", "codex"]) {
    const world = new SimWorld().script({ kind, phase: "start", resetMs: 60_000 });
    const agent = simUpstream(world, { agent: name });
    const end = (await prompt(await agent.open(SETTINGS), "hello")).at(-1);
    const ending = end?.type === "end" ? classifyEnd(agent.endings ?? [], end.end) : null;
    expect(ending?.class).toBe(meant[kind as keyof typeof meant]);
    expect((ending?.resetAtMs ?? null) !== null).toBe(kind === "limit");
  }
});

test("the same seed tells the same story, another seed another", async () => {
  const told = async (seed: number): Promise<string> =>
    JSON.stringify([...(await play({ seed, people: 2, prompts: 6, probability: 0.03 })).struck]);
  expect(await told(7)).toBe(await told(7));
  expect(await told(7)).not.toBe(await told(8));
});

test("everything covers every fault in every phase", () => {
  const names = new Set(everything(0.1).map((chance) => `${chance.kind}/${chance.phase}`));
  expect(names.size).toBe(FAULT_KINDS.reduce((sum, kind) => sum + FAULT_PHASES[kind].length, 0));
});
