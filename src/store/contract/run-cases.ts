import assert from "node:assert/strict";
import { decodeEntry } from "#log/codec";
import type { EntryBody } from "#log/entry";
import { isLogError } from "#log/errors";
import { runsOf } from "#log/runs/run-folder";
import type { Run } from "#log/runs/run-row";
import type { SpaceStore } from "#store/facets";
import { prepare } from "#store/prepare";
import type { RunPage, RunsRequest } from "#store/requests";
import { type ContractCase, conv, Rig, user } from "./rig.ts";

const [group, needs] = ["runs", ["runs"]] as const;

function reply(outputTokens: number, costMicros: number = 0): EntryBody {
  const usage = { inputTokens: 10, outputTokens, cacheReadTokens: 4, costMicros };
  const content = [{ type: "text", text: "yes" }] as const;
  return { type: "message", message: { role: "assistant", content, model: "m", usage } };
}

function start(run: string, more: Partial<Extract<EntryBody, { type: "run_start" }>> = {}): EntryBody {
  return { type: "run_start", run, trigger: "chat", ...more };
}

function turn(name: string, run: string, prompt?: string): EntryBody {
  return { type: "turn_start", turn: name, run, ...(prompt === undefined ? {} : { prompt }) };
}

function over(name: string): EntryBody {
  return { type: "turn_end", turn: name, outcome: "completed" };
}

function end(run: string, status: string = "completed", error?: { readonly message: string }): EntryBody {
  return { type: "run_end", run, status, ...(error === undefined ? {} : { error }) };
}

/** The rows of a conversation, which must be those that reading its log gives. */
async function rows(space: SpaceStore, id: string): Promise<readonly Run[]> {
  const { runs, next } = await space.runs({ conversation: conv(id), limit: 99 });
  assert.equal(next, null);
  const entries = await space.read({ conversation: conv(id), limit: 9_999 });
  const read = runsOf(
    conv(id),
    entries.map((stored) => decodeEntry(stored)),
  );
  assert.deepEqual(runs, read);
  return runs;
}

async function allPages(space: SpaceStore, request: RunsRequest): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let after: string | null = null; ;) {
    const page: RunPage = await space.runs({ ...request, ...(after === null ? {} : { after }) });
    ids.push(...page.runs.map(({ run }) => run));
    if (page.next === null) return ids;
    after = page.next;
  }
}

function counts({ steps, prompts, usage }: Run): readonly (number | null)[] {
  const { inputTokens, outputTokens, cacheReadTokens, costMicros } = usage;
  return [steps, prompts, inputTokens, outputTokens, cacheReadTokens, costMicros];
}

/** Runs are kept by the append: rows that a list of them reads, and that say what the log says. */
export const runCases: readonly ContractCase[] = [
  {
    group,
    needs,
    name: "has the row of a run from its start on, grows it with its turns, and keeps it as it ended",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      const root: EntryBody = {
        type: "conversation",
        id: "root",
        parent: { conversation: "above", run: "r0" },
      };
      await space.create({ conversation: conv("a"), ...prepare([root], rig.idsAndTime) });
      const values = { triggerId: "m-7", mailbox: "inbox", model: "m", window: 100, seedCount: 2 };
      const more = { policy: { ask: true }, tools: ["read"], continues: "r0" };
      await rig.append(space, "a", [start("r1", { trigger: "email", ...values, ...more })]);
      const [begun] = await rows(await rig.space(), "a");
      assert.equal(begun?.status, "running");
      assert.deepEqual(
        [begun.trigger, begun.mailbox, begun.tools],
        [{ type: "email", id: "m-7" }, "inbox", ["read"]],
      );
      assert.deepEqual([begun.model, begun.window, begun.seedCount], ["m", 100, 2]);
      assert.deepEqual([begun.policy, begun.continues], [{ ask: true }, "r0"]);
      assert.deepEqual(begun.parent, { conversation: "above", run: "r0" });
      await rig.append(space, "a", [user("one", "p1"), turn("t1", "r1", "p1"), reply(3, 5)]);
      await rig.append(space, "a", [reply(4, 6), over("t1")]);
      const [grown] = await rows(await rig.space(), "a");
      assert.deepEqual(grown && counts(grown), [2, 1, 20, 7, 8, 11]);
      await rig.append(space, "a", [end("r1")]);
      await rig.append(space, "a", [{ type: "title", title: "later" }, reply(9)]);
      const [ended] = await rows(await rig.space(), "a");
      assert.deepEqual(ended && counts(ended), [2, 1, 20, 7, 8, 11]);
      assert.deepEqual([ended?.status, ended?.startSeq, ended?.highWater], ["completed", 2, 8]);
      assert.equal(ended?.error, null);
    },
  },
  {
    group,
    needs,
    name: "counts usage and answers for the run of their turn, and ignores turns without a run",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "p1"), { type: "turn_start", turn: "t0" }, reply(100)]);
      await rig.append(space, "a", [over("t0"), start("r1"), reply(100), turn("t1", "r1", "p1"), reply(1)]);
      await rig.append(space, "a", [
        { type: "attempt_end", turn: "t1", class: "limit", usage: { outputTokens: 2 } },
        { type: "steer", steer: "s", state: "delivered" },
        over("t1"),
        turn("t2", "r1", "p1"), // the same prompt once more
        reply(4),
        over("t2"),
        end("r1"),
        start("r2"),
        turn("t3", "r2", "p1"),
        reply(8),
      ]);
      const [first, second] = await rows(await rig.space(), "a");
      assert.deepEqual(first && counts(first), [2, 2, 20, 7, 8, null]);
      assert.deepEqual(second && counts(second), [1, 1, 10, 8, 4, 0]);
      assert.deepEqual([first?.status, second?.status], ["completed", "running"]);
    },
  },
  {
    group,
    needs,
    name: "says of a run that failed, was cancelled or was cut off by the next why it did",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [start("r1"), end("r1", "failed", { message: "no money" })]);
      await rig.append(space, "a", [start("r2"), end("r2", "cancelled"), end("r2", "completed")]);
      await rig.append(space, "a", [start("r3")]);
      await rig.append(space, "a", [start("r4"), end("r3"), start("r4", { trigger: "again" })]);
      const runs = await rows(await rig.space(), "a");
      assert.deepEqual(
        runs.map(({ run, status, error }) => [run, status, error?.code ?? null]),
        [
          ["r1", "failed", null],
          ["r2", "failed", "cancelled"],
          ["r3", "failed", "interrupted"],
          ["r4", "running", null],
        ],
      );
      assert.deepEqual(runs[0]?.error, { message: "no money", code: null });
      assert.deepEqual([runs[2]?.startSeq, runs[2]?.highWater, runs[3]?.highWater], [7, 7, 10]);
    },
  },
  {
    group,
    needs,
    name: "opens the latest run again with a turn of it, and a run before it never",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [start("r1"), user("one", "p1"), turn("t1", "r1", "p1"), reply(1)]);
      await rig.append(space, "a", [over("t1"), end("r1", "failed", { message: "no money" })]);
      await rig.append(space, "a", [turn("t2", "r1", "p1")]);
      const [again] = await rows(await rig.space(), "a");
      assert.deepEqual([again?.status, again?.error, again?.completedAt], ["running", null, null]);
      await rig.append(space, "a", [reply(2), over("t2"), end("r1")]);
      // Within one batch, whichever comes last counts.
      await rig.append(space, "a", [
        user("two", "p2"),
        turn("t3", "r1", "p2"),
        over("t3"),
        end("r1", "cancelled"),
      ]);
      await rig.append(space, "a", [
        turn("t4", "r1", "p2"),
        reply(4),
        over("t4"),
        end("r1"),
        turn("t5", "r1", "p2"),
      ]);
      await rig.append(space, "a", [reply(8), over("t5"), end("r1")]);
      const [first] = await rows(await rig.space(), "a");
      assert.deepEqual(first && [first.status, ...counts(first)], ["completed", 4, 2, 40, 15, 16, 0]);
      assert.equal(first?.highWater, 23);
      await rig.append(space, "a", [start("r2"), turn("t6", "r1", "p1"), reply(16), over("t6"), end("r1")]);
      const both = await rows(await rig.space(), "a");
      assert.deepEqual(both[0], first);
      assert.deepEqual(both[1] && [both[1].status, ...counts(both[1])], ["running", 0, 0, 0, 0, 0, 0]);
    },
  },
  {
    group,
    needs,
    name: "counts nothing twice: not a retry under its key, and in a fork only what the fork did",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "p1")]);
      const begin = [start("r1"), turn("t1", "r1", "p1")];
      await rig.append(space, "a", begin, { key: "run/chat/1" });
      await rig.append(space, "a", [reply(3)], { key: "step/1" });
      await rig.append(await rig.space(), "a", begin, { key: "run/chat/1" });
      await rig.append(await rig.space(), "a", [reply(3)], { key: "step/1" });
      const [run, ...others] = await rows(await rig.space(), "a");
      assert.deepEqual([run && counts(run), others], [[1, 1, 10, 3, 4, 0], []]);
      await rig.fork(space, "a", "b");
      assert.deepEqual(await rows(space, "b"), []);
      await rig.append(space, "b", [start("r2"), turn("t2", "r2", "p1"), reply(5)]);
      const [own] = await rows(await rig.space(), "b");
      assert.deepEqual(own && [own.run, ...counts(own)], ["r2", 1, 1, 10, 5, 4, 0]);
      assert.equal((await rows(space, "a")).length, 1);
    },
  },
  {
    group,
    needs,
    name: "finds runs of a space by time, mailbox, trigger, id and conversation, in pages and both ways",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      const timeOf = (day: number): string => `2026-02-0${day}T00:00:00.000Z`;
      await rig.create(space, "a", [
        { ...start("a1", { mailbox: "x", trigger: "email" }), time: timeOf(1) },
        { ...start("a2", { mailbox: "y" }), time: timeOf(5) },
      ]);
      await rig.create(space, "b", [
        { ...start("b1", { mailbox: "x", trigger: "cron" }), time: timeOf(3) },
        { ...end("b1"), time: timeOf(4) },
        { ...start("b2"), time: timeOf(2) }, // the clock was set back
      ]);
      await rig.create(await rig.space("other"), "a", [start("hidden", { mailbox: "x" })]);
      for (const limit of [1, 2, 99]) {
        const pages = (request: Partial<RunsRequest>) => allPages(space, { limit, ...request });
        assert.deepEqual(await pages({}), ["a1", "b2", "b1", "a2"]);
        assert.deepEqual(await pages({ newestFirst: true }), ["a2", "b1", "b2", "a1"]);
        assert.deepEqual(await pages({ mailbox: "x" }), ["a1", "b1"]);
        assert.deepEqual(await pages({ trigger: "cron" }), ["b1"]);
        assert.deepEqual(await pages({ since: timeOf(2), until: timeOf(5) }), ["b2", "b1"]);
        assert.deepEqual(await pages({ since: "2026-02-03T01:00:00+01:00" }), ["b1", "a2"]);
        assert.deepEqual(await pages({ run: "a2" }), ["a2"]);
        assert.deepEqual(await pages({ run: "hidden" }), []);
        assert.deepEqual(await pages({ conversation: conv("b") }), ["b1", "b2"]);
        assert.deepEqual(await pages({ conversation: conv("b"), newestFirst: true }), ["b2", "b1"]);
      }
      const gone = space.runs({ conversation: conv("none"), limit: 1 });
      await assert.rejects(gone, (error) => isLogError(error, "conversation_not_found"));
      for (const wrong of [{ limit: 0 }, { limit: 1, since: "yesterday" }, { limit: 1, after: "junk" }])
        await assert.rejects(space.runs(wrong), (error) => isLogError(error, "invalid_request"));
    },
  },
  {
    group,
    needs: ["runs", "erase"],
    name: "forgets the runs of a conversation that is erased, also where forks keep some of it",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [start("r1"), user("one", "m1"), end("r1"), start("r2")]);
      await rig.create(space, "b", [start("r3")]);
      await rig.fork(space, "a", "c", { entry: "m1" });
      assert.deepEqual(await allPages(space, { limit: 9 }), ["r1", "r2", "r3"]);
      await space.erase(conv("a"));
      assert.deepEqual(await allPages(await rig.space(), { limit: 9 }), ["r3"]);
      assert.deepEqual(await allPages(space, { limit: 9, run: "r1" }), []);
      await rig.append(space, "c", [start("r4")]);
      assert.deepEqual(
        (await rows(space, "c")).map(({ run }) => run),
        ["r4"],
      );
    },
  },
];
