import type { TreeNode } from "#edges/http/client/views";
import { changeQuery, query } from "../../router/location.ts";
import type { LaneClass } from "./lanes/lane-state.ts";
import type { ForkMark } from "./tree-rows.ts";

/** What is compared: `ID@ENTRY` of a node, or the `ID` of a fork. */
export interface Picks {
  readonly a: string | null;
  readonly b: string | null;
}

export function picksIn(given: URLSearchParams): Picks {
  return { a: given.get("a"), b: given.get("b") };
}

/** The node in this tree that an address names, or grew out of. */
function nodeOf(pick: string | null, conversation: string, forks: readonly ForkMark[]): string | null {
  if (pick?.startsWith(`${conversation}@`) === true) return pick.slice(conversation.length + 1);
  return forks.find((fork) => fork.conversation === pick)?.entry ?? null;
}

/** Picks one more: the first is A, the next B; what is picked already is let go of. */
export function togglePick(address: string): void {
  const { a, b } = picksIn(query.value);
  if (a === address) changeQuery({ a: null });
  else if (b === address) changeQuery({ b: null });
  else if (a === null) changeQuery({ a: address });
  else changeQuery({ b: address });
}

interface PickedWays {
  /** The last node that both come from; null: fewer than two are picked. */
  readonly ancestor: string | null;
  readonly seen: readonly string[];
  readonly classOf: (id: string) => LaneClass;
}

/** Which lines lead to what is picked, from where the two part. */
export function pickedWays(
  nodes: readonly TreeNode[],
  conversation: string,
  { a, b }: Picks,
  forks: readonly ForkMark[],
): PickedWays {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const way = (from: string | null): ReadonlySet<string> => {
    const ids = new Set<string>();
    for (let at = from; at !== null && !ids.has(at); at = byId.get(at)?.parentId ?? null)
      if (byId.has(at)) ids.add(at);
    return ids;
  };
  const [endA, endB] = [nodeOf(a, conversation, forks), nodeOf(b, conversation, forks)];
  const [toA, toB] = [way(endA), way(endB)];
  const isPair = a !== null && b !== null;
  const ancestor = isPair ? ([...toA].find((id) => toB.has(id)) ?? null) : null;
  const classOf = (id: string): LaneClass => {
    if (isPair && (id === a || (toA.has(id) && !toB.has(id)))) return "a";
    if (isPair && (id === b || (toB.has(id) && !toA.has(id)))) return "b";
    return byId.get(id)?.active === true ? "trunk" : "";
  };
  const seen = [endA, endB].filter((id) => id !== null && byId.has(id)) as readonly string[];
  return { ancestor, seen, classOf };
}
