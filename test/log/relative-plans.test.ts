/**
 * A plan says how far its rows lie from the head and what they change of it, so it holds whatever was appended from
 * outside between the plan and the write, and folding the log gives the head that the changes gave.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { Author, Batch, StampedDraft } from "#log/batch";
import { parseBody } from "#log/body";
import type { EntryBody } from "#log/entry";
import { emptyHead, type Head, type Known } from "#log/lineage/head";
import { LogIndex } from "#log/lineage/log-index";
import { changeHead } from "#log/plans/head-change";
import { holdsFor, linkOf, planAppend, type WritePlan } from "#log/plans/plan-append";
import { planStart } from "#log/plans/plan-start";
import { sha256 } from "#store/sha256";

const TIME = "2026-01-01T00:00:00.000Z";

/** A log that is written by plans alone, and read back by folding its entries. */
class PlannedLog {
  head: Head = emptyHead("c", null, TIME);
  readonly index: LogIndex = new LogIndex("c", null, TIME);
  readonly #nodes: string[] = [];
  #ids: number = 0;

  stamp(bodies: readonly EntryBody[]): readonly StampedDraft[] {
    return bodies.map((body) => ({ draft: parseBody(body), id: `e${++this.#ids}`, time: TIME, digest: "" }));
  }

  plan(author: Author, drafts: readonly StampedDraft[], head: Head = this.head): WritePlan {
    const known = new Map<string, Known>();
    for (const id of this.#nodes) {
      const found = this.index.find(id);
      if (found !== undefined) known.set(id, found);
    }
    const batch: Batch = { author, drafts, key: null, digest: "" };
    const none = new Map();
    const state = { head, lease: null, nowMs: 0, seen: null, known, kept: none, settings: none };
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
    const link = linkOf(sha256, plan, { headSeq: base, previous: this.head.link ?? "" });
    this.head = changeHead(this.head, plan.change, link);
    this.index.setLinks(this.head);
  }

  nodeAt(choice: number): string {
    return this.#nodes[choice % this.#nodes.length] ?? "e1";
  }
}

function begun(): PlannedLog {
  const log = new PlannedLog();
  const drafts = log.stamp([{ type: "conversation", cwd: "/a" }]);
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
