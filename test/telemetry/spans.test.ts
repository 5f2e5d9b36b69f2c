/** Spans as the real SDK exports them, of turns by our own loop and by an upstream. */
import { AsyncLocalStorage } from "node:async_hooks";
import { type Context, context, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from "@opentelemetry/sdk-trace-base";
import { expect, test } from "vitest";
import { Agent } from "#agent/agent";
import type { AgentOptions } from "#agent/agent-options";
import type { Clock } from "#conversation/clock";
import type { Holdfast } from "#conversation/holdfast";
import { openHoldfast } from "#open";
import { inMemoryBacking, inMemoryStore } from "#stores/in-memory/index";
import { observeStore, type StoreObserver } from "#store/index";
import { Metrics, openTelemetry } from "#telemetry/index";
import { SimWorld } from "#testing/index";
import { counter } from "../agent/rig.ts";
import { ScriptedModel } from "../agent/scripted-model.ts";
import { aRig, isText } from "../upstream/rig.ts";

const SECRET = "the word nobody may export";

async function traced(clock?: Clock): Promise<{
  readonly observer: StoreObserver;
  readonly spans: () => readonly ReadableSpan[];
}> {
  const exporter = new InMemorySpanExporter();
  const provider = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] });
  const tracer = provider.getTracer("test");
  const observer = await openTelemetry({ tracer, ...(clock === undefined ? {} : { clock }) });
  return { observer, spans: () => exporter.getFinishedSpans() };
}

/** How they ended, each with the turn it stands under. */
function endsOf(spans: readonly ReadableSpan[]): readonly string[] {
  return spans.map(({ name, attributes, parentSpanContext }) => {
    const error = attributes["error.type"];
    return `${parentSpanContext === undefined ? "" : "- "}${name}${error === undefined ? "" : ` (${String(error)})`}`;
  });
}

const loop = (holdfast: Holdfast, model: ScriptedModel, more: Partial<AgentOptions> = {}): Agent =>
  new Agent(holdfast, { model, permission: () => "allow", instructions: false, ...more });

test("a turn of our own loop is a span, its model calls and tools are spans in it, with what they used", async () => {
  const { observer, spans } = await traced();
  await using holdfast = await openHoldfast({ store: "memory:", telemetry: observer });
  await holdfast.create({ id: "c", title: SECRET });
  const model = new ScriptedModel([
    {
      text: SECRET,
      calls: [{ id: "k", name: "look", input: { for: SECRET } }],
      usage: { input: 30, output: 2, cached: 10 },
    },
    { text: SECRET, usage: { input: 40, output: 3 } },
  ]);
  await loop(holdfast, model, { tools: [counter("look")] }).send("c", SECRET);
  const found = Object.groupBy(spans(), ({ name }) => name);
  expect(Object.keys(found).toSorted()).toEqual(["chat one", "execute_tool look", "invoke_agent"]);
  const [turn] = found["invoke_agent"] ?? [];
  const [first, second] = found["chat one"] ?? [];
  const [tool] = found["execute_tool look"] ?? [];
  for (const span of [first, second, tool])
    expect(span?.parentSpanContext?.spanId).toBe(turn?.spanContext().spanId);
  expect(turn?.attributes).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.conversation.id": "c",
    "holdfast.space": "default",
    "holdfast.turn.outcome": "completed",
  });
  expect(first?.attributes).toMatchObject({
    "gen_ai.operation.name": "chat",
    "gen_ai.provider.name": "scripted",
    "gen_ai.request.model": "one",
    "gen_ai.response.model": "one",
    "gen_ai.response.finish_reasons": ["tool_call"],
    "gen_ai.conversation.id": "c",
  });
  const used = (span: ReadableSpan | undefined): readonly unknown[] =>
    ["input", "output", "cache_read.input"].map((name) => span?.attributes[`gen_ai.usage.${name}_tokens`]);
  expect([first, second, turn].map(used)).toEqual([
    [30, 2, 10],
    [40, 3, undefined],
    [70, 5, 10],
  ]);
  expect(tool?.attributes).toMatchObject({
    "gen_ai.operation.name": "execute_tool",
    "gen_ai.tool.name": "look",
    "gen_ai.tool.call.id": "k",
  });
  expect(
    JSON.stringify(spans().map(({ name, attributes, events }) => [name, attributes, events])),
  ).not.toContain(SECRET);
  expect(spans().every(({ ended }) => ended)).toBe(true);
});

test("tools without effects are spans and counted like the others, calls that never ran are neither", async () => {
  const { observer, spans } = await traced();
  const metrics = new Metrics();
  await using holdfast = await openHoldfast({ store: "memory:", telemetry: [observer, metrics] });
  await holdfast.create({ id: "c" });
  const look = counter("look", { effect: "none" });
  const fail = counter("fail", {
    effect: "none",
    run: async () => {
      throw new Error("nothing there");
    },
  });
  const call = (id: string, name: string): object => ({ id, name, input: {} });
  const model = new ScriptedModel([
    { calls: [call("1", "look"), call("2", "fail"), call("3", "act"), call("4", "gone")] as never },
    { calls: [call("1", "look")] as never, finish: "stop" },
    { text: "Done", finish: "length" },
  ]);
  const agent = loop(holdfast, model, { tools: [look, fail, counter("act")] });
  await agent.send("c", "Look");
  expect(endsOf(spans()).toSorted()).toEqual([
    "- chat one",
    "- chat one",
    "- chat one",
    "- execute_tool act",
    "- execute_tool fail (tool_error)",
    "- execute_tool look",
    "- execute_tool look",
    "invoke_agent",
  ]);
  expect(spans().flatMap(({ attributes }) => attributes["gen_ai.response.finish_reasons"] ?? [])).toEqual([
    "tool_call",
    "tool_call",
    "length",
  ]);
  expect(metrics.text()).toMatch(/^holdfast_tool_calls_total 4$/m);
});

test("a turn that a model fails at is an error of its kind, and so is the attempt; the next turn links to it", async () => {
  const { observer, spans } = await traced();
  await using holdfast = await openHoldfast({ store: "memory:", telemetry: observer });
  await holdfast.create({ id: "c" });
  const agent = loop(holdfast, new ScriptedModel([{ error: new Error("no such model") }, { text: "fine" }]));
  const { class: kind } = await agent.send("c", "one");
  await agent.send("c", "two");
  const [attempt, failed, , turn] = spans();
  expect([failed?.name, failed?.attributes["error.type"], failed?.status.code]).toEqual([
    "invoke_agent",
    kind,
    2,
  ]);
  expect(attempt?.attributes["error.type"]).toBe(kind);
  expect(turn?.status.code).toBe(0);
  expect(turn?.links.map((link) => link.context.spanId)).toEqual([failed?.spanContext().spanId]);
});

test.each([0, -3_600_000, 3_600_000])(
  "a turn is as long as it took, though the date is set by %i ms",
  async (byMs) => {
    const world = new SimWorld();
    const { observer, spans } = await traced(world.clock);
    const rig = await aRig({ world, open: () => observeStore(inMemoryStore(), [observer]) });
    const turn = rig.send("work 8");
    await rig.when(isText);
    world.timeline.setDate(byMs);
    await turn;
    const lengths = spans().map(({ duration: [seconds, nanos] }) => seconds * 1_000 + nanos / 1_000_000);
    expect(lengths).toHaveLength(2);
    for (const ms of lengths) expect(ms).toBeGreaterThan(0);
    for (const ms of lengths) expect(ms).toBeLessThan(60_000);
  },
);

test("a turn by an upstream that loses its session: two attempts, and a rollover that says why", async () => {
  const { observer, spans } = await traced();
  const backing = inMemoryBacking();
  const rig = await aRig({
    open: (world) => observeStore(inMemoryStore({ backing, nowMs: () => world.nowMs() }), [observer]),
  });
  await rig.say("remember color=unheard-of");
  rig.script({ kind: "expire", phase: "start" });
  await rig.say("email bob about it");
  expect(endsOf(spans())).toEqual([
    "- invoke_agent claude",
    "invoke_agent",
    "- invoke_agent claude (_OTHER)",
    "- execute_tool send_email",
    "- invoke_agent claude",
    "invoke_agent claude",
  ]);
  const [, before, lost, tool, attempt, turn] = spans();
  expect(before?.events).toEqual([]);
  expect(
    turn?.events.map(({ name, attributes }) => [name, attributes?.["holdfast.rollover.reason"]]),
  ).toEqual([["holdfast.rollover", "expired"]]);
  expect(lost?.parentSpanContext?.spanId).toBe(turn?.spanContext().spanId);
  expect(tool?.parentSpanContext?.spanId).toBe(attempt?.spanContext().spanId);
  expect(attempt?.attributes).toMatchObject({
    "gen_ai.operation.name": "invoke_agent",
    "gen_ai.provider.name": "anthropic",
    "gen_ai.agent.name": "claude",
    "holdfast.fidelity": "preamble",
  });
  expect(JSON.stringify(spans().map(({ attributes, events }) => [attributes, events]))).not.toMatch(
    /unheard-of|bob/,
  );
});

test("a turn that another process takes over ends here as fenced, and there as it ended", async () => {
  const [here, there] = [await traced(), await traced()];
  const backing = inMemoryBacking();
  const open = (observer: StoreObserver): Promise<Holdfast> =>
    openHoldfast({ store: inMemoryStore({ backing }), telemetry: observer });
  await (await open(here.observer)).create({ id: "c" });
  const hangs = Promise.withResolvers<void>();
  const asked = Promise.withResolvers<void>();
  const first = loop(
    await open(here.observer),
    new ScriptedModel([() => (asked.resolve(), { text: "late", until: hangs.promise })]),
    { isDead: async () => true },
  );
  const late = first.send("c", "go").catch((error: unknown) => error);
  await asked.promise;
  const second = loop(await open(there.observer), new ScriptedModel([{ text: "taken over" }]), {
    isDead: async () => true,
  });
  await second.continue("c");
  hangs.resolve();
  await late;
  expect(endsOf(here.spans())).toEqual(["- chat one (fenced)", "invoke_agent (fenced)"]);
  expect(endsOf(there.spans())).toEqual(["- chat one", "invoke_agent"]);
  expect(there.spans().at(-1)?.attributes).toMatchObject({ "holdfast.turn.begun_elsewhere": true });
});

test("what is brought from elsewhere makes no spans, nor does what was written before under its key", async () => {
  const { observer, spans } = await traced();
  await using holdfast = await openHoldfast({ store: "memory:", telemetry: observer });
  const time = "2020-01-01T00:00:00.000Z";
  const conversation = await holdfast.create({
    id: "c",
    entries: [
      { type: "turn_start", turn: "t", time },
      { type: "turn_end", turn: "t", outcome: "completed", time },
    ],
  });
  expect(spans()).toEqual([]);
  const end = { type: "turn_end", turn: "u", outcome: "completed" } as const;
  for (let times = 0; times < 2; times++) await conversation.append([end], { key: "once" });
  expect(endsOf(spans())).toEqual(["invoke_agent"]);
});

test("a turn stands under what the host does; what is open when the store is closed ends with it", async () => {
  const storage = new AsyncLocalStorage<Context>();
  context.setGlobalContextManager({
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, run, self, ...given) => storage.run(active, () => run.call(self as never, ...given)),
    bind: (_, target) => target,
    enable() {
      return this;
    },
    disable() {
      return this;
    },
  });
  const exporter = new InMemorySpanExporter();
  const tracer = new BasicTracerProvider({
    spanProcessors: [new SimpleSpanProcessor(exporter)],
  }).getTracer("test");
  const store = inMemoryStore();
  const observed = observeStore(store, [await openTelemetry({ tracer })]);
  const conversation = await (await openHoldfast({ store: observed })).create({ id: "c" });
  const request = tracer.startSpan("request");
  await context.with(trace.setSpan(context.active(), request), () =>
    conversation.append([{ type: "turn_start", turn: "t" }]),
  );
  context.disable();
  await observed.close();
  const [turn] = exporter.getFinishedSpans();
  expect(turn?.parentSpanContext?.spanId).toBe(request.spanContext().spanId);
  expect(turn?.attributes["error.type"]).toBe("closed");
});

test("an observer that fails disturbs nobody; one that is not there stands before nothing", async () => {
  const wrong = (): never => {
    throw new Error("full");
  };
  const observer: StoreObserver = { wrote: wrong, failed: wrong, closed: wrong };
  const holdfast = await openHoldfast({ store: "memory:", telemetry: observer });
  await holdfast.create({ id: "c" });
  await expect(holdfast.conversation("none")).rejects.toMatchObject({ code: "conversation_not_found" });
  await holdfast.close();
  const store = inMemoryStore();
  expect((await openHoldfast({ store })).store).toBe(store);
});
