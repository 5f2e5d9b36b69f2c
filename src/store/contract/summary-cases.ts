import assert from "node:assert/strict";
import { decodeEntry } from "#log/codec";
import type { EntryBody } from "#log/entry";
import { summaryOf } from "#log/projections/summary-of";
import type { Summary } from "#log/summary";
import { prepare } from "#store/prepare";
import type { SpaceStore } from "#store/facets";
import type { ListRequest } from "#store/requests";
import { type ContractCase, conv, Rig, user } from "./rig.ts";

const group = "summary";

function reply(model: string, outputTokens: number): EntryBody {
  const content = [{ type: "text", text: "yes" }] as const;
  return { type: "message", message: { role: "assistant", content, model, usage: { outputTokens } } };
}

/** What the list and the head say, which must be one, and what reading the log gives. */
async function readSummary(space: SpaceStore, id: string): Promise<Summary | null> {
  const { summary, segments } = await space.head(conv(id));
  const { conversations } = await space.list({ limit: 99 });
  assert.deepEqual(conversations.find(({ conversation }) => conversation === id)?.summary, summary);
  const entries = await space.read({ conversation: conv(id), limit: 999 });
  const read = summaryOf(
    entries.map((stored) => decodeEntry(stored)),
    segments,
  );
  assert.deepEqual(summary, read);
  return summary;
}

/** What a list shows is kept by the append: nobody reads a log for it. */
export const summaryCases: readonly ContractCase[] = [
  {
    group,
    name: "shows model, agent, branches, turn, run, metadata and totals without a body, as the log says them",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1")]);
      await rig.append(space, "a", [
        { type: "run_start", run: "r", trigger: "person" },
        { type: "turn_start", turn: "t", prompt: "m1", run: "r" },
        { type: "upstream_link", upstream: "u1", agent: "first-agent", reason: "first" },
        { type: "attempt_end", turn: "t", class: "limit", usage: { inputTokens: 7, costMicros: 5 } },
        { type: "upstream_link", upstream: "u2", agent: "next-agent", reason: "limit" },
        reply("big", 3),
      ]);
      const open = await readSummary(await rig.space(), "a");
      assert.deepEqual(
        [open?.model, open?.agent, open?.rollovers, open?.branches, open?.turn?.state, open?.run?.status],
        ["big", "next-agent", 1, 1, "open", "open"],
      );
      await rig.append(space, "a", [{ type: "metadata", metadata: { tags: ["x"], archived: true } }], {
        author: { kind: "outside" },
      });
      await rig.append(space, "a", [
        { type: "turn_end", turn: "t", outcome: "failed", resetAt: "2026-01-02T00:00:00.000Z" },
        { type: "run_end", run: "r", status: "failed" },
        { ...user("elsewhere"), parentId: "m1" },
        { type: "model_change", model: "small" },
        reply("big", 4),
      ]);
      await rig.append(space, "a", [{ type: "metadata", metadata: { archived: null, pinned: true } }], {
        author: { kind: "outside" },
      });
      const ended = await readSummary(await rig.space(), "a");
      assert.deepEqual(
        [ended?.model, ended?.branches, ended?.turn?.state, ended?.run?.status, ended?.metadata],
        ["small", 2, "ended", "failed", { tags: ["x"], pinned: true }],
      );
      const { byModel, ...total } = ended?.usage ?? { byModel: {} };
      assert.deepEqual(total, {
        inputTokens: 7,
        outputTokens: 7,
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        costMicros: 5,
        unpricedAnswers: 2,
      });
      assert.deepEqual(Object.keys(byModel).toSorted(), ["big", "unknown"]);
    },
  },
  {
    group,
    name: "counts what a fork spends itself, and nothing that its source has spent",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [user("one", "m1"), reply("big", 3)]);
      await rig.fork(space, "a", "b");
      assert.equal((await readSummary(space, "b"))?.usage.outputTokens, 0);
      await rig.append(space, "b", [user("mine"), reply("big", 1)]);
      assert.equal((await readSummary(await rig.space(), "b"))?.usage.outputTokens, 1);
      assert.equal((await readSummary(await rig.space(), "a"))?.usage.outputTokens, 3);
    },
  },
  {
    group,
    name: "leaves to the source what an import brought of it, also over several batches",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      const forkedFrom = { conversation: "gone", entry: "m2", head: 9 };
      const root: EntryBody = { type: "conversation", id: "r", forkedFrom };
      await space.create({
        conversation: conv("b"),
        ...prepare([root, user("one", "m1"), reply("big", 3)], rig.idsAndTime),
      });
      assert.equal((await readSummary(await rig.space(), "b"))?.usage.outputTokens, 3);
      await rig.append(space, "b", [reply("big", 5), user("two", "m2"), reply("big", 2)]);
      assert.equal((await readSummary(await rig.space(), "b"))?.usage.outputTokens, 2);
      await rig.append(space, "b", [reply("big", 4)]);
      assert.equal((await readSummary(await rig.space(), "b"))?.usage.outputTokens, 6);
    },
  },
  {
    group,
    name: "leaves a log that says so of itself out of lists, unless they ask for such logs",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      const ids = async (request: Partial<ListRequest>): Promise<readonly string[]> => {
        const seqs: string[] = [];
        const from = await rig.space();
        let after: string | null = null;
        do {
          const page: Awaited<ReturnType<SpaceStore["list"]>> = await from.list({
            limit: 2,
            ...request,
            ...(after === null ? {} : { after }),
          });
          seqs.push(...page.conversations.map(({ conversation }) => conversation));
          after = page.next;
        } while (after !== null);
        return seqs.toSorted();
      };
      for (const id of ["a", "b", "c"]) {
        await rig.create(space, id);
        const root: EntryBody = { type: "conversation", unlisted: true };
        await space.create({ conversation: conv(`${id}-work`), ...prepare([root], rig.idsAndTime) });
      }
      await rig.append(space, "b-work", [user("one", "m1"), reply("big", 3)]);
      assert.equal((await space.head(conv("b-work"))).summary?.unlisted, true);
      assert.deepEqual(await ids({}), ["a", "b", "c"]);
      assert.deepEqual(await ids({ unlisted: false }), ["a", "b", "c"]);
      assert.deepEqual(await ids({ unlisted: true }), ["a-work", "b-work", "c-work"]);
      assert.deepEqual(await ids({ prefix: "b-" }), []);
      assert.deepEqual(await ids({ prefix: "b-", unlisted: true }), ["b-work"]);
      await rig.fork(space, "b-work", "fork", { entry: "m1" });
      assert.deepEqual(await ids({}), ["a", "b", "c", "fork"]);
    },
  },
];
