import type { Entry, EntryOf } from "#log/entry";
import { isInternal } from "#log/message";
import type { EntryId } from "#log/ids";

/** One side of a comparison: the nodes of a branch from the common start on, oldest first, and the facts of its logs. */
export interface DiffSide {
  readonly nodes: readonly Entry[];
  /** `turn_start`, `turn_end`, `attempt` and `attempt_end`; those of other branches are left out by themselves. */
  readonly facts: readonly Entry[];
}

/** The types of facts that a side is made of. */
export const DIFF_FACTS = ["turn_start", "turn_end", "attempt", "attempt_end"] as const;

export interface DiffTurns {
  /** The number of the turn that each node lies in, from 1. */
  readonly numbers: readonly number[];
  readonly count: number;
  /** The facts of the turns that lie on the branch, by the number of the turn. */
  readonly facts: ReadonlyMap<number, readonly Entry[]>;
}

/** Where turns begin on a branch: at their prompts, not at words that were steered into one. */
export function diffTurns({ nodes, facts }: DiffSide): DiffTurns {
  const prompts = new Set<EntryId>();
  for (const fact of facts)
    if (fact.type === "turn_start" && fact.prompt !== undefined) prompts.add(fact.prompt);
  const numbers: number[] = [];
  let count = 0;
  let before: EntryOf<"message"> | null = null;
  for (const node of nodes) {
    if (node.type === "message") {
      if (count === 0 || beginsTurn(node, before, prompts)) count++;
      before = node;
    }
    numbers.push(Math.max(1, count));
  }
  return { numbers, count, facts: factsByTurn({ nodes, facts }, numbers) };
}

function beginsTurn(
  node: EntryOf<"message">,
  before: EntryOf<"message"> | null,
  prompts: ReadonlySet<EntryId>,
): boolean {
  if (node.message.role !== "user" || isInternal(node)) return false;
  return prompts.has(node.id) || before?.message.role === "assistant";
}

/** A turn lies on the branch by its prompt, or by the last node that it left. */
function factsByTurn(
  { nodes, facts }: DiffSide,
  numbers: readonly number[],
): ReadonlyMap<number, readonly Entry[]> {
  const numberOf = new Map<EntryId, number>();
  for (const [index, { id }] of nodes.entries()) numberOf.set(id, numbers[index] ?? 1);
  const turns = new Map<string, number>();
  for (const fact of facts) {
    const node = fact.type === "turn_start" ? fact.prompt : fact.type === "turn_end" ? fact.node : undefined;
    const number = node === undefined ? undefined : numberOf.get(node);
    if (number !== undefined && "turn" in fact && fact.turn !== undefined) turns.set(fact.turn, number);
  }
  const byTurn = new Map<number, Entry[]>();
  for (const fact of facts) {
    const number = "turn" in fact && fact.turn !== undefined ? turns.get(fact.turn) : undefined;
    if (number === undefined) continue;
    const earlier = byTurn.get(number);
    if (earlier === undefined) byTurn.set(number, [fact]);
    else earlier.push(fact);
  }
  return byTurn;
}
