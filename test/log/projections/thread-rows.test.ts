/** What a row says follows from the nodes and facts around it. */
import { describe, expect, test } from "vitest";
import type { Entry } from "#log/entry";
import { type ThreadFact, ThreadRows, type ThreadStretch } from "#log/projections/thread-rows";
import { changeText } from "#operations/text";

const entry = (seq: number, body: object): Entry =>
  ({
    v: 2,
    id: `e${seq}`,
    seq,
    parentId: null,
    time: `2026-01-01T00:00:0${seq % 10}Z`,
    payload: "",
    ...body,
  }) as unknown as Entry;

function rowsOf(nodes: readonly Entry[], facts: readonly Entry[] = [], more: object = {}): ThreadRows {
  const stretch: ThreadStretch = {
    nodes: nodes.map((node) => ({ entry: node, source: null, hidden: false })),
    facts: facts.map((fact): ThreadFact => {
      const before = nodes.findIndex(({ seq }) => seq > fact.seq);
      return { fact, source: null, before: before === -1 ? nodes.length : before };
    }),
    recordsIntents: true,
    running: null,
    carriersOf: () => [],
    msBetween: (from, to) => Date.parse(to) - Date.parse(from),
    linkAt: () => null,
    ...more,
  };
  return new ThreadRows(stretch);
}

const said = (seq: number, message: object): Entry =>
  entry(seq, { type: "message", message: { content: [], ...message } });

describe("changes", () => {
  const turn = "t";
  const asked = [
    entry(1, { type: "turn_start", turn, prompt: "p" }),
    entry(2, { type: "attempt", turn, upstream: "A", process: "1" }),
  ];
  test("say why a session was left, and what the next one was sent", () => {
    const facts = [
      ...asked,
      entry(3, { type: "upstream_end", upstream: "A", reason: "expired" }),
      entry(4, { type: "upstream_link", upstream: "B", agent: "sim", reason: "expired" }),
      entry(5, { type: "attempt", turn, upstream: "B", fidelity: "preamble" }),
      entry(6, { type: "turn_end", turn, outcome: "failed", resetAt: "later" }),
      entry(7, { type: "turn_end", turn: "u", outcome: "failed", class: "auth" }),
    ];
    const changes = rowsOf([], facts).changesBefore(0);
    expect(changes).toMatchObject([
      { kind: "session", reason: "expired", ended: "expired", fidelity: "preamble" },
      { kind: "parked", until: "later" },
      { kind: "broken", class: "auth" },
    ]);
    expect(changes.map(changeText)).toEqual([
      expect.stringContaining("expired"),
      expect.stringContaining("limit"),
      expect.stringContaining("login"),
    ]);
    const isFirst = { linkAt: () => ({ link: 0, isFirst: true }) };
    expect(rowsOf([], facts.slice(3, 4), isFirst).changesBefore(0)).toEqual([]);
    const [odd] = rowsOf(
      [],
      [entry(3, { type: "upstream_link", upstream: "B", reason: "__proto__" })],
    ).changesBefore(0);
    expect(odd === undefined ? "" : changeText(odd)).toContain("proto");
  });
  test("say that the same session was asked once more, and not that another was, or another turn began", () => {
    const again = entry(5, { type: "attempt", turn, upstream: "A", process: "2" });
    expect(rowsOf([], [...asked, again]).changesBefore(0)).toMatchObject([
      { kind: "again", isRestarted: true },
    ]);
    const busy = entry(5, { type: "attempt", turn, upstream: "A", process: "1" });
    expect(rowsOf([], [...asked, busy]).changesBefore(0)).toMatchObject([{ isRestarted: false }]);
    const other = entry(5, { type: "attempt", turn: "u", upstream: "A" });
    const next = entry(5, { type: "attempt", turn, upstream: "B" });
    const steps = [1, 2].map((seq) => entry(seq, { type: "attempt", turn, model: "m" }));
    for (const facts of [[...asked, other], [...asked, next], steps])
      expect(rowsOf([], facts).changesBefore(0)).toEqual([]);
  });
});

test("a fork is not made where calls have no result, or an answer broke off; before a prompt always", () => {
  const call = (id: string): object => ({ type: "toolCall", id, name: "bash", input: {} });
  const result = (seq: number, toolCallId: string): Entry => said(seq, { role: "toolResult", toolCallId });
  const nodes = [
    said(1, { role: "user" }),
    said(2, { role: "assistant", content: [call("a"), call("b")] }),
    result(3, "a"),
    result(4, "b"),
    said(5, { role: "assistant", stopReason: "interrupted" }),
    said(6, { role: "user" }),
    said(7, { role: "assistant", content: [call("a")], stopReason: "failed" }),
  ];
  const rows = rowsOf(nodes);
  expect(nodes.map((_, at) => rows.row(at).noFork)).toEqual([
    null,
    "calls_open",
    "other_calls_open",
    null,
    "cut_off_answer",
    null,
    "failed_answer",
  ]);
});

test("five minutes without anything are told, and less is not", () => {
  const after = (ms: number): number | null => {
    const time = new Date(Date.UTC(2026, 0, 1) + ms).toISOString();
    const first = entry(1, {
      type: "message",
      time: "2026-01-01T00:00:00Z",
      message: { role: "user", content: [] },
    });
    return rowsOf([first, { ...first, id: "e2", seq: 2, time }]).row(1).idleMs;
  };
  expect([299_999, 300_000, -1].map(after)).toEqual([null, 300_000, null]);
  const odd = [said(1, { role: "user" }), { ...said(2, { role: "user" }), time: "no time" }];
  expect(rowsOf(odd).row(1).idleMs).toBeNull();
});
