import { LogError } from "#log/errors";
import { findVisible } from "#log/lineage/lineage";
import type { ForkPoint } from "#log/lineage/head";
import type { ConversationId, EntryId } from "#log/ids";
import { LogIndex } from "#log/lineage/log-index";
import { parseEnvelope, parseLine } from "./file/framing.ts";
import type { FileIdentity } from "./disk/disk.ts";
import { type LogLocation, logPath } from "./log-location.ts";
import { lineageOf, JsonlLog } from "./jsonl-log.ts";
import { Lines } from "./file/file-lines.ts";

/** How a conversation's file begins, before anything of it is checked. */
export interface Beginning {
  readonly identity: FileIdentity;
  readonly time: string;
  readonly origin: {
    readonly conversation: ConversationId;
    readonly entry: EntryId;
    readonly head: number;
  } | null;
}

/** Null when there is no such file. */
export async function readBeginning(location: LogLocation): Promise<Beginning | null> {
  const { disk } = location;
  if ((await disk.stat(logPath(location))) === null) return null;
  await using file = await disk.open(logPath(location), "read");
  const { identity, size } = await file.stat();
  return { identity, ...firstEntryIn(await new Lines(file, 0, size).read()) };
}

/** Builds the index of a conversation's file on that of its source; null when the file is another one by now. */
export async function loadLog(
  location: LogLocation,
  { identity, origin, time }: Beginning,
  source: JsonlLog | null,
): Promise<JsonlLog | null> {
  const { conversation } = location;
  const point = source === null || origin === null ? null : forkPoint(source, origin);
  const damage = origin !== null && point === null ? unrooted(conversation, origin) : null;
  const index = new LogIndex(conversation, point, time);
  const log = new JsonlLog(location, { index, source: point === null ? null : source, identity, damage });
  return (await log.refresh()) ? log : null;
}

/** What the first line says, before anything is checked: a wrong word in it is found as damage right after. */
function firstEntryIn(line: Buffer | null): Omit<Beginning, "identity"> {
  const envelope = line === null ? null : parseEnvelope(line);
  if (line === null || envelope === null) return { time: "", origin: null };
  const body = parseLine(line) as { origin?: NonNullable<Beginning["origin"]> } | null;
  const origin = envelope.type === "conversation" && typeof body?.origin === "object" ? body.origin : null;
  return { time: envelope.time, origin };
}

/**
 * Where a fork grew from, found by id: an erase rewrites what is left of the source and numbers its segments anew,
 * so a number written down when the fork was made would lie.
 */
function forkPoint(source: JsonlLog, origin: NonNullable<Beginning["origin"]>): ForkPoint | null {
  // Most forks grow from a node of their source's own; only the others need the whole line above.
  const own = source.index.find(origin.entry);
  const place = (own ?? findVisible(lineageOf(source), source.conversation, origin.entry))?.place;
  return place ? { ...place, source: source.conversation, entry: origin.entry, head: origin.head } : null;
}

function unrooted(conversation: ConversationId, origin: NonNullable<Beginning["origin"]>): LogError {
  return new LogError(
    "damaged",
    `Entry ${origin.entry} of conversation ${origin.conversation}, from which ${conversation} was forked, is missing`,
    { conversation, position: 0, reachableSeq: 0 },
  );
}
