/**
 * Goal: what stays of an erased log is what its forks can see, and nothing else.
 * Method: segments are drawn as a tree, some held by the erased log and some above it; every node and every hide is asked by
 * walking each fork's path, one node after the other.
 */
import fc from "fast-check";
import { expect, test } from "vitest";
import { type EraseFacts, planErase } from "#log/plans/plan-erase";

interface At {
  readonly log: "own" | "above";
  readonly segment: number;
  readonly depth: number;
}

const pick = fc.nat({ max: 1_000 });
const NODES = 6;

/** A line above the log; segments of the log, each grown from a node of that line or of a segment before it. */
function drawn(seeds: readonly number[]): { readonly ancestors: readonly (At | null)[]; readonly all: At[] } {
  const line: At[] = Array.from({ length: NODES }, (_, depth) => ({ log: "above", segment: 1, depth }));
  const own: At[] = [];
  const ancestors: (At | null)[] = [];
  for (const [at, seed] of seeds.entries()) {
    const from = [...line, ...own];
    const ancestor = from[seed % from.length] ?? null;
    ancestors.push(ancestor);
    for (let more = 1; more <= 2 + (seed % 3); more++)
      own.push({ log: "own", segment: at + 1, depth: (ancestor?.depth ?? -1) + more });
  }
  return { ancestors, all: [...line, ...own] };
}

test("keeps each node and each hide that a fork sees, and no other", () => {
  fc.assert(
    fc.property(
      fc.array(pick, { minLength: 1, maxLength: 6 }),
      fc.array(fc.record({ at: pick, head: fc.nat({ max: 9 }) }), { maxLength: 4 }),
      fc.array(pick, { maxLength: 5 }),
      (seeds, asked, said) => {
        const { ancestors, all } = drawn(seeds);
        const nodeAt = (n: number): At => all[n % all.length] ?? { log: "above", segment: 1, depth: 0 };
        const ancestorOf = ({ log, segment }: At): At | null =>
          log === "above" ? null : (ancestors[segment - 1] ?? null);
        const name = ({ log, segment }: At): string => `${log} ${segment}`;
        const facts: EraseFacts<At> = {
          forks: asked.map(({ at, head }) => ({ point: nodeAt(at), head })),
          hides: said.map((target, seq) => ({ seq: seq * 2, target: nodeAt(target) })),
          isOwn: ({ log }) => log === "own",
          segmentName: name,
          ancestorOf,
        };
        const pathOf = (end: At): readonly At[] => {
          const path: At[] = [];
          for (let at: At | null = end; at !== null; at = ancestorOf(at))
            path.push(...all.filter((node) => name(node) === name(at) && node.depth <= at.depth));
          return path;
        };
        const plan = planErase(facts);
        expect(plan === null).toBe(facts.forks.length === 0);
        if (plan === null) return;
        const seen = new Set(facts.forks.flatMap(({ point: at }) => pathOf(at)));
        for (const node of all.filter(({ log }) => log === "own"))
          expect(node.depth <= (plan.depths.get(node.segment) ?? -1)).toBe(seen.has(node));
        for (const { seq, target } of facts.hides) {
          const used = facts.forks.some(
            ({ point: at, head }) => head >= seq && target !== null && pathOf(at).includes(target),
          );
          expect(plan.hides.has(seq)).toBe(used);
        }
        const above = [...seen].filter(({ log }) => log === "above").map(({ depth }) => depth);
        expect(plan.above?.depth ?? -1).toBe(Math.max(-1, ...above));
      },
    ),
  );
});
