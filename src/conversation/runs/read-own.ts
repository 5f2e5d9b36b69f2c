import { decodeEntry } from "#log/codec";
import type { EntryOf } from "#log/entry";
import type { ConversationId, EntryId } from "#log/ids";
import { type NodeAtDepth, ownNodes, RUN_FACTS, type TurnFact } from "#log/runs/run-context";
import type { Run } from "#log/runs/run-row";
import type { SpaceStore } from "#store/facets";
import type { Page } from "#store/requests";
import type { BranchEnd } from "#conversation/branch-pages";
import { SCAN_ENTRIES, stretches } from "#conversation/read-log";
import { depthAtSeq, type LogOnBranch } from "./branch-logs.ts";

const PAGE_NODES = 64;
const NODES_MORE = 4; // where they lie closer together than before

/** What pages show besides the nodes that are asked for. */
export interface SeenOnPages {
  readonly hidden: Set<EntryId>;
  /** The seeds that are looked for, and where they were met. */
  readonly seedId: EntryId | null;
  seed: (NodeAtDepth & { readonly entry: EntryOf<"seed"> }) | null;
}

interface OwnWanted {
  readonly run: Pick<Run, "run" | "startSeq" | "highWater">;
  readonly log: LogOnBranch;
  readonly lastDepth: number;
  readonly seen: SeenOnPages;
}

/** The nodes of a run on a branch, newest first: its stretch of the branch, and the turns of its time. */
export async function readOwn(
  space: SpaceStore,
  view: BranchEnd,
  wanted: OwnWanted,
): Promise<readonly NodeAtDepth[]> {
  const { run, log, seen } = wanted;
  const { startSeq } = run;
  const until = Math.min(run.highWater, log.upTo);
  const depths = { firstDepth: log.firstDepth, lastDepth: Math.min(wanted.lastDepth, log.lastDepth) };
  const stretch = { ...depths, startSeq, until, seen };
  const nodes = (await readNodes(space, view, stretch)) ?? (await readEarlier(space, view, stretch));
  const time = { conversation: log.conversation, after: startSeq, until };
  const starts = await readTurns(space, time, ["turn_start"]);
  // Where every turn is the run's, so is all that lies between them.
  if (starts.every((start) => start.type === "turn_start" && start.run === run.run)) return nodes;
  return ownNodes({ run: run.run, nodes, turns: await readTurns(space, time, RUN_FACTS) });
}

/** What came after it lies on the branch as well, so its last node is looked for. */
async function readEarlier(
  space: SpaceStore,
  view: BranchEnd,
  wanted: NodesWanted,
): Promise<readonly NodeAtDepth[]> {
  const lastDepth = await depthAtSeq(space, view, wanted, wanted.until);
  return lastDepth === null ? [] : ((await readNodes(space, view, { ...wanted, lastDepth })) ?? []);
}

interface NodesWanted {
  readonly firstDepth: number;
  readonly lastDepth: number;
  /** None from before it. */
  readonly startSeq: number;
  /** None from behind it. */
  readonly until: number;
  readonly seen: SeenOnPages;
}

/**
 * A stretch of a branch, newest first; null where it begins behind `until`. How much of it is left is told from how many entries
 * lie between its nodes.
 */
export async function readNodes(
  space: SpaceStore,
  { conversation, end }: BranchEnd,
  { firstDepth, lastDepth, startSeq, until, seen }: NodesWanted,
): Promise<readonly NodeAtDepth[] | null> {
  const nodes: NodeAtDepth[] = [];
  for (let [depth, left] = [lastDepth, until - startSeq + 1]; depth >= firstDepth;) {
    const most = nodes.length === 0 ? PAGE_NODES : SCAN_ENTRIES;
    const limit = Math.min(most, left, depth - firstDepth + 1);
    const page = await space.page({ conversation, from: end, depth, limit });
    if (nodes.length === 0 && (page.entries[0]?.seq ?? 0) > until) return null;
    const inside = page.entries.filter(({ seq }) => seq >= startSeq);
    for (const [at, stored] of inside.entries())
      nodes.push({ entry: decodeEntry(stored), depth: depth - at });
    look(seen, page, depth);
    const oldest = inside.at(-1);
    if (oldest === undefined || inside.length < limit) break;
    depth -= limit;
    const perNode = (until - oldest.seq + 1) / nodes.length;
    left = Math.min(oldest.seq - startSeq, Math.ceil((oldest.seq - startSeq) / perNode) + NODES_MORE);
    if (left === 0) break;
  }
  return nodes;
}

function look(seen: SeenOnPages, { entries, hidden }: Page, depth: number): void {
  for (const id of hidden) seen.hidden.add(id);
  if (seen.seedId === null || seen.seed !== null) return;
  for (const [at, stored] of entries.entries()) {
    if (stored.id !== seen.seedId || stored.type !== "seed") continue;
    const entry = decodeEntry(stored);
    if (entry.type === "seed") seen.seed = { entry, depth: depth - at };
  }
}

async function readTurns(
  space: SpaceStore,
  window: { readonly conversation: ConversationId; readonly after: number; readonly until: number },
  types: readonly TurnFact["type"][],
): Promise<readonly TurnFact[]> {
  const turns: TurnFact[] = [];
  const { conversation, until } = window;
  const read = async (from: number | null, scan: boolean) => {
    const entries = await space.read({
      conversation,
      after: from ?? window.after,
      until,
      limit: SCAN_ENTRIES,
      types,
      scan,
    });
    const next = entries.length < SCAN_ENTRIES ? null : (entries.at(-1)?.seq ?? null);
    return { entries, size: entries.length, next };
  };
  for await (const { entries } of stretches(read))
    for (const stored of entries) turns.push(decodeEntry(stored) as TurnFact);
  return turns;
}
