import type { Parent } from "#log/entry";
import { isLogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import type { Run } from "#log/runs/run-row";
import type { HeadView, RunsRequest } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { readSummary } from "./list-conversations.ts";
import { readRuns } from "./read-runs.ts";

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
