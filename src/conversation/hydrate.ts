import type { UsageSum } from "#log/add-usage";
import { presentEntry } from "#log/codec";
import type { EntryOf } from "#log/entry";
import { LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import type { RunContext } from "#log/runs/run-context";
import type { Run } from "#log/runs/run-row";
import type { SpaceStore } from "#store/facets";
import { latestStart, readRunContext, type RunRead, type RunView } from "./read-run.ts";
import type { BranchEnd } from "./branch-pages.ts";
import { readRun } from "./read-runs.ts";
import type { NodeAt } from "./reading.ts";
import { depthAtSeq, logsOnBranch } from "./branch-logs.ts";

/** A message of a run, as it stands in the log. */
type RunMessage = EntryOf<"message"> & { readonly hidden: boolean };

/** All that it takes to look into a run, or to go on with it. */
export interface HydratedRun {
  /** Its row. */
  readonly run: Run;
  /** What the model saw when it began, word for word. */
  readonly seeds: readonly Json[];
  /** What was said in it, oldest first, and nothing of any other run. */
  readonly messages: readonly RunMessage[];
  /** What its next request would send. */
  readonly context: RunContext;
  /** The latest state of its branch up to its high-water mark; null where there is none. */
  readonly state: Json;
  /** What it has counted: its own turns, not those of the runs it continues. */
  readonly totals: { readonly steps: number; readonly prompts: number; readonly usage: UsageSum };
}

/** The same with the entries it was made of, for whoever needs the exact text of what was given. */
export interface ExactRun extends HydratedRun {
  readonly exact: RunRead["exact"];
}

/** `from`: the conversation that has the run, or was forked from one that has it. */
export async function hydrateRun(
  space: SpaceStore,
  id: string,
  from: ConversationId | null,
): Promise<ExactRun> {
  const row = await findRun(space, id, from);
  if (row === null) throw runNotFound(id, from);
  const { run, view } = row;
  const { own, hidden, seeds, context, exact } = await readRunContext(space, run, view);
  const messages = own
    .toReversed()
    .flatMap(({ entry }) =>
      entry.type === "message" ? [Object.assign(presentEntry(entry), { hidden: hidden.has(entry.id) })] : [],
    );
  const { steps, prompts, usage } = run;
  return { run, seeds, messages, context, state: context.state, totals: { steps, prompts, usage }, exact };
}

export function runNotFound(run: string, from: string | null): LogError {
  const where = from === null ? "" : ` in ${from} or the conversations it was forked from`;
  return new LogError(
    "run_not_found",
    `Run ${run} not found${where}. It did not start here, or its conversation was erased.`,
    { run, ...(from === null ? {} : { conversation: from }) },
  );
}

/** A run by its id, and where it is looked at when that is not its own log. */
interface FoundRun {
  readonly run: Run;
  readonly view?: RunView;
}

export async function findRun(
  space: SpaceStore,
  id: string,
  from: ConversationId | null,
): Promise<FoundRun | null> {
  if (from === null) {
    const run = await readRun(space, id, null);
    return run === null ? null : { run };
  }
  const { leaf, origin } = await space.head(from);
  const branch = { conversation: from, end: origin ?? leaf };
  for await (const log of logsOnBranch(space, branch)) {
    const run = await latestStart(space, log.conversation, id, log.upTo);
    if (run === null) continue;
    if (log.conversation === from) return { run };
    const depth = await depthAtSeq(space, branch, log, Math.min(run.highWater, log.upTo));
    const end = await nodeAt(space, branch, depth ?? log.lastDepth);
    return { run, view: { conversation: from, end } };
  }
  return null;
}

async function nodeAt(space: SpaceStore, { conversation, end }: BranchEnd, depth: number): Promise<NodeAt> {
  const [node] = (await space.page({ conversation, from: end, depth, limit: 1 })).entries;
  const { place = null } = node === undefined ? {} : await space.entry(conversation, node.id);
  if (node !== undefined && place !== null) return { ...place, id: node.id };
  throw new LogError(
    "damaged",
    `Conversation ${conversation} lacks the entry at depth ${depth} of a branch`,
    {
      conversation,
      depth,
    },
  );
}
