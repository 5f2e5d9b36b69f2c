/**
 * Goal: the rows of a thread are what the log says, whatever happened to the conversation.
 * Method: awkward conversations on two stores; the library's own folds of the whole log say what each row must be, and every
 * stretch has the same rows as the whole.
 */
import { afterAll, describe, expect, test } from "vitest";
import { systemClock } from "#conversation/clock";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import type { EntryBody } from "#log/entry";
import { assistant, toolResult, user } from "#log/message";
import { openHoldfast } from "#open";
import { type OutputOf, perform, valueOf } from "#operations/operation";
import { getThread } from "#operations/threads";
import { Views } from "#operations/views/views";
import { nameOfProcess } from "#turn/running-process";
import { tempDir } from "../support/temp-dir.ts";

type Page = OutputOf<typeof getThread>;
type Row = Page["rows"][number];

const FOLDER = tempDir();
afterAll(() => FOLDER[Symbol.dispose]());
let stores = 0;
const STORES: { readonly [name: string]: () => string } = {
  memory: () => "memory:",
  sqlite: () => `sqlite:${FOLDER.path}/${++stores}.db`,
};

/** Reads a page as the web UI does, with caches that live as long as the space. */
async function reader(store: string): Promise<{
  readonly holdfast: Holdfast;
  readonly thread: (conversation: string, place?: object) => Promise<Page>;
}> {
  const holdfast = await openHoldfast({ store });
  const views = new Views();
  const context = { holdfast, clock: systemClock, views };
  return {
    holdfast,
    thread: async (conversation, place = {}) =>
      valueOf(await perform(getThread, { conversation, limit: 500, ...place }, context)),
  };
}

const at = (minute: number): string => new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
const call = (id: string, name = "refund"): object => ({ type: "toolCall", id, name, input: { order: id } });
const calls = (id: string, ...ids: readonly string[]): EntryBody => ({
  ...assistant(ids.map((one) => call(one)) as never),
  id,
});
const intent = (one: string, turn: string): EntryBody => ({
  type: "tool_intent",
  call: one,
  name: "refund",
  input: { order: one },
  turn,
});
const link = (upstream: string, reason: string): EntryBody => ({
  type: "upstream_link",
  upstream,
  agent: "sim",
  reason,
});
const begin = (turn: string, prompt: string, minute = 0): readonly EntryBody[] => [
  { ...user(`Asked in ${turn}`), id: prompt, time: at(minute) },
  { type: "turn_start", turn, prompt },
];
const end = (turn: string, more: object = {}): EntryBody => ({
  type: "turn_end",
  turn,
  outcome: "completed",
  ...more,
});

/** Rolled over, edited, compacted, with entries that are hidden or labeled, an unknown outcome and a turn that runs. */
async function awkward(holdfast: Holdfast): Promise<Conversation> {
  const log = await holdfast.create({ id: "c" });
  await log.append([
    ...begin("t1", "u1"),
    link("s0", "first"),
    { type: "attempt", turn: "t1", upstream: "s0" },
    intent("c1", "t1"),
    intent("c2", "t1"),
    calls("a1", "c1", "c2"),
    { ...toolResult("c1", "done"), id: "r1" },
    { ...toolResult("c2", "no such order", { isError: true }), id: "r2" },
    { ...assistant("First answer"), id: "b1", time: at(1) },
    end("t1"),
    { type: "label", target: "u1", label: "start" },
    { type: "hide", target: "r2" },
  ]);
  // A day later its session has expired, and the new one is asked twice.
  await log.append([
    ...begin("t2", "u2", 1_440),
    { type: "upstream_end", upstream: "s0", reason: "expired" },
    link("s1", "expired"),
    {
      type: "attempt",
      turn: "t2",
      upstream: "s1",
      process: "1",
      fidelity: "preamble",
      priorContext: { messages: 3, leftOut: 1, effects: 2 },
    },
    { type: "attempt", turn: "t2", upstream: "s1", process: "2" },
    { ...assistant("Second answer"), id: "b2" },
    end("t2"),
  ]);
  // A call that nobody saw the end of, and a turn that is parked.
  await log.append([
    ...begin("t3", "u3", 1_441),
    { type: "attempt", turn: "t3", upstream: "s1" },
    intent("c1", "t3"),
    calls("a3", "c1"),
    end("t3", { outcome: "failed", class: "crashed" }),
    ...begin("t4", "u4", 1_442),
    end("t4", { outcome: "failed", class: "limit", resetAt: at(2_000) }),
  ]);
  // Edited, gone on with on both branches.
  await log.append({ ...user("Asked otherwise"), id: "u2b", parentId: "b1" });
  await log.append([
    { type: "turn_start", turn: "t5", prompt: "u2b" },
    link("s2", "edited"),
    { type: "attempt", turn: "t5", upstream: "s2" },
    { ...assistant("Answered otherwise"), id: "b2b" },
    end("t5", { outcome: "interrupted", class: "cancelled" }),
  ]);
  await log.goTo("u4");
  await log.append([
    { type: "compaction", id: "k1", summary: "What came before", firstKeptEntryId: "u3" },
    { ...assistant("After the summary"), id: "b5", parentId: "k1" },
  ]);
  return log;
}

/** What each row must be, by folds that read the whole log. */
async function folded(log: Conversation, leaf?: string): Promise<readonly object[]> {
  const branch = await log.branch(leaf === undefined ? {} : { at: leaf });
  const own = new Set((await Array.fromAsync(log.log())).map(({ id }) => id));
  const tree = await log.tree();
  const nodes = new Map<string, (typeof tree.nodes)[number]>(tree.nodes.map((node) => [node.entry.id, node]));
  const chain = await log.chain();
  const ends = (id: string): string => {
    const children = nodes.get(id)?.children ?? [];
    const next = children.find((child) => nodes.get(child)?.active) ?? children.at(-1);
    return next === undefined ? id : ends(next);
  };
  return Promise.all(
    branch.map(async (entry, place) => {
      const children = nodes.get(entry.parentId ?? "")?.children ?? [];
      const carriers = entry.type === "message" ? await log.carriersOf(entry.id) : null;
      return {
        place,
        id: entry.id,
        hidden: entry.hidden,
        inherited: !own.has(entry.id),
        label: nodes.get(entry.id)?.label ?? null,
        carriers: carriers?.map((one) =>
          chain.findIndex(({ seq, source }) => seq === one.seq && source === one.source),
        ),
        siblings:
          children.length < 2
            ? []
            : children.map((id) => ({ entry: id, end: ends(id), active: nodes.get(id)?.active })),
      };
    }),
  );
}

const shown = ({ place, entry, hidden, source, label, carriers, siblings }: Row): object => ({
  place,
  id: entry.id,
  hidden,
  inherited: source !== null,
  label,
  carriers: entry.type === "message" ? carriers : undefined,
  siblings,
});

/** What the model is sent are the rows from `sentFrom` on. */
async function expectSent(log: Conversation, { rows, sentFrom, leaf }: Page): Promise<void> {
  const { messages } = await log.context({ at: leaf });
  const sent = new Set(messages.map(({ entryId }) => entryId));
  for (const { entry, place, hidden } of rows)
    if (entry.type === "message" && !hidden)
      expect([entry.id, place >= sentFrom]).toEqual([entry.id, sent.has(entry.id)]);
}

const callsOf = ({ rows }: Page): object =>
  Object.fromEntries(
    rows
      .filter((row) => row.calls.length > 0)
      .map(({ entry, calls: found }) => [
        entry.id,
        found.map((one) => `${one.call} ${one.state}${one.hasResult ? "" : " open"}`),
      ]),
  );

const kinds = (changes: Page["changes"]): readonly string[] =>
  changes.map((one) =>
    one.kind === "session"
      ? `session ${one.reason} ${one.link}`
      : one.kind === "broken"
        ? `broken ${one.class}`
        : one.kind,
  );

const changesOf = ({ rows, changes }: Page): object => ({
  ...Object.fromEntries(
    rows.filter((row) => row.changes.length > 0).map(({ entry, changes: found }) => [entry.id, kinds(found)]),
  ),
  ...(changes.length === 0 ? {} : { end: kinds(changes) }),
});

async function expectSameStretches(thread: (place: object) => Promise<Page>, whole: Page): Promise<void> {
  for (const limit of [1, 2, 5])
    for (let from = 0; from < whole.length; from += limit) {
      const { rows, leaf, sentFrom } = await thread({ from, limit });
      expect([from, leaf, sentFrom]).toEqual([from, whole.leaf, whole.sentFrom]);
      expect(rows).toEqual(whole.rows.slice(from, from + limit));
    }
}

describe.each(Object.keys(STORES))("on %s", (store) => {
  const open = (): ReturnType<typeof reader> => reader(STORES[store]?.() ?? "");

  test("rows are what the log says: sessions, calls, labels, hidden entries, branches and what is sent", async () => {
    const { holdfast, thread } = await open();
    const log = await awkward(holdfast);
    const page = await thread("c");
    expect(page.rows.map(shown)).toEqual(await folded(log));
    await expectSent(log, page);
    expect(callsOf(page)).toEqual({
      r1: ["c1 done"],
      r2: ["c2 failed"],
      a3: ["c1 unknown open"],
    });
    expect(changesOf(page)).toEqual({
      b2: ["session expired 1", "again"],
      u4: ["broken crashed"],
      k1: ["parked"],
    });
    const [rolled] = page.rows.find(({ entry }) => entry.id === "b2")?.changes ?? [];
    expect(rolled).toMatchObject({ ended: "expired", fidelity: "preamble", priorContext: { messages: 3 } });
    const idle = page.rows.find(({ entry }) => entry.id === "u2")?.idleMs;
    expect([idle, page.rows.find(({ entry }) => entry.id === "u4")?.idleMs]).toEqual([1_439 * 60_000, null]);
    expect(page.rows.flatMap(({ entry, noFork }) => (noFork === null ? [] : [[entry.id, noFork]]))).toEqual([
      ["a1", "calls_open"],
      ["r1", "other_calls_open"],
      ["a3", "calls_open"],
    ]);
    expect([page.own, page.live, page.header.headSeq, page.chain.length]).toEqual([
      true,
      null,
      page.headSeq,
      3,
    ]);
    await expectSameStretches((place) => thread("c", place), page);
    await holdfast.close();
  });

  test("another branch has its own rows, and an entry of it leads there", async () => {
    const { holdfast, thread } = await open();
    const log = await awkward(holdfast);
    const page = await thread("c", { leaf: "b2b" });
    expect(page.rows.map(shown)).toEqual(await folded(log, "b2b"));
    await expectSent(log, page);
    expect(changesOf(page)).toEqual({ b2b: ["session edited 2"], end: ["broken cancelled"] });
    expect(page.own).toBe(false);
    await expectSameStretches((place) => thread("c", { leaf: "b2b", ...place }), page);
    const around = await thread("c", { at: "u2b", limit: 2 });
    expect([around.leaf, around.own]).toEqual(["b2b", false]);
    const on = await thread("c", { at: "u3", limit: 1 });
    expect([on.leaf, on.own, on.rows[0]?.entry.id]).toEqual(["b5", true, "u3"]);
    await holdfast.close();
  });

  test("a fork shows what it inherited and what it did itself", async () => {
    const { holdfast, thread } = await open();
    const log = await awkward(holdfast);
    const fork = await log.fork({ id: "f", at: "b2" });
    await fork.append([
      ...begin("t9", "f1", 1_500),
      link("s9", "forked"),
      { type: "attempt", turn: "t9", upstream: "s9" },
      { ...assistant("In the fork"), id: "f2" },
      end("t9"),
    ]);
    await fork.label("u1", "renamed");
    await fork.append({ ...user("Beside"), id: "f1b", parentId: "b2" });
    const below = await fork.fork({ id: "g", at: "f2" });
    for (const [id, one] of [
      ["f", fork],
      ["g", below],
    ] as const) {
      const page = await thread(id);
      expect(page.rows.map(shown)).toEqual(await folded(one));
      await expectSent(one, page);
      await expectSameStretches((place) => thread(id, place), page);
    }
    expect(changesOf(await thread("g"))).toMatchObject({ b2: ["session expired 1", "again"] });
    // What was inherited stays without its source; only what happened between its entries is gone.
    await log.erase();
    const page = await thread("f", { leaf: "f2" });
    expect(page.rows.map(({ entry }) => entry.id)).toContain("r1");
    await holdfast.close();
  });

  test("a turn that runs has open calls and what it said, until it is abandoned or over", async () => {
    const { holdfast, thread } = await open();
    const log = await awkward(holdfast);
    await using owner = await log.own({ writer: await nameOfProcess("a test"), leaseMs: 60_000 });
    await owner.append([
      ...begin("t6", "u6", 1_600),
      { type: "attempt", turn: "t6", model: "m" },
      calls("a6", "c6", "c7", "c8"),
      intent("c6", "t6"),
      { ...toolResult("c6", "done"), id: "r6" },
      intent("c7", "t6"),
      { type: "permission", request: "q", call: "c8", turn: "t6", data: { tool: "refund", input: {} } },
      { type: "update", turn: "t6", data: { events: [{ type: "text", text: "Half an ans" }] } },
    ]);
    const page = await thread("c");
    expect(callsOf(page)).toMatchObject({ a6: ["c7 running open", "c8 asked open"], r6: ["c6 done"] });
    expect(page.live).toMatchObject({ turn: "t6", words: "Half an ans" });
    expect(page.waiting.asked).toMatchObject([{ request: "q" }]);
    expect([page.header.openTurn?.left, page.issues]).toEqual([false, null]);
    const [from, limit] = [page.length - 1, 1];
    expect((await thread("c", { from, limit })).rows).toEqual(page.rows.slice(-1));
    await owner.append([
      { type: "permission_answer", request: "q", outcome: "denied" },
      { ...toolResult("c7", "done"), id: "r7" },
      { ...assistant("Over"), id: "b6" },
      end("t6"),
    ]);
    const over = await thread("c");
    expect(callsOf(over)).toMatchObject({ a6: ["c8 not_started open"], r7: ["c7 done"] });
    expect([over.live, over.header.openTurn]).toEqual([null, null]);
    expect(over.rows.map(shown)).toEqual(await folded(log));
    await holdfast.close();
  });

  test("what was read before does not show in what is read after: caches follow the log", async () => {
    const { holdfast, thread } = await open();
    const log = await holdfast.create({ id: "c" });
    const steps: readonly (readonly EntryBody[])[] = [
      [{ ...user("Before any session"), id: "u0" }],
      begin("t1", "u1"),
      [link("s0", "first"), { type: "attempt", turn: "t1", upstream: "s0" }],
      [{ ...assistant("One"), id: "a1" }, end("t1")] as readonly EntryBody[],
      [{ type: "label", target: "u0", label: "zero" }],
      [{ ...user("Another way"), id: "u2", parentId: "u0" }],
      [{ type: "turn_start", turn: "t2", prompt: "u2" }, link("s1", "edited")],
      [{ type: "attempt", turn: "t2", upstream: "s1" }],
      [{ ...assistant("Two"), id: "a2" }, end("t2")] as readonly EntryBody[],
      [{ type: "label", target: "u0", label: null }],
      [{ type: "hide", target: "u2" }],
      [{ type: "reset" }, { ...user("Anew"), id: "u3" }],
    ];
    for (const step of steps) {
      await log.append(step);
      const page = await thread("c");
      expect(page.rows.map(shown)).toEqual(await folded(log));
      await expectSent(log, page);
    }
    await log.goTo("a1");
    expect((await thread("c")).rows.map(shown)).toEqual(await folded(log));
    await holdfast.close();
  });
});
