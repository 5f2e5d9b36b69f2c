/**
 * Goal: a copy is the same space, whatever the store it comes from and the one it goes to, wherever it was cut off.
 * Method: fast-check fills a space with branches, forks, facts, images, runs and memories; it is copied, cut off at some
 * call of the target before or after that was carried out, and run again; then everything that the verbs of both spaces tell
 * is compared. What comes later, removals for ever among it, is copied behind it and compared again.
 */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { decorateStore } from "#store/decorate";
import type { Store } from "#store/store";
import { copySpace } from "#transfer/copy-space";
import { RandomSpace, spaceAct, tellAll } from "../support/random-space.ts";
import { subjects } from "../support/subjects.ts";
import { spaceOf } from "#conversation/on-space";

const nowMs = (): number => 0;

class Cut extends Error {}

/** The store, until so many calls that write were made of it; the last one is carried out or not. */
function cutAfter(store: Store, calls: number, landed: boolean): Store {
  let left = calls;
  const reads = new Set(["head", "read", "list", "batchEnds", "findAppend", "getBlob", "entry"]);
  return decorateStore(store, {
    around: async (call, verb) => {
      if (reads.has(verb) || left > 0) {
        if (!reads.has(verb)) left--;
        return call();
      }
      if (landed && left === 0) await call();
      left--;
      throw new Cut();
    },
  });
}

async function copyCutOff(from: Holdfast, store: Store, cut: { at: number; landed: boolean }): Promise<void> {
  const cutOff = new Holdfast(cutAfter(store, cut.at, cut.landed), "default");
  const error = await copySpace(from, cutOff).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error !== null && !(error instanceof Cut)) throw error;
}

describe.each(subjects)("from $name", (one) => {
  test.each(subjects)("into $name the copy tells the same, run again it writes nothing", async (other) => {
    const cut = fc.record({ at: fc.nat({ max: 12 }), landed: fc.boolean() });
    const acts = fc.array(spaceAct, { minLength: 4, maxLength: 25 });
    await fc.assert(
      fc.asyncProperty(acts, acts, cut, async (before, later, cutAt) => {
        using source = one.make();
        using target = other.make();
        await using from = await source.open(nowMs);
        await using to = await target.open(nowMs);
        const made = new RandomSpace(from);
        const copy = new Holdfast(to, "default");
        for (const act of before) await made.do(act);
        await copyCutOff(made.holdfast, to, cutAt);
        const { left, missing } = await copySpace(made.holdfast, copy);
        expect({ left, missing }).toEqual({ left: [], missing: [] });
        const told = await tellAll(spaceOf(made.holdfast));
        expect(await tellAll(spaceOf(copy))).toEqual(told);
        const again = await copySpace(made.holdfast, copy);
        expect(again).toMatchObject({ copied: 0, entries: 0, blobs: 0, erased: [], left: [] });
        for (const act of later) await made.do(act);
        await copyCutOff(made.holdfast, to, cutAt);
        expect((await copySpace(made.holdfast, copy)).left).toEqual([]);
        expect(await tellAll(spaceOf(copy))).toEqual(await tellAll(spaceOf(made.holdfast)));
      }),
      {
        endOnFailure: true,
        numRuns: Number(process.env["HOLDFAST_COPY_RUNS"] ?? (one.durable || other.durable ? 1 : 30)),
      },
    );
  });
});
