/** Tools of one's own in a turn that an upstream carries: they meet in `prompt`, and each effect happens at most once. */
import { expect, test } from "vitest";
import type { EffectOutcome } from "#turn/effects/run-effects";
import type { Tool } from "#turn/effects/tool";
import { Holdfast } from "#conversation/holdfast";
import type { HostEvent } from "#turn/host";
import { Runtime } from "#upstream/runtime";
import type { PromptEvent, PromptRequest } from "#upstream/upstream";
import type { Json } from "#log/json/json-text";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { actingUpstream } from "../support/acting-upstream.ts";
import { dyingClock } from "../support/dying-clock.ts";

interface Mail extends Tool {
  readonly sent: string[];
}

function mail(run: () => Promise<string> = async () => "sent"): Mail {
  const sent: string[] = [];
  return {
    name: "send_email",
    sent,
    run: (input, { idempotencyKey }) => {
      sent.push(`${JSON.stringify(input)} ${idempotencyKey}`);
      return run();
    },
  };
}

/** An agent whose turn is a list of answers, each with its calls; what comes of them is its last word. */
function looping(tool: Tool, answers: readonly (readonly (readonly [string, Json])[])[], steps = true) {
  const outcomes: EffectOutcome[] = [];
  const work = async function* ({ runEffects }: PromptRequest): AsyncGenerator<PromptEvent> {
    for (const [step, calls] of answers.entries()) {
      const asked = calls.map(([id, input]) => ({ id, input, tool }));
      outcomes.push(...(await runEffects(asked, steps ? { step } : {})));
    }
    yield { type: "text", text: outcomes.map((outcome) => outcome.state).join(" ") };
  };
  return { outcomes, upstream: actingUpstream(work) };
}

function start(upstream: ReturnType<typeof looping>["upstream"], backing = inMemoryBacking()) {
  const holdfast = new Holdfast(inMemoryStore({ backing }), "default");
  const clock = dyingClock();
  const runtime = new Runtime(holdfast, { upstreams: [upstream], isDead: async () => true, clock });
  const events: HostEvent[] = [];
  const host = { onEvent: (event: HostEvent): void => void events.push(event) };
  return { holdfast, runtime, events, host, backing, die: () => clock.die() };
}

test("a tool of one's own runs once and stands in the reply, the ledger and what people see once", async () => {
  const tool = mail();
  const { upstream } = looping(tool, [[["call_0", { to: "bob" }]]]);
  const { holdfast, runtime, events, host } = start(upstream);
  const chat = await holdfast.create();
  const sent = await runtime.send(chat.id, "email bob", host);
  expect(sent).toMatchObject({ outcome: "completed", text: "done" });
  expect(tool.sent).toEqual([`{"to":"bob"} effect/${sent.turn}/step 0/call_0`]);
  const { messages } = await chat.context();
  expect(
    messages.map(({ role, content }) => `${role} ${content.map((block) => block.type).join(" ")}`),
  ).toEqual(["user text", "assistant toolCall", "toolResult text", "assistant text"]);
  expect(await chat.effects()).toMatchObject([{ call: "call_0", state: "done", replay: "never" }]);
  const seen = events.flatMap((event) =>
    event.type === "update" && event.event.type === "tool" ? [event.event.state] : [],
  );
  expect(seen).toEqual(["started", "done"]);
  expect(await chat.issues()).toEqual([]);
});

test("a provider that numbers per answer gets a result for each of its calls, with steps and without", async () => {
  for (const steps of [true, false]) {
    const tool = mail();
    const { upstream } = looping(tool, [[["call_0", { to: "bob" }]], [["call_0", { to: "eve" }]]], steps);
    const { holdfast, runtime, host } = start(upstream);
    const chat = await holdfast.create();
    expect(await runtime.send(chat.id, "email both", host)).toMatchObject({ text: "done done" });
    expect(tool.sent).toHaveLength(2);
    expect((await chat.effects()).map((effect) => effect.state)).toEqual(["done", "done"]);
    const calls = (await chat.context()).messages.flatMap(({ content }) =>
      content.flatMap((block) => (block.type === "toolCall" ? [JSON.stringify(block.input)] : [])),
    );
    expect(calls).toEqual(['{"to":"bob"}', '{"to":"eve"}']);
  }
});

test("a call that is asked for again in the same step is not run again", async () => {
  const tool = mail();
  const call = ["call_0", { to: "bob" }] as const;
  const { upstream, outcomes } = looping(tool, [[call, call], [call]], false);
  const { holdfast, runtime, host } = start(upstream);
  const chat = await holdfast.create();
  await runtime.send(chat.id, "email bob", host);
  expect(tool.sent).toHaveLength(1);
  expect(outcomes).toMatchObject([{ ran: true }, { ran: false }, { ran: false }]);
  expect(await chat.effects()).toHaveLength(1);
});

test("a host that dies in the act leaves an outcome unknown; a retry is refused and nothing runs again", async () => {
  const acting = Promise.withResolvers<void>();
  const dying = mail(() => (acting.resolve(), new Promise(() => undefined)));
  const first = start(looping(dying, [[["call_0", { to: "bob" }]]]).upstream);
  const { id } = await first.holdfast.create();
  void first.runtime.send(id, "email bob", first.host);
  await acting.promise;
  first.die();
  const tool = mail();
  const next = start(looping(tool, [[["call_0", { to: "bob" }]]]).upstream, first.backing);
  await expect(next.runtime.retry(id, next.host)).rejects.toMatchObject({ code: "invalid_request" });
  expect([dying.sent.length, tool.sent.length]).toEqual([1, 0]);
  const chat = await next.holdfast.conversation(id);
  expect((await chat.effects()).map((effect) => effect.state)).toEqual(["unknown"]);
});

test("a host that dies after the outcome is known has it in the log", async () => {
  const told = Promise.withResolvers<void>();
  const tool = mail();
  const upstream = actingUpstream(async function* ({ runEffects }) {
    await runEffects([{ id: "call_0", input: { to: "bob" }, tool }]);
    told.resolve();
    await new Promise(() => undefined);
    yield { type: "text", text: "never" };
  });
  const first = start(upstream);
  const { id } = await first.holdfast.create();
  void first.runtime.send(id, "email bob", first.host);
  await told.promise;
  first.die();
  const next = start(upstream, first.backing);
  await expect(next.runtime.retry(id, next.host)).rejects.toMatchObject({ code: "invalid_request" });
  expect((await (await next.holdfast.conversation(id)).effects()).map((effect) => effect.state)).toEqual([
    "done",
  ]);
});

test("nothing of one's own is run once the turn was cancelled, nor once it is over", async () => {
  const tool = mail();
  let later: PromptRequest["runEffects"] | null = null;
  const cancelled = Promise.withResolvers<void>();
  const upstream = actingUpstream(
    async function* (request) {
      later = request.runEffects;
      runtime.cancel(chat.id);
      await cancelled.promise;
      await request.runEffects([{ id: "call_0", input: {}, tool }]);
      yield { type: "text", text: "never" };
    },
    { cancel: async () => cancelled.resolve() },
  );
  const { holdfast, runtime, host } = start(upstream);
  const chat = await holdfast.create();
  const sent = await runtime.send(chat.id, "email bob", host);
  expect(sent).toMatchObject({ outcome: "interrupted", class: "cancelled" });
  const after = (later as PromptRequest["runEffects"] | null)?.([{ id: "call_1", input: {}, tool }]);
  await expect(after).rejects.toMatchObject({ code: "invalid_request" });
  expect([tool.sent, await chat.effects()]).toEqual([[], []]);
});

test("two calls of one step that share an id and are not the same: the second is refused and not run", async () => {
  const tool = mail();
  const upstream = actingUpstream(async function* ({ runEffects }) {
    await runEffects([{ id: "call_0", input: { to: "bob" }, tool }], { step: 1 });
    const second = runEffects([{ id: "call_0", input: { to: "eve" }, tool }], { step: 1 });
    yield { type: "text", text: await second.then(String, (error: { code: string }) => error.code) };
  });
  const { holdfast, runtime, host } = start(upstream);
  const { id } = await holdfast.create();
  expect((await runtime.send(id, "email both", host)).text).toBe("invalid_request");
  expect(tool.sent).toHaveLength(1);
});
