import { isLogError, LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import { RunFolder } from "#log/runs/run-folder";
import type { Run } from "#log/runs/run-row";
import type { SpaceStore } from "#store/facets";
import type { RunPage, RunsRequest } from "#store/requests";
import { eachEntry } from "./read-log.ts";

const RUNS_PAGE = 100;

/** Which runs are meant; what is left out does not matter. */
export interface RunFilter extends Omit<RunsRequest, "limit" | "after" | "run" | "conversation"> {
  readonly conversation?: string;
  /** Those of this conversation and of all that led to it: what it was forked from, and what caused it. */
  readonly along?: string;
}

/** A page of runs. */
export interface RunPageRequest extends Omit<RunFilter, "along"> {
  readonly limit: number;
  readonly cursor?: string;
}

/** Runs of a space, a page at a time. */
export async function* readRuns(
  space: SpaceStore,
  request: Omit<RunsRequest, "limit" | "after">,
): AsyncGenerator<Run> {
  let after: string | null = null;
  do {
    const page: RunPage = await space.runs({
      ...request,
      limit: RUNS_PAGE,
      ...(after === null ? {} : { after }),
    });
    yield* page.runs;
    after = page.next;
  } while (after !== null);
}

/** The run of this id; null when there is none. */
export async function readRun(
  space: SpaceStore,
  run: string,
  conversation: ConversationId | null,
): Promise<Run | null> {
  const within = conversation === null ? {} : { conversation };
  const { runs } = await space.runs({ run, limit: 2, ...within });
  const [row = null, other] = runs;
  if (row === null || other === undefined) return row;
  throw new LogError(
    "invalid_request",
    `Run id ${run} is ambiguous: ${row.conversation} and ${other.conversation} both have one. Add the conversation.`,
    { run, conversations: [row.conversation, other.conversation] },
  );
}

/** The runs of one conversation in the order of its log, from any store. */
export async function readConversationRuns(
  space: SpaceStore,
  conversation: ConversationId,
): Promise<readonly Run[]> {
  try {
    const runs: Run[] = [];
    for await (const run of readRuns(space, { conversation })) runs.push(run);
    return runs;
  } catch (error) {
    if (!isLogError(error, "facet_missing")) throw error;
    return foldRuns(space, conversation);
  }
}

export async function readLatestRun(space: SpaceStore, conversation: ConversationId): Promise<Run | null> {
  try {
    const { runs } = await space.runs({ conversation, newestFirst: true, limit: 1 });
    return runs[0] ?? null;
  } catch (error) {
    if (!isLogError(error, "facet_missing")) throw error;
    return (await foldRuns(space, conversation)).at(-1) ?? null;
  }
}

/** A store without rows of runs still has its log. */
async function foldRuns(space: SpaceStore, conversation: ConversationId): Promise<readonly Run[]> {
  const folder = new RunFolder();
  let headSeq = 0;
  await eachEntry(space, conversation, {
    onEntry: (entry) => {
      folder.add(entry);
      headSeq = entry.seq;
    },
  });
  return folder.rows(conversation, headSeq);
}
