import { LogError } from "../../log/errors.ts";
import { findVisible } from "../../log/family.ts";
import type { ForkPoint } from "../../log/head.ts";
import type { ConversationId, EntryId } from "../../log/ids.ts";
import { LogIndex } from "../../log/log-index.ts";
import { parseEnvelope, parseLine } from "./file/framing.ts";
import { type Home, logPath } from "./home.ts";
import { familyOf, JsonlShelf } from "./jsonl-shelf.ts";
import { Lines } from "./file/lines.ts";

interface FirstEntry {
  readonly time: string;
  readonly origin: {
    readonly conversation: ConversationId;
    readonly entry: EntryId;
    readonly head: number;
  } | null;
}

/** Reads a conversation's file and builds its index; null when there is no such file. */
export async function loadShelf(
  home: Home,
  openSource: (id: ConversationId) => Promise<JsonlShelf | null>,
): Promise<JsonlShelf | null> {
  const { disk, conversation } = home;
  if ((await disk.stat(logPath(home))) === null) return null;
  await using file = await disk.open(logPath(home), "read");
  const { identity, size } = await file.stat();
  const first = firstEntryIn(await new Lines(file, 0, size).read());
  let source: JsonlShelf | null = null;
  let point: ForkPoint | null = null;
  let damage: LogError | null = null;
  if (first?.origin) {
    source = await openSource(first.origin.conversation);
    point = source === null ? null : forkPoint(source, first.origin);
    if (point === null) damage = unrooted(conversation, first.origin);
  }
  const index = new LogIndex(conversation, point, first?.time ?? "");
  const shelf = new JsonlShelf(home, { index, source: point === null ? null : source, identity, damage });
  return (await shelf.file.refresh()) ? shelf : null;
}

/** What the first line says, before anything is checked: a wrong word in it is found as damage right after. */
function firstEntryIn(line: Buffer | null): FirstEntry | null {
  const envelope = line === null ? null : parseEnvelope(line);
  if (line === null || envelope === null) return null;
  const body = parseLine(line) as { origin?: NonNullable<FirstEntry["origin"]> } | null;
  const origin = envelope.type === "conversation" && typeof body?.origin === "object" ? body.origin : null;
  return { time: envelope.time, origin };
}

/**
 * Where a fork grew from, found by id: an erase rewrites what is left of the source and numbers its segments anew,
 * so a number written down when the fork was made would lie.
 */
function forkPoint(source: JsonlShelf, origin: NonNullable<FirstEntry["origin"]>): ForkPoint | null {
  const place = findVisible(familyOf(source), source.conversation, origin.entry)?.place;
  return place ? { ...place, source: source.conversation, entry: origin.entry, head: origin.head } : null;
}

function unrooted(conversation: ConversationId, origin: NonNullable<FirstEntry["origin"]>): LogError {
  return new LogError(
    "damaged",
    `Entry ${origin.entry} of conversation ${origin.conversation}, from which ${conversation} was forked, is missing`,
    { conversation, position: 0, reachableSeq: 0 },
  );
}
