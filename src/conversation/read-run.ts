import { decodeEntry } from "#log/codec";
import type { Entry, EntryOf } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import type { ConversationId, EntryId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import type { ExactContext } from "#log/projections/context";
import {
  type NodeAtDepth,
  ownNodes,
  RUN_FACTS,
  type RunContext,
  runContext,
  type TurnFact,
} from "#log/runs/run-context";
import type { Run } from "#log/runs/run-row";
import type { SpaceStore } from "#store/facets";
import type { Page } from "#store/requests";
import type { BranchEnd } from "./branch-pages.ts";
import { SCAN_ENTRIES, stretches } from "./read-log.ts";
import { readConversationRuns } from "./read-runs.ts";
import { type NodeAt, readExactContext, readSettingsAndReset } from "./reading.ts";
import { depthAtSeq, type LogOnBranch, logsOnBranch } from "./branch-logs.ts";
import { readLeafAt } from "./leaf-at.ts";

const SAME_ID_MAX = 16; // starts of runs under one id that are looked through

/** What of a row says where a run lies and what it began with. */
export type RunWindow = Pick<
  Run,
  "run" | "conversation" | "startSeq" | "highWater" | "seed" | "seedCount" | "continues"
>;

/** Where a run is looked at: by default at its end, in its own log. */
export interface RunView {
  readonly conversation: ConversationId;
  readonly end: NodeAt;
}

/** A run as its messages and what its next request would send; nothing outside its time, and that of the runs it continues, is read. */
export interface RunRead {
  /** Newest first, as `own` of the projection has them. */
  readonly own: readonly NodeAtDepth[];
  readonly hidden: ReadonlySet<EntryId>;
  /** What the model saw when it began, word for word. */
  readonly seeds: readonly Json[];
  readonly context: RunContext;
  /** The entries behind the context and behind the seeds, which have the exact text of what they were given. */
  readonly exact: {
    readonly entries: () => ExactContext["entries"];
    readonly settings: ExactContext["settings"];
    readonly seed: Entry | null;
  };
}

export async function readRunContext(space: SpaceStore, run: RunWindow, view?: RunView): Promise<RunRead> {
  const at = view ?? (await endOfRun(space, run));
  const logs = await logsFrom(space, at, run.conversation);
  const [log] = logs;
  if (log === undefined) throw notSeen(run, at.conversation);
  const hidden = new Set<EntryId>();
  const seen: SeenOnPages = { hidden, seedId: run.seed, seed: null };
  const own = await readOwn(space, at, { run, log, seen, lastDepth: log.lastDepth });
  if (run.seed === null) {
    const exactContext = await readExactContext(space, at.conversation, at.end);
    const { entries, settings, ...context } = exactContext.context;
    const exact = { entries: () => entries, settings, seed: null };
    return { own, hidden, seeds: [], context: { ...context, system: null }, exact };
  }
  const before: NodeAtDepth[] = [];
  let oldest = own.at(-1)?.depth ?? at.end.depth + 1;
  let { continues } = run;
  for await (const earlier of continuedRuns(space, run, logs)) {
    const nodes = await readOwn(space, at, { ...earlier, seen, lastDepth: oldest - 1 });
    before.push(...nodes);
    oldest = nodes.at(-1)?.depth ?? oldest;
    ({ continues } = earlier.run);
  }
  const seed = await readSeed(space, at.conversation, run.seed, seen);
  if (continues !== null)
    before.push(...(await readRest(space, at, { logs, seen, seed: seed.depth, oldest })));
  const { settings, latest, resetDepth } = await readSettingsAndReset(
    space,
    at.conversation,
    at.end,
    nearest(own, at.end),
  );
  const context = runContext({
    seed: hidden.has(run.seed) ? null : { messages: seed.entry.messages, depth: seed.depth },
    own,
    before,
    hidden,
    settings,
    resetDepth,
    leaf: at.end.id,
  });
  const entries = (): ExactContext["entries"] =>
    new Map([...own, ...before].map(({ entry }) => [entry.id, entry] as const));
  const exact = { entries, settings: latest, seed: seed.entry };
  return { own, hidden, seeds: seed.entry.messages, context, exact };
}

/** Those of the nodes that the branch ends with, without a gap. */
function nearest(own: readonly NodeAtDepth[], end: NodeAt): readonly Entry[] {
  const gap = own.findIndex(({ depth }, at) => depth !== end.depth - at);
  return own.slice(0, gap === -1 ? own.length : gap).map(({ entry }) => entry);
}

async function endOfRun(space: SpaceStore, { conversation, highWater }: RunWindow): Promise<RunView> {
  return { conversation, end: await readLeafAt(space, conversation, highWater) };
}

/** The logs of a branch from one of them on upwards. */
async function logsFrom(
  space: SpaceStore,
  view: BranchEnd,
  conversation: ConversationId,
): Promise<readonly LogOnBranch[]> {
  const logs: LogOnBranch[] = [];
  for await (const log of logsOnBranch(space, view))
    if (logs.length > 0 || log.conversation === conversation) logs.push(log);
  return logs;
}

function notSeen({ run, conversation }: RunWindow, from: ConversationId): LogError {
  return new LogError("invalid_request", `Run ${run} of ${conversation} is not on a branch of ${from}`, {
    run,
    conversation,
  });
}

/**
 * Of a run whose log was erased a fork has the nodes that it stands on, and nothing that says whose they are: those behind the
 * seeds are taken for its.
 */
async function readRest(
  space: SpaceStore,
  view: BranchEnd,
  known: {
    readonly logs: readonly LogOnBranch[];
    readonly seen: SeenOnPages;
    readonly seed: number;
    readonly oldest: number;
  },
): Promise<readonly NodeAtDepth[]> {
  const lastDepth = Math.min((known.logs.at(-1)?.firstDepth ?? 0) - 1, known.oldest - 1);
  const { seen, seed } = known;
  const all = { startSeq: 0, until: Number.MAX_SAFE_INTEGER };
  return (await readNodes(space, view, { firstDepth: seed + 1, lastDepth, ...all, seen })) ?? [];
}

/** The seeds as they stand in the log, shared by every run that names them; mostly they were met on the way. */
async function readSeed(
  space: SpaceStore,
  conversation: ConversationId,
  id: EntryId,
  seen: SeenOnPages,
): Promise<NonNullable<SeenOnPages["seed"]>> {
  if (seen.seed !== null) return seen.seed;
  const { place, ...stored } = await space.entry(conversation, id);
  const entry = decodeEntry(stored);
  if (entry.type !== "seed" || place === null)
    throw new LogError("damaged", `Entry ${id} is of type ${entry.type} and has no run inputs`, {
      conversation,
      entry: id,
    });
  const { hidden } = await space.page({ conversation, from: place, limit: 1 });
  if (hidden.has(id)) seen.hidden.add(id);
  return { entry, depth: place.depth };
}

/** The runs that a run goes on with, the nearest first. Each began before the one that names it, so they come to an end. */
async function* continuedRuns(
  space: SpaceStore,
  last: RunWindow,
  logs: readonly LogOnBranch[],
): AsyncGenerator<{ readonly run: RunWindow; readonly log: LogOnBranch }> {
  let at = { run: last, level: 0 };
  for (;;) {
    const continued = await findContinued(space, at, logs);
    if (continued === null) return;
    const log = logs[continued.level];
    if (log === undefined) return;
    yield { run: continued.run, log };
    at = continued;
  }
}

async function findContinued(
  space: SpaceStore,
  { run: { continues, startSeq }, level }: { readonly run: RunWindow; readonly level: number },
  logs: readonly LogOnBranch[],
): Promise<{ readonly run: RunWindow; readonly level: number } | null> {
  if (continues === null) return null;
  for (const [at, { conversation, upTo }] of logs.entries()) {
    if (at < level) continue;
    const before = at === level ? startSeq - 1 : upTo;
    const run = await latestStart(space, conversation, continues, before);
    if (run !== null) return { run, level: at };
  }
  return null;
}

/** The run that was begun last under an id, up to a seq. */
export async function latestStart(
  space: SpaceStore,
  conversation: ConversationId,
  run: string,
  upTo: number,
): Promise<Run | null> {
  const runs = await runsOfId(space, conversation, run);
  return runs.find(({ startSeq }) => startSeq <= upTo) ?? null;
}

/** Newest first. */
async function runsOfId(
  space: SpaceStore,
  conversation: ConversationId,
  run: string,
): Promise<readonly Run[]> {
  try {
    return (await space.runs({ conversation, run, newestFirst: true, limit: SAME_ID_MAX })).runs;
  } catch (error) {
    if (!isLogError(error, "facet_missing")) throw error;
    const all = await readConversationRuns(space, conversation);
    return all.filter((row) => row.run === run).toReversed();
  }
}

const PAGE_NODES = 64;
const NODES_MORE = 4; // where they lie closer together than before

/** What pages show besides the nodes that are asked for. */
interface SeenOnPages {
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
async function readOwn(
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
async function readNodes(
  space: SpaceStore,
  { conversation, end }: BranchEnd,
  { firstDepth, lastDepth, startSeq, until, seen }: NodesWanted,
): Promise<readonly NodeAtDepth[] | null> {
  const nodes: NodeAtDepth[] = [];
  for (let [depth, remaining] = [lastDepth, until - startSeq + 1]; depth >= firstDepth;) {
    const most = nodes.length === 0 ? PAGE_NODES : SCAN_ENTRIES;
    const limit = Math.min(most, remaining, depth - firstDepth + 1);
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
    remaining = Math.min(oldest.seq - startSeq, Math.ceil((oldest.seq - startSeq) / perNode) + NODES_MORE);
    if (remaining === 0) break;
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
