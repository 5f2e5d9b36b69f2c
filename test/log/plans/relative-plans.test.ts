/**
 * A plan says how far its rows lie from the head and what they change of it, so it holds whatever was appended from
 * outside between the plan and the write, and folding the log gives the head that the changes gave.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { addUsage } from "#log/add-usage";
import { type Author, type Batch, stampDraft, type StampedDraft } from "#log/batch";
import { parseBody } from "#log/body";
import { decodeEntry } from "#log/codec";
import type { EntryBody, StoredEntry } from "#log/entry";
import { emptyHead, type Head, type EntryPosition } from "#log/lineage/head";
import { LogIndex } from "#log/lineage/log-index";
import { changeHead } from "#log/plans/head-change";
import { holdsFor, linkOf, planAppend, storedEntries, type WritePlan } from "#log/plans/plan-append";
import { summaryOf } from "#log/projections/summary-of";
import { planStart } from "#log/plans/plan-start";
import {
  EMPTY_SUMMARY,
  readStoredSummary,
  storeSummary,
  type StoredSummary,
  type Summary,
} from "#log/summary";
import { sha256 } from "#store/sha256";

const TIME = "2026-01-01T00:00:00.000Z";

/** A log that is written by plans alone, and read back by folding its entries. */
class PlannedLog {
  head: Head = emptyHead("c", null, TIME);
  readonly index: LogIndex = new LogIndex("c", null, TIME);
  readonly stored: StoredEntry[] = [];
  readonly #nodes: string[] = [];
  #ids: number = 0;

  stamp(bodies: readonly EntryBody[]): readonly StampedDraft[] {
    return bodies.map((body) =>
      stampDraft(parseBody(body), { id: body.id ?? `e${++this.#ids}`, time: TIME }),
    );
  }

  plan(author: Author, drafts: readonly StampedDraft[], head: Head = this.head): WritePlan {
    const positions = new Map<string, EntryPosition>();
    for (const id of this.#nodes) {
      const position = this.index.find(id);
      if (position !== undefined) positions.set(id, position);
    }
    const batch: Batch = { author, drafts, key: null, digest: "" };
    const none = new Map();
    const state = { head, lease: null, nowMs: 0, seen: null, positions, tails: none, settings: none };
    const plan = planAppend(state, batch);
    if (plan.kind !== "write") throw new Error(plan.kind === "refused" ? plan.error.message : plan.kind);
    return plan;
  }

  write(plan: WritePlan, drafts: readonly StampedDraft[]): void {
    const base = this.head.headSeq;
    this.index.setEpoch(plan.change.epoch ?? this.head.epoch);
    for (const { offset, ...entry } of plan.entries) {
      const { node, body } = drafts[offset]?.draft ?? { node: false, body: {} };
      this.index.apply({ ...entry, seq: base + 1 + offset, node, body, byOwner: plan.change.byOwner }, (id) =>
        this.index.find(id),
      );
      if (node) this.#nodes.push(entry.id);
    }
    this.stored.push(...storedEntries(plan, base));
    const link = linkOf(sha256, plan, { headSeq: base, previous: this.head.link ?? "" });
    this.head = changeHead(this.head, plan.change, link);
    this.index.setLinks(this.head);
    this.index.setSummary(
      summaryOf(
        this.stored.map((entry) => decodeEntry(entry)),
        this.index.head.segments,
      ),
    );
  }

  nodeAt(choice: number): string {
    return this.#nodes[choice % this.#nodes.length] ?? "e1";
  }
}

function begun(inheritedUpTo: string | null = null): PlannedLog {
  const log = new PlannedLog();
  const forkedFrom = { conversation: "source", entry: inheritedUpTo ?? "", head: 9 };
  const drafts = log.stamp([
    { type: "conversation", cwd: "/a", ...(inheritedUpTo === null ? {} : { forkedFrom }) },
  ]);
  const start = planStart(null, {
    conversation: "c",
    origin: null,
    batch: { drafts, key: null, digest: "" },
    previous: "",
  });
  if (start.kind !== "write") throw new Error(start.kind);
  log.write(start.plan, drafts);
  return log;
}

const said = (text: string): EntryBody => ({
  type: "message",
  message: { role: "user", content: [{ type: "text", text }] },
});

const ownerStep = fc.record({
  count: fc.integer({ min: 1, max: 3 }),
  parent: fc.option(fc.nat(50), { nil: null }),
  move: fc.option(fc.nat(50), { nil: null }),
  outside: fc.array(fc.constantFrom("title", "label", "hide"), { maxLength: 3 }),
});

function outsideBody(kind: "title" | "label" | "hide", log: PlannedLog): EntryBody {
  if (kind === "title") return { type: "title", title: "between" };
  const target = log.nodeAt(1);
  return kind === "label" ? { type: "label", target, label: "x" } : { type: "hide", target };
}

test("an owner's plan holds across appends from outside, and the log folds to the head", () => {
  fc.assert(
    fc.property(fc.array(ownerStep, { maxLength: 12 }), (steps) => {
      const log = begun();
      for (const step of steps) {
        const bodies: EntryBody[] = [];
        if (step.move !== null) bodies.push({ type: "leaf", target: log.nodeAt(step.move) });
        for (let n = 0; n < step.count; n++)
          bodies.push({
            ...said("x"),
            ...(n === 0 && step.parent !== null ? { parentId: log.nodeAt(step.parent) } : {}),
          });
        const drafts = log.stamp(bodies);
        const plan = log.plan({ kind: "owner", epoch: log.head.epoch, expected: log.head.headSeq }, drafts);
        for (const kind of step.outside) {
          const from = log.stamp([outsideBody(kind, log)]);
          log.write(log.plan({ kind: "outside" }, from), from);
        }
        expect(holdsFor(plan, log.head)).toBe(true);
        log.write(plan, drafts);
        expect(log.index.head).toEqual(log.head);
      }
    }),
  );
});

test("a plan does not hold once another owner has written or taken over", () => {
  const log = begun();
  const mine = log.stamp([said("mine")]);
  const plan = log.plan({ kind: "once" }, mine);
  const theirs = log.stamp([said("theirs")]);
  const other = log.plan({ kind: "once" }, theirs);
  log.write(other, theirs);
  expect(holdsFor(plan, log.head)).toBe(false);
  expect(holdsFor(plan, { ...log.head, ownerSeq: 1, epoch: 9 })).toBe(false);
});

const count = fc.integer({ min: 0, max: 9 });
const usage = fc.record({ inputTokens: count, costMicros: count }, { requiredKeys: [] });
const name = fc.constantFrom("a", "b", "__proto__");
const listedBody: fc.Arbitrary<EntryBody> = fc.oneof(
  fc.record({
    type: fc.constant("message"),
    message: fc.record({
      role: fc.constant("assistant"),
      content: fc.constant([]),
      model: name,
      usage,
    }),
  }),
  fc.record({ type: fc.constant("model_change"), model: name }),
  fc.record({ type: fc.constant("attempt"), turn: name, upstream: name, usage }),
  fc.record({ type: fc.constant("attempt_end"), turn: name, class: name, model: name, usage }),
  fc.record({ type: fc.constant("turn_end"), turn: name, outcome: fc.constant("completed"), usage }),
  fc.record(
    { type: fc.constant("turn_start"), turn: name, run: name, prompt: fc.constantFrom("e1", "e2") },
    { requiredKeys: ["type", "turn"] },
  ),
  fc.record({ type: fc.constant("steer"), steer: name, state: fc.constant("delivered") }),
  fc.record({ type: fc.constant("run_start"), run: name, trigger: name }),
  fc.record({ type: fc.constant("run_end"), run: name, status: name }),
  fc.record({ type: fc.constant("upstream_link"), upstream: name, agent: name, reason: name }),
  fc.record({ type: fc.constant("branch_summary"), fromId: fc.constant("e1"), summary: name, usage }),
);
const filedBody: fc.Arbitrary<EntryBody> = fc
  .record({ archived: fc.option(fc.boolean()), extra: fc.option(count) }, { requiredKeys: [] })
  .map((metadata): EntryBody => ({ type: "metadata", metadata }));

test("what appends keep for lists is what the log says, whatever came between a plan and its write", () => {
  const step = fc.record({
    owner: fc.array(listedBody, { minLength: 1, maxLength: 4 }),
    outside: fc.array(filedBody, { maxLength: 2 }),
  });
  const inherited = fc.option(fc.constantFrom("e1", "e3", "e6"));
  fc.assert(
    fc.property(inherited, fc.array(step, { maxLength: 8 }), (upTo, steps) => {
      const log = begun(upTo);
      for (const { owner, outside } of steps) {
        const drafts = log.stamp(owner);
        const plan = log.plan({ kind: "owner", epoch: log.head.epoch, expected: log.head.headSeq }, drafts);
        for (const body of outside) {
          const from = log.stamp([body]);
          log.write(log.plan({ kind: "outside" }, from), from);
        }
        log.write(plan, drafts);
        expect(log.head.summary).toEqual(log.index.head.summary);
        const text = JSON.stringify(storeSummary(log.head.summary ?? EMPTY_SUMMARY));
        expect(readStoredSummary(JSON.parse(text) as StoredSummary)).toEqual(log.head.summary);
      }
    }),
  );
});

test("what was never counted stays so: an append adds to no number that is not there", () => {
  const log = begun();
  const drafts = log.stamp([said("x")]);
  const plan = log.plan({ kind: "once" }, drafts);
  expect(changeHead({ ...log.head, summary: null }, plan.change, "").summary).toBe(null);
});

test("every member of a summary is written down", () => {
  const tokens = { inputTokens: 1, outputTokens: 2, cacheReadTokens: 3, cacheWriteTokens: 4 };
  const counted = { ...tokens, costMicros: 5, unpricedAnswers: 6 };
  const whole: Summary = {
    model: "m",
    modelChosen: true,
    agent: "a",
    rollovers: 1,
    branches: 2,
    turn: { state: "open", turn: "t", prompt: "p", since: "s", run: "r" },
    run: {
      run: "r",
      trigger: "t",
      mailbox: "m",
      status: "open",
      startedAt: "s",
      endedAt: null,
      counted: { startSeq: 1, endSeq: null, steps: 2, prompts: 3, prompt: "p", usage: counted },
    },
    parent: { conversation: "c" },
    unlisted: true,
    metadata: { archived: true },
    usage: { ...addUsage(counted, counted), byModel: { m: counted, ["__proto__"]: counted } },
    links: 3,
    inheritedUpTo: "e",
    counts: {
      callsFrom: 1,
      hasIntents: true,
      turns: [{ turn: "t", startSeq: 2 }],
      runs: [{ run: "r", trigger: "t" }],
      more: true,
    },
  };
  for (const summary of [whole, EMPTY_SUMMARY, { ...EMPTY_SUMMARY, counts: null }])
    expect(readStoredSummary(JSON.parse(JSON.stringify(storeSummary(summary))) as StoredSummary)).toEqual(
      summary,
    );
  expect(storeSummary(EMPTY_SUMMARY)).toEqual({ counts: {} });
});
