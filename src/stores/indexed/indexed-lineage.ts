import { conversationNotFound } from "#store/lookup-errors";
import { isLogError, LogError } from "#log/errors";
import { type Lineage } from "#log/lineage/lineage";
import type { ConversationId, SpaceId } from "#log/ids";
import type { LogIndex } from "#log/lineage/log-index";
import type { IndexedLog, IndexedLogs } from "./indexed-log.ts";

const ATTEMPTS_MAX = 4; // each one lost means that another erase cut into the same read

/** A conversation's log with the logs of everything it was forked from. */
export interface LogWithSources {
  readonly log: IndexedLog;
  readonly logs: ReadonlyMap<ConversationId, IndexedLog>;
  readonly indexes: Lineage;
}

/**
 * Reads again what an erase in another process cut into: a source was replaced by what its forks need, or a fork
 * went. What is really gone or damaged is so the next time too.
 */
export async function settled<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      const max = isLogError(error, "store_gone") ? ATTEMPTS_MAX : isLogError(error, "damaged") ? 2 : 1;
      if (attempt >= max) throw error;
    }
  }
}

/** A conversation as it is now; null also when it went a moment ago. */
export function openNow(
  logs: IndexedLogs,
  space: SpaceId,
  conversation: ConversationId,
): Promise<IndexedLog | null> {
  return settled(() => logs.open(space, conversation));
}

/** Opens a conversation as its space sees it; an erased one is not there, though its forks still read from it. */
export async function openLineage(
  logs: IndexedLogs,
  space: SpaceId,
  conversation: ConversationId,
): Promise<LogWithSources> {
  const lineage = await openReachable(logs, space, conversation);
  if (lineage.log.damage) throw lineage.log.damage;
  return lineage;
}

/** Only the conversation itself, for verbs that do not need its sources. */
export async function openLog(
  logs: IndexedLogs,
  space: SpaceId,
  conversation: ConversationId,
): Promise<IndexedLog> {
  const log = await logs.open(space, conversation);
  if (log === null || log.erased) throw conversationNotFound(conversation);
  return log;
}

/** The same, where it must be whole. */
export async function openWhole(
  logs: IndexedLogs,
  space: SpaceId,
  conversation: ConversationId,
): Promise<IndexedLog> {
  const log = await openLog(logs, space, conversation);
  if (log.damage) throw log.damage;
  return log;
}

/** The same for reads that can do with what lies before a damage, and say so themselves when they cannot. */
export async function openReachable(
  logs: IndexedLogs,
  space: SpaceId,
  conversation: ConversationId,
): Promise<LogWithSources> {
  return lineageOf(logs, space, await openLog(logs, space, conversation));
}

/** A log with everything above it. */
export async function lineageOf(logs: IndexedLogs, space: SpaceId, log: IndexedLog): Promise<LogWithSources> {
  const { conversation } = log;
  const members = new Map<ConversationId, IndexedLog>([[conversation, log]]);
  const indexes = new Map<ConversationId, LogIndex>([[conversation, log.index]]);
  let below = log;
  let source = log.index.head.origin?.source;
  while (source !== undefined) {
    const above: IndexedLog | null = below.source ?? (await logs.open(space, source));
    if (above === null)
      throw new LogError(
        "damaged",
        `Conversation ${source}, the source of the fork ${conversation}, is missing`,
        { conversation: source },
      );
    members.set(source, above);
    indexes.set(source, above.index);
    below = above;
    source = above.index.head.origin?.source;
  }
  return { log, logs: members, indexes };
}
