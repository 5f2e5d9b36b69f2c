import { idForKey } from "#conversation/id-for-key";
import { isMedia } from "#log/blob-names";
import { LogError } from "#log/errors";
import { type ConversationId, type EntryId, parseConversationId, parseKey } from "#log/ids";
import type { Json } from "#log/json/json-text";
import type { Message } from "#log/message";
import {
  foreignProblem,
  isSystem,
  readForeign,
  type ShapeName,
  shapeOf,
} from "#transfer/migrate/rules/foreign-messages";
import { located } from "#transfer/migrate/rules/located";
import { entryIdFor, ownMarks } from "#transfer/migrate/rules/message-marks";
import type { MessageMarks, SourcePiece } from "./migration-source.ts";

/** A piece that can be written as it is. */
export interface ReadyPiece extends Pick<SourcePiece, "key" | "place" | "time" | "run" | "turn" | "end"> {
  readonly shape: ShapeName;
  readonly items: readonly ReadyItem[];
}

/** A message of the source with what it is here. */
export interface ReadyItem {
  readonly foreign: Json;
  readonly messages: readonly Message[];
  readonly marks: MessageMarks;
  /** The id of its entry, where it has one in the source. */
  readonly entry: EntryId | null;
}

export interface ReadyConversation {
  readonly pieces: readonly ReadyPiece[];
  /** What a model was told of itself, which no log has. */
  readonly system: number;
}

/** Checks and reads all of a conversation before anything of it is written. */
export function readyConversation(pieces: readonly SourcePiece[]): ReadyConversation {
  const seen = new Set<EntryId>();
  const ready = pieces.map((piece) => located(piece.place, () => readyPiece(piece, seen)));
  const system = pieces.reduce((sum, { messages }) => sum + messages.filter(isSystem).length, 0);
  return { pieces: ready.filter(saysAnything), system };
}

function saysAnything({ items, run, turn, end }: ReadyPiece): boolean {
  return items.length > 0 || [run, turn, end].some((fact) => fact !== undefined);
}

/** Checks and reads one. `seen`: the ids that messages before it have. */
export function readyPiece(piece: SourcePiece, seen: Set<EntryId> = new Set()): ReadyPiece {
  const { key, shape: given, messages, marks: _marks, ...rest } = piece;
  parseKey(key);
  for (const message of messages) {
    const problem = foreignProblem(message);
    if (problem !== null) throw new LogError("invalid_entry", problem);
  }
  const shape = given ?? shapeOf(messages);
  const items = messages.flatMap((foreign, at): readonly ReadyItem[] => {
    const read = readForeign(shape, [foreign]);
    if (read.length === 0) return [];
    for (const message of read) checkBytes(message);
    const marks = piece.marks?.[at] ?? ownMarks(foreign);
    return [{ foreign, messages: read, marks, entry: entryOf(marks, `${key}/${at}`, seen) }];
  });
  return { ...rest, key, shape, items };
}

/** The first message that has an id is its entry; one that has it, too, gets one that follows from its place. */
function entryOf({ id }: MessageMarks, place: string, seen: Set<EntryId>): EntryId | null {
  if (id === undefined) return null;
  const wanted = entryIdFor(id);
  const entry = seen.has(wanted) ? idForKey("migrated", id, place) : wanted;
  seen.add(entry);
  return entry;
}

/** A blob is in the store that it was put into, and nowhere else. */
function checkBytes({ content }: Message): void {
  if (content.some((block) => isMedia(block) && block.data === undefined))
    throw new LogError("invalid_entry", "names an image whose bytes are not there");
}

/** What a conversation is called here: as there where that can be an id, else an id that follows from it. */
export function conversationIdFor(source: string): ConversationId {
  try {
    return parseConversationId(source);
  } catch {
    return idForKey("migrated", source);
  }
}

/** The key under which a source has made a conversation, and nobody else. */
export function madeKey(id: string, source: string): string {
  return `migrate/${idForKey("migrate", id, source)}`;
}
