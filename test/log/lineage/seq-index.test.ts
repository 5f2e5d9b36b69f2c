import fc from "fast-check";
import { expect, test } from "vitest";
import type { EntryType } from "#log/entry";
import type { EntryId } from "#log/ids";
import { LogIndex } from "#log/lineage/log-index";

const TYPES = ["title", "update", "label"] as const satisfies readonly EntryType[];

/** A log of facts of these types; what an erase takes away leaves gaps. */
function indexOf(types: readonly EntryType[], gone: ReadonlySet<number>): LogIndex {
  const index = new LogIndex("a", null, "");
  for (const [at, type] of types.entries()) {
    const placing = { seq: at + 1, type, node: false, parentId: null, time: "", body: {}, byOwner: true };
    index.apply({ ...placing, id: `e${at}` as EntryId, isForkRemainder: true }, () => undefined);
  }
  const kept = index.entries.map((entry) => entry.seq).filter((seq) => !gone.has(seq));
  index.trim(new Set(kept), null);
  return index;
}

test("the seqs of a stretch are those that going through all entries would find", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom(...TYPES), { maxLength: 30 }),
      fc.array(fc.nat(30), { maxLength: 5 }),
      fc.record({
        after: fc.option(fc.integer({ min: -1, max: 33 }), { nil: undefined }),
        until: fc.option(fc.integer({ min: -1, max: 33 }), { nil: undefined }),
        limit: fc.nat(12),
        types: fc.option(fc.array(fc.constantFrom(...TYPES)), { nil: undefined }),
        newestFirst: fc.boolean(),
      }),
      (all, gone, request) => {
        const index = indexOf(all, new Set(gone));
        const { after, until, limit, types, newestFirst } = request;
        const ordered = newestFirst ? index.entries.toReversed() : index.entries;
        const plain = ordered
          .filter((entry) => types === undefined || types.includes(entry.type as (typeof TYPES)[number]))
          .map((entry) => entry.seq)
          .filter((seq) => after === undefined || (newestFirst ? seq < after : seq > after))
          .filter((seq) => until === undefined || (newestFirst ? seq >= until : seq <= until))
          .slice(0, limit);
        expect(index.seqs(request)).toEqual(plain);
      },
    ),
  );
});
