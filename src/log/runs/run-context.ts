import type { Entry, EntryOf } from "#log/entry";
import type { EntryId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import { type Context, ContextReader } from "#log/projections/context";
import type { Settings } from "#log/projections/settings";
import { boundWindow, EMPTY_WINDOW } from "#log/projections/window";
import { seedMessages } from "./seed-messages.ts";

/** What the next request of a run sends. */
export interface RunContext extends Context {
  /** The run's own prompt, in place of the one that is made for every request; null where its seeds have none. */
  readonly system: string | null;
}

/** A node of a branch, and how deep it lies there. */
export interface NodeAtDepth {
  readonly entry: Entry;
  readonly depth: number;
}

export type TurnFact = EntryOf<"turn_start"> | EntryOf<"turn_end">;

/** The entries that say which turn a node of a run belongs to. */
export const RUN_FACTS: readonly TurnFact["type"][] = ["turn_start", "turn_end"];

/** What a run is read of: nodes on its branch within its own time, newest first, and the facts of that time in their order. */
export interface RunParts {
  readonly run: string;
  readonly nodes: readonly NodeAtDepth[];
  readonly turns: readonly TurnFact[];
}

/**
 * The nodes of a run. The turn they lie in decides; what lies between turns goes out with the next one, so it is of that
 * one, and of the run where none has followed.
 */
export function ownNodes({ run, nodes, turns }: RunParts): readonly NodeAtDepth[] {
  const facts = turns.toReversed();
  let index = 0;
  const own: NodeAtDepth[] = [];
  // Newest first: the fact passed last is the one that comes next in the log.
  let next: TurnFact | null = null;
  for (const node of nodes) {
    for (let fact = facts[index]; fact !== undefined && fact.seq > node.entry.seq; fact = facts[index]) {
      next = fact;
      index++;
    }
    const before = facts[index];
    const turn = before?.type === "turn_start" ? before : next?.type === "turn_start" ? next : null;
    if (turn === null || turn.run === run) own.push(node);
  }
  return own;
}

/** A run's own nodes, those of the runs it continues, and what else its requests are made of. */
export interface RunContextParts {
  /** Its first entries; null: it has no seeds, or they are hidden. */
  readonly seed: { readonly messages: readonly Json[]; readonly depth: number } | null;
  /** Newest first. */
  readonly own: readonly NodeAtDepth[];
  readonly before: readonly NodeAtDepth[];
  readonly hidden: ReadonlySet<EntryId>;
  readonly settings: Settings;
  /** How deep the latest reset of the branch lies; -1 where there is none. */
  readonly resetDepth: number;
  readonly leaf: EntryId;
}

/**
 * What a run with seeds sends: its seeds, the messages of the runs it continues, then its own. A compaction stands for the
 * messages before what it keeps, never for the seeds; after a reset nothing of before is sent, seeds included.
 */
export function runContext(parts: RunContextParts): RunContext {
  const { hidden, settings, resetDepth, leaf } = parts;
  const nodes = [...parts.own, ...parts.before];
  const entries = nodes.flatMap(({ entry, depth }) => (depth > resetDepth ? [entry] : []));
  const { inside, bounds } = boundWindow(EMPTY_WINDOW, { entries, hidden, atRoot: true });
  const reader = new ContextReader();
  reader.add(inside, hidden);
  const isSent = parts.seed !== null && parts.seed.depth > resetDepth;
  // What a compaction keeps may well lie before the run, and seeds stand in front of what answers them.
  const context = reader.result({ ...bounds, boundaryMissing: false, done: !isSent }, settings, leaf);
  const seeds = seedMessages(isSent ? parts.seed.messages : []);
  return {
    ...context,
    system: seeds.system,
    messages: [...seeds.messages, ...context.messages],
    issues: [...seeds.issues, ...context.issues],
  };
}
