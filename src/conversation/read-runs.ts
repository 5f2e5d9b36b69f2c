import { isLogError, LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import { RunFolder } from "#log/runs/run-folder";
import type { Run } from "#log/runs/run-row";
import type { SpaceStore } from "#store/facets";
import type { RunPage, RunsRequest, HeadView } from "#store/requests";
import { eachEntry } from "./read-log.ts";
import type { Parent } from "#log/entry";
import { readSummary } from "./list-conversations.ts";

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

const LOGS_MAX = 256; // parents and sources that are followed; what lies beyond is older than anyone asks for

/** A log whose runs are of interest, up to a seq. */
interface LogAlong {
  readonly conversation: ConversationId;
  readonly upTo: number;
}

/**
 * The runs of a conversation and of those that led to it: what it was forked from, as far as it sees that, and the
 * conversations that caused it, with what led to them. By the time they began.
 */
export async function* runsAlong(
  space: SpaceStore,
  conversation: ConversationId,
  request: Omit<RunsRequest, "limit" | "after" | "conversation">,
): AsyncGenerator<Run> {
  const logs = await logsAlong(space, conversation);
  const open = logs.map((log) => runsUpTo(space, log, request));
  const next = await Promise.all(open.map((runs) => runs.next()));
  const isBefore = (one: Run, other: Run): boolean =>
    request.newestFirst === true ? one.startedAt >= other.startedAt : one.startedAt < other.startedAt;
  for (;;) {
    let first: { readonly at: number; readonly run: Run } | null = null;
    for (const [at, { done, value }] of next.entries())
      if (done !== true && (first === null || isBefore(value, first.run))) first = { at, run: value };
    if (first === null) return;
    yield first.run;
    next[first.at] = (await open[first.at]?.next()) ?? { done: true, value: undefined };
  }
}

async function* runsUpTo(
  space: SpaceStore,
  { conversation, upTo }: LogAlong,
  request: Omit<RunsRequest, "limit" | "after" | "conversation">,
): AsyncGenerator<Run, undefined> {
  for await (const run of readRuns(space, { ...request, conversation })) if (run.startSeq <= upTo) yield run;
}

/** Oldest first, each once. */
async function logsAlong(space: SpaceStore, conversation: ConversationId): Promise<readonly LogAlong[]> {
  const logs = new Map<ConversationId, LogAlong>();
  let waiting: readonly LogAlong[] = [{ conversation, upTo: Number.POSITIVE_INFINITY }];
  while (waiting.length > 0 && logs.size < LOGS_MAX) {
    const above: LogAlong[] = [];
    for (const log of waiting) {
      if (logs.has(log.conversation)) continue;
      const head = await headOf(space, log.conversation, log.conversation === conversation);
      if (head === null) continue;
      logs.set(log.conversation, log);
      const { origin } = head;
      if (origin !== null) above.push({ conversation: origin.source, upTo: origin.head });
      const { parent } = head.summary ?? (await readSummary(space, log.conversation));
      if (parent !== null)
        above.push({ conversation: parent.conversation, upTo: await seqOf(space, parent) });
    }
    waiting = above;
  }
  return [...logs.values()].toReversed();
}

/** What led to it may have been erased; it itself may not. */
async function headOf(
  space: SpaceStore,
  conversation: ConversationId,
  mustExist: boolean,
): Promise<HeadView | null> {
  try {
    return await space.head(conversation);
  } catch (error) {
    if (!mustExist && isLogError(error, "conversation_not_found")) return null;
    throw error;
  }
}

/** The entry that it was caused by; where that is not known, everything may have been. */
async function seqOf(space: SpaceStore, { conversation, entry }: Parent): Promise<number> {
  if (entry === undefined) return Number.POSITIVE_INFINITY;
  try {
    const { seq, place } = await space.entry(conversation, entry);
    return place === null || place.conversation === conversation ? seq : Number.POSITIVE_INFINITY;
  } catch (error) {
    if (isLogError(error) && error.group === "missing") return Number.POSITIVE_INFINITY;
    throw error;
  }
}
