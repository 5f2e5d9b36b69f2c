/**
 * Goal: the rows of runs that a store keeps are those that its log gives.
 * Method: random batches of all that a row depends on, by one writer; rows are asked for in between, so that what was
 * folded or written before has to be gone on with.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { decodeEntry } from "#log/codec";
import type { EntryBody } from "#log/entry";
import { runsOf } from "#log/runs/run-folder";
import type { Run } from "#log/runs/run-row";
import { conv, Rig, user } from "#store/contract/rig";
import type { SpaceStore } from "#store/facets";
import type { NamedSubject } from "../support/subjects.ts";

const name = fc.constantFrom("r1", "r2", "r3");
const count = fc.integer({ min: 0, max: 9 });
const usage = fc.record({ inputTokens: count, outputTokens: count, costMicros: count }, { requiredKeys: [] });
const body: fc.Arbitrary<EntryBody> = fc.oneof(
  fc.record(
    { type: fc.constant("run_start"), run: name, trigger: name, mailbox: name },
    { requiredKeys: ["type", "run", "trigger"] },
  ),
  fc.record({
    type: fc.constant("run_end"),
    run: name,
    status: fc.constantFrom("completed", "failed", "cancelled", "open"),
  }),
  fc.record(
    { type: fc.constant("turn_start"), turn: name, run: name, prompt: name },
    { requiredKeys: ["type", "turn"] },
  ),
  fc.record({ type: fc.constant("turn_end"), turn: name, outcome: fc.constant("completed"), usage }),
  fc.record({ type: fc.constant("attempt_end"), turn: name, class: name, usage }),
  fc.record({ type: fc.constant("steer"), steer: name, state: fc.constantFrom("accepted", "delivered") }),
  fc.record({
    type: fc.constant("message"),
    message: fc.record(
      { role: fc.constant("assistant"), content: fc.constant([]), usage },
      { requiredKeys: ["role", "content"] },
    ),
  }),
  fc.constant(user("words")),
  fc.constant<EntryBody>({ type: "title", title: "x" }),
);

export async function kept(space: SpaceStore, id: string): Promise<readonly Run[]> {
  return (await space.runs({ conversation: conv(id), limit: 999 })).runs;
}

export async function read(space: SpaceStore, id: string): Promise<readonly Run[]> {
  const entries = await space.read({ conversation: conv(id), limit: 9_999 });
  return runsOf(
    conv(id),
    entries.map((stored) => decodeEntry(stored)),
  );
}

export function runRowCases(subject: NamedSubject): void {
  test("the rows of runs are what folding the log gives, whatever is appended", async () => {
    using data = subject.make();
    await using rig = new Rig(data);
    const space = await rig.space();
    let made = 0;
    const batches = fc.array(fc.array(body, { minLength: 1, maxLength: 6 }), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(batches, async (all) => {
        const id = `c${++made}`;
        await rig.create(space, id);
        for (const [nth, bodies] of all.entries()) {
          await rig.append(space, id, bodies, { durability: "relaxed" });
          if (nth % 2 === 0) expect(await kept(space, id)).toEqual(await read(space, id));
        }
        expect(await kept(space, id)).toEqual(await read(space, id));
      }),
      { numRuns: 25 },
    );
    const again = await rig.space();
    for (let nth = 1; nth <= made; nth++)
      expect(await kept(again, `c${nth}`)).toEqual(await read(again, `c${nth}`));
  });
}
