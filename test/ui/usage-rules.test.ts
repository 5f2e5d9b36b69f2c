/** What the usage pages count and where they draw it. */
import { expect, test } from "vitest";
import type { DailyRow, TurnUsageView } from "#operations/views/usage-views";
import { TurnUsage } from "#operations/views/turn-usage";
import type { Entry } from "#log/entry";
import type { Link } from "#log/projections/chain";
import { diagnosticsText } from "../../ui/src/pages/settings/diagnostics.ts";
import { bytesText } from "../../ui/src/parts/numbers.ts";
import { csvText } from "../../ui/src/pages/usage/csv-text.ts";
import { turnDrawing } from "../../ui/src/pages/usage/turn-geometry.ts";
import { addedUp, columnsOf, spanIn, ticksOf, tonesOf } from "../../ui/src/pages/usage/usage-spans.ts";

const NOW = Date.parse("2026-03-10T12:00:00Z");
const row = (day: string, model: string, costMicros: number | null, replay = false): DailyRow => ({
  day,
  model,
  replay,
  inputTokens: 10,
  outputTokens: 1,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicros,
  unpricedAnswers: costMicros === null ? 1 : 0,
});

test("a span is what the address says, and what it says wrongly is not said", () => {
  const span = (text: string) => spanIn(new URLSearchParams(text), NOW);
  expect(span("range=7")).toEqual({ range: "7", since: "2026-03-04", until: null });
  expect(span("range=evil")).toEqual(span(""));
  expect(span("since=2026-02-01&until=2026-99-99")).toEqual({
    range: null,
    since: "2026-02-01",
    until: null,
  });
  expect(span("range=all")).toEqual({ range: "all", since: null, until: null });
});

test("columns are every day of the span, months where it is long; replays are in none of their parts", () => {
  const rows = [row("2026-03-08", "a", 5), row("2026-03-08", "b", 50), row("2026-03-09", "a", 7, true)];
  const span = { range: null, since: "2026-03-07", until: "2026-03-10" };
  expect(tonesOf(rows, "cost")).toEqual(["b", "a"]);
  expect(columnsOf(rows, span, "cost", NOW)).toEqual([
    { name: "2026-03-07", parts: [0, 0, 0, 0], replays: 0 },
    { name: "2026-03-08", parts: [50, 5, 0, 0], replays: 0 },
    { name: "2026-03-09", parts: [0, 0, 0, 0], replays: 7 },
    { name: "2026-03-10", parts: [0, 0, 0, 0], replays: 0 },
  ]);
  const months = columnsOf(rows, { range: "365", since: "2025-03-11", until: null }, "tokens", NOW);
  expect([months.length, months.at(-1)]).toEqual([
    13,
    { name: "2026-03", parts: [11, 11, 0, 0], replays: 11 },
  ]);
});

test("what has no known price has not cost nothing", () => {
  expect(addedUp([row("d", "a", null), row("d", "a", null)], () => "x")[0]).toMatchObject({
    costMicros: null,
  });
  expect(addedUp([row("d", "a", null), row("d", "b", 3)], () => "x")[0]).toMatchObject({
    costMicros: 3,
    unpricedAnswers: 1,
    inputTokens: 20,
  });
});

test("marks of an axis are few and round", () => {
  expect(ticksOf(38_200)).toEqual([0, 10_000, 20_000, 30_000, 40_000]);
  expect(ticksOf(0)).toEqual([0, 1]);
  for (const max of [1, 7, 99, 12_345, 8_000_001]) {
    expect(ticksOf(max).length).toBeLessThan(8);
    expect(ticksOf(max).at(-1)).toBeGreaterThanOrEqual(max);
  }
});

test("a sheet takes no text of a transcript for a formula", () => {
  expect(csvText([["=1+1", 'a "b", c', -3, null]])).toBe(`'=1+1,"a ""b"", c",-3,\r\n`);
});

const entry = (seq: number, body: object): Entry =>
  ({
    v: 2,
    id: `e${seq}`,
    seq,
    parentId: null,
    time: "2026-01-01T00:00:00Z",
    payload: "",
    ...body,
  }) as unknown as Entry;
const link = (seq: number, inherited = false): Link => ({
  id: `s${seq}`,
  agent: "sim",
  account: null,
  source: inherited ? "source" : null,
  reason: "new",
  since: "2026-01-01T00:00:00Z",
  seq,
  carried: null,
  inherited,
});
const said = (seq: number, usage: object): Entry =>
  entry(seq, { type: "message", message: { role: "assistant", model: "x/y", content: [], usage } });
const heard = (seq: number): Entry => entry(seq, { type: "message", message: { role: "user", content: [] } });

function counted(links: readonly Link[], entries: readonly Entry[]): ReturnType<TurnUsage["result"]> {
  const counting = new TurnUsage();
  for (const one of entries) counting.add(one);
  return counting.result(links);
}

test("a turn has what its answers used, the context of its last one, and who carried it in the end", () => {
  const { rows, marks } = counted(
    [link(9, true), link(3), link(6)],
    [
      heard(1),
      entry(2, { type: "turn_start", turn: "t", prompt: "e1" }),
      entry(3, { type: "upstream_link", upstream: "s3", agent: "sim", reason: "new" }),
      said(4, { inputTokens: 10, cacheReadTokens: 100, outputTokens: 1, costMicros: 5 }),
      entry(5, {
        type: "attempt_end",
        turn: "t",
        class: "crashed",
        usage: { inputTokens: 3, costMicros: 2 },
      }),
      entry(6, { type: "upstream_link", upstream: "s6", agent: "sim", reason: "crashed" }),
      said(7, { inputTokens: 20, cacheWriteTokens: 30, outputTokens: 1, costMicros: 5 }),
      entry(8, { type: "turn_end", turn: "t", outcome: "completed" }),
      entry(9, {
        type: "compaction",
        summary: "s",
        tokensBefore: 90,
        model: "x/y",
        usage: { outputTokens: 4, costMicros: 1 },
      }),
    ],
  );
  expect(rows).toEqual([
    {
      number: 1,
      turn: "t",
      prompt: "e1",
      time: "2026-01-01T00:00:00Z",
      outcome: "completed",
      model: "x/y",
      carrier: 2,
      contextTokens: 50,
      inputTokens: 33,
      outputTokens: 6,
      cacheReadTokens: 100,
      cacheWriteTokens: 30,
      costMicros: 13,
      unpricedAnswers: 0,
    },
  ]);
  expect(marks).toMatchObject([
    { kind: "rollover", turn: 1, reason: "crashed", carrier: 2 },
    { kind: "compaction", turn: 2, tokensBefore: 90 },
  ]);
});

test("a log without turns has one for each prompt; what a fork inherited by import is its source's", () => {
  const told = [
    heard(1),
    said(2, { inputTokens: 1 }),
    said(3, { inputTokens: 2 }),
    heard(4),
    said(5, { inputTokens: 4 }),
  ];
  const { rows } = counted([], told);
  expect(
    rows.map(({ turn, prompt, inputTokens, costMicros }) => [turn, prompt, inputTokens, costMicros]),
  ).toEqual([
    [null, "e1", 3, null],
    [null, "e4", 4, null],
  ]);
  const forked = entry(0, { type: "conversation", forkedFrom: { conversation: "a", entry: "e3", head: 3 } });
  expect(counted([], [forked, ...told]).rows.map(({ number, prompt }) => [number, prompt])).toEqual([
    [1, "e4"],
  ]);
});

test("turns of which no context is known leave a gap; marks without room have no words", () => {
  const turn = (number: number, contextTokens: number | null): TurnUsageView["turns"][number] =>
    ({ number, contextTokens, costMicros: 1, carrier: number < 3 ? 0 : 1 }) as TurnUsageView["turns"][number];
  const mark = (at: number): TurnUsageView["marks"][number] =>
    ({
      kind: "rollover",
      turn: at,
      reason: "rate_limit",
      entry: `e${at}`,
      tokensBefore: null,
    }) as TurnUsageView["marks"][number];
  const drawing = turnDrawing(
    { turns: [turn(1, 10), turn(2, null), turn(3, 20), turn(4, 5)], marks: [mark(3), mark(3)] },
    452,
  );
  expect(drawing.steps.match(/M/g)).toHaveLength(2);
  expect(drawing.area.match(/Z/g)).toHaveLength(2);
  expect(drawing.peak).toMatchObject({ tokens: 20, turn: 3 });
  expect(drawing.bands.map(({ carrier, x }) => [carrier, x])).toEqual([
    [0, 52],
    [1, 252],
  ]);
  expect(drawing.marks.map(({ hasRoom }) => hasRoom)).toEqual([false, true]);
});

test("diagnostics have no path, id or name in them", () => {
  const store = {
    kind: "sqlite",
    address: "sqlite:/home/ada/secret",
    bytes: 41_200_000,
    formatVersion: 2,
    schemaVersion: 1,
    conversations: 3,
    unlisted: 0,
    more: false,
    damaged: ["ada-1"],
  };
  const findings = [{ conversation: "ada-1", severity: "damage", message: "ada", repaired: false } as const];
  const health = { version: "1", space: "ada", rights: "admin", agents: ["ada"], turns: 0, streams: 1 };
  const told = diagnosticsText({ health: health as never, store, findings: findings as never }, "B");
  expect(told).toContain("damaged: 1\ncheck: 1 damage, 0 torn, 0 notes\n");
  expect(told).not.toMatch(/ada|home|secret/);
  expect([bytesText(7), bytesText(41_200_000), bytesText(0)]).toEqual(["7 B", "41.2 MB", "0 B"]);
});
