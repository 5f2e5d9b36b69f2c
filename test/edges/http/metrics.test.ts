import { expect, test } from "vitest";
import { Agent } from "#agent/agent";
import { LogError } from "#log/errors";
import { openHoldfast } from "#open";
import { decorateStore } from "#store/decorate";
import { inMemoryStore } from "#stores/in-memory/index";
import { Metrics } from "#telemetry/index";
import { counter } from "../../agent/rig.ts";
import { ScriptedModel } from "../../agent/scripted-model.ts";
import { by, told } from "./raw-requests.ts";
import { serve } from "./served.ts";

const NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABELS = /([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/g;

/** As Prometheus reads it: every line a comment or a sample of a family that was declared, each once. */
function parsed(text: string): ReadonlyMap<string, number> {
  expect(text.endsWith("\n")).toBe(true);
  const types = new Map<string, string>();
  const samples = new Map<string, number>();
  for (const line of text.slice(0, -1).split("\n")) {
    const [, what, name = "", rest = ""] = /^# (HELP|TYPE) (\S+) (.+)$/.exec(line) ?? [];
    if (what === "TYPE") {
      expect(types.has(name)).toBe(false);
      types.set(name, rest);
    }
    if (what !== undefined) {
      expect(name).toMatch(NAME);
      continue;
    }
    const [, sample = "", labels = "", value = ""] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
    const family = types.has(sample) ? sample : sample.replace(/_(?:bucket|sum|count)$/, "");
    expect([line, types.has(family)]).toEqual([line, true]);
    if (types.get(family) === "counter") expect(sample).toMatch(/_total$/);
    expect(labels.replaceAll(LABELS, "")).toBe("");
    expect(samples.has(line.slice(0, line.lastIndexOf(" ")))).toBe(false);
    samples.set(line.slice(0, line.lastIndexOf(" ")), Number(value.replace("+Inf", "Infinity")));
  }
  return samples;
}

test("what was done is counted: turns, attempts, tools, tokens, writes, requests, refusals, errors of the store", async () => {
  const metrics = new Metrics();
  let isFull = false;
  const bare = inMemoryStore();
  const store = decorateStore(bare, {
    verbs: (space) => ({
      append: async (request) => {
        if (isFull) throw new LogError("disk_full", "The disk is full");
        return space.append(request);
      },
    }),
  });
  const holdfast = await openHoldfast({ store, telemetry: metrics });
  const model = new ScriptedModel([
    { calls: [{ id: "k", name: "look", input: {} }], usage: { input: 30, output: 2, cached: 10 } },
    { text: "fine", usage: { input: 40, output: 3 } },
    { error: new Error("broken") },
  ]);
  const open = (space: typeof holdfast): Agent =>
    new Agent(space, {
      model,
      instructions: false,
      permission: () => "allow",
      tools: [counter("look")],
    });
  await using served = await serve({ holdfast, metrics, agents: { loop: { open } } });
  const client = served.client(await served.token("admin"));
  await holdfast.create({ id: "c" });
  for (const content of ["one", "two"])
    for await (const _ of client.turnEvents(await client.send({ conversation: "c", content })));
  const link = { type: "upstream_link", upstream: "u", agent: "a" } as const;
  const conversation = await holdfast.conversation("c");
  await conversation.append([
    { ...link, reason: "first" },
    { ...link, reason: "expired" },
    { ...link, reason: 'any"\n\\word' },
  ]);
  await conversation.append([{ type: "turn_start", turn: "left" }]);
  await client.getConversation({ conversation: "none" }).catch(() => undefined);
  isFull = true;
  await conversation.append([{ type: "title", title: "x" }]).catch(() => undefined);
  isFull = false;
  const watching = await served.ask("/api/conversations/c/tail", by(await served.token("read")));

  const scraped = await served.ask("/metrics", by(await served.token("metrics")));
  expect([scraped.status, scraped.headers.get("content-type")]).toEqual([
    200,
    "text/plain; version=0.0.4; charset=utf-8",
  ]);
  await watching.body?.cancel();
  const figures = parsed(await scraped.text());
  expect(Object.fromEntries(figures)).toMatchObject({
    'holdfast_turns_total{outcome="completed",class="completed"}': 1,
    'holdfast_turns_total{outcome="failed",class="failed"}': 1,
    'holdfast_attempts_total{of="model"}': 3,
    'holdfast_rollovers_total{reason="expired"}': 1,
    'holdfast_rollovers_total{reason="other"}': 1,
    holdfast_tool_calls_total: 1,
    'holdfast_tokens_total{type="input"}': 60,
    'holdfast_tokens_total{type="cache_read"}': 10,
    'holdfast_tokens_total{type="output"}': 5,
    holdfast_live_conversations: 1,
    'holdfast_store_errors_total{verb="append",code="disk_full"}': 1,
    'holdfast_http_requests_total{method="GET",status="404"}': 1,
    'holdfast_http_refused_total{code="conversation_not_found"}': 1,
    holdfast_http_open_streams: 1,
    holdfast_running_turns: 0,
  });
  const writes = figures.get("holdfast_append_duration_seconds_count") ?? 0;
  expect(writes).toBeGreaterThan(5);
  expect(figures.get('holdfast_append_duration_seconds_bucket{le="+Inf"}')).toBe(writes);
  expect(figures.get("process_resident_memory_bytes")).toBeGreaterThan(1_000_000);
  expect(figures.get("process_start_time_seconds")).toBeLessThanOrEqual(Date.now() / 1_000);
});

test("the figures are for admins and for tokens of their own, which may do nothing else; without any there is no such path", async () => {
  await using served = await serve({ metrics: new Metrics() });
  const own = await served.token("metrics");
  const text = new TextDecoder().decode(await served.client(own).getMetrics());
  expect(parsed(text).get("holdfast_http_open_streams")).toBe(0);
  expect((await served.ask("/metrics", by(own))).status).toBe(200);
  expect(await told(await served.ask("/api/health", by(own)))).toMatchObject({ code: "no_right" });
  expect(await told(await served.ask("/metrics"))).toMatchObject({ code: "no_token" });
  await using without = await serve();
  expect(await told(await without.ask("/metrics", by(await without.token("metrics"))))).toEqual({
    status: 404,
    code: "wrong_path",
  });
});
