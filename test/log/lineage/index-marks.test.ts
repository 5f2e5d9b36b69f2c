/** The latest node of a type on a branch: the right one, and found without going from segment to segment. */
import fc from "fast-check";
import { expect, test } from "vitest";
import type { EntryType } from "#log/entry";
import type { ConversationId, EntryId } from "#log/ids";
import type { ForkPoint } from "#log/lineage/head";
import { type Lineage, findVisible, latestOnBranch } from "#log/lineage/lineage";
import { type IndexedEntry, LogIndex } from "#log/lineage/log-index";

const TYPES = ["message", "reset", "model_change"] as const satisfies readonly EntryType[];

interface Node {
  readonly type: EntryType;
  /** How many nodes back in the log its parent stands; 0 is the latest. */
  readonly back: number;
}

class CountedFamily extends Map<ConversationId, LogIndex> {
  opened: number = 0;

  override get(conversation: ConversationId): LogIndex | undefined {
    this.opened++;
    return super.get(conversation);
  }
}

/** Logs that are each forked from a node of the one before, and the parent of every node. */
function grow(logs: readonly { readonly nodes: readonly Node[]; readonly forkedAt: number }[]): {
  readonly lineage: CountedFamily;
  readonly parents: ReadonlyMap<EntryId, EntryId | null>;
} {
  const lineage = new CountedFamily();
  const parents = new Map<EntryId, EntryId | null>();
  let above: { readonly conversation: ConversationId; readonly nodes: readonly IndexedEntry[] } | null = null;
  for (const [level, { nodes, forkedAt }] of logs.entries()) {
    const conversation = `c${level}` as ConversationId;
    const entry: IndexedEntry | undefined = above?.nodes[forkedAt % above.nodes.length];
    const origin: ForkPoint | null =
      above === null || !entry?.place
        ? null
        : { ...entry.place, source: above.conversation, entry: entry.id, head: above.nodes.length };
    const index = new LogIndex(conversation, origin, "");
    lineage.set(conversation, index);
    const visible: IndexedEntry[] = entry === undefined ? [] : [entry];
    const root: readonly Node[] = entry === undefined ? [{ type: "conversation", back: 0 }] : [];
    const own: IndexedEntry[] = [];
    for (const [at, { type, back }] of [...root, ...nodes].entries()) {
      const parentId = visible.at(-1 - (back % Math.max(visible.length, 1)))?.id ?? null;
      const id = `${conversation}-${at}` as EntryId;
      const placing = { id, seq: at + 1, type, node: true, parentId, time: "", body: {}, byOwner: true };
      const indexed = index.apply(placing, (known) => findVisible(lineage, conversation, known));
      parents.set(id, parentId);
      visible.push(indexed);
      own.push(indexed);
    }
    above = { conversation, nodes: own.length === 0 ? visible : own };
  }
  return { lineage, parents };
}

/** The same by following parents. */
function walk(
  { lineage, parents }: ReturnType<typeof grow>,
  from: IndexedEntry,
  type: EntryType,
): EntryId | undefined {
  const byId = new Map(
    [...lineage.values()].flatMap(({ entries }) => entries.map((entry) => [entry.id, entry])),
  );
  for (let at: EntryId | null = from.id; at !== null; at = parents.get(at) ?? null)
    if (byId.get(at)?.type === type) return at;
  return undefined;
}

const nodes = fc.array(fc.record({ type: fc.constantFrom(...TYPES), back: fc.nat(6) }), { maxLength: 25 });

test("the latest node of a type is the one that following parents would find, across branches and forks", () => {
  fc.assert(
    fc.property(fc.array(fc.record({ nodes, forkedAt: fc.nat(25) }), { maxLength: 4 }), (logs) => {
      const grown = grow(logs);
      for (const { entries } of grown.lineage.values())
        for (const entry of entries)
          for (const type of ["reset", "model_change"] as const)
            if (entry.place)
              expect(latestOnBranch(grown.lineage as Lineage, entry.place, type)?.id).toBe(
                walk(grown, entry, type),
              );
    }),
  );
});

test("a branch that left others a thousand times is asked as one that left none", () => {
  const comb = Array.from({ length: 3_000 }, (_, at): Node => ({
    type: "message",
    back: at % 3 === 2 ? 1 : 0,
  }));
  const { lineage } = grow([{ nodes: comb, forkedAt: 0 }]);
  const { leaf, segments } = [...lineage.values()][0]?.head ?? {};
  expect(segments).toBeGreaterThan(900);
  if (leaf === undefined) throw new Error("There is no log");
  lineage.opened = 0;
  expect(latestOnBranch(lineage, leaf, "reset")).toBeUndefined();
  expect(lineage.opened).toBe(1);
});
