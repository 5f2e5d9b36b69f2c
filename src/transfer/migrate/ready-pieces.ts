import { idForKey } from "#conversation/id-for-key";
import { isMedia } from "#log/blob-names";
import { LogError, isLogError } from "#log/errors";
import { type ConversationId, type EntryId, parseConversationId, parseKey, parseEntryId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import type { Message } from "#log/message";
import {
  foreignProblem,
  isSystem,
  readForeign,
  type ShapeName,
  shapeOf,
  located,
  writeForeign,
} from "./foreign-messages.ts";
import type { MessageMarks, SourcePiece } from "./migration-source.ts";
import type { EntryBody } from "#log/entry";
import { type BlobPlace, storeImages, loadImages } from "#transfer/messages/images";
import { fieldsOf, isSameJson } from "#log/json/json-fields";
import type { Holdfast } from "#conversation/holdfast";
import type { MigrationDifference } from "./migrate-space.ts";

/** A piece that can be written as it is. */
export interface ReadyPiece extends Pick<SourcePiece, "key" | "place" | "time" | "run" | "turn" | "end"> {
  readonly shape: ShapeName;
  readonly items: readonly ReadyItem[];
}

/** A message of the source with what it is here. */
interface ReadyItem {
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
  const ids = new Set<EntryId>();
  const ready = pieces.map((piece) => located(piece.place, () => readyPiece(piece, ids)));
  const system = pieces.reduce((sum, { messages }) => sum + messages.filter(isSystem).length, 0);
  return { pieces: ready.filter(saysAnything), system };
}

function saysAnything({ items, run, turn, end }: ReadyPiece): boolean {
  return items.length > 0 || [run, turn, end].some((fact) => fact !== undefined);
}

/** Checks and reads one. `seen`: the ids that messages before it have. */
function readyPiece(piece: SourcePiece, ids: Set<EntryId> = new Set()): ReadyPiece {
  const { key, shape: sourceShape, messages, marks: _marks, ...rest } = piece;
  parseKey(key);
  for (const message of messages) {
    const problem = foreignProblem(message);
    if (problem !== null) throw new LogError("invalid_entry", problem);
  }
  const shape = sourceShape ?? shapeOf(messages);
  const items = messages.flatMap((foreign, index): readonly ReadyItem[] => {
    const read = readForeign(shape, [foreign]);
    if (read.length === 0) return [];
    for (const message of read) checkBytes(message);
    const marks = piece.marks?.[index] ?? ownMarks(foreign);
    return [{ foreign, messages: read, marks, entry: entryOf(marks, `${key}/${index}`, ids) }];
  });
  return { ...rest, key, shape, items };
}

/** The first message that has an id is its entry; one that has it, too, gets one that follows from its place. */
function entryOf({ id }: MessageMarks, place: string, ids: Set<EntryId>): EntryId | null {
  if (id === undefined) return null;
  const ownId = entryIdFor(id);
  const entry = ids.has(ownId) ? idForKey("migrated", id, place) : ownId;
  ids.add(entry);
  return entry;
}

/** A blob is in the store that it was put into, and nowhere else. */
function checkBytes({ content }: Message): void {
  if (content.some((block) => isMedia(block) && block.data === undefined))
    throw new LogError("invalid_entry", "refers to an image without data");
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

/** The entries of a piece: its run begins before its messages, its turn after the prompt, and both end after the rest. */
export function bodiesOf({ key, time, items, run, turn, end }: ReadyPiece): readonly EntryBody[] {
  const messages = items.flatMap(messageBodies);
  const answer = messages.findIndex(({ message }) => message.role !== "user");
  const opening = messages.slice(0, answer === -1 ? messages.length : answer);
  const last = turn === undefined ? undefined : opening.pop();
  const prompt = last === undefined ? undefined : { ...last, id: last.id ?? idForKey("prompt", key) };
  const bodies: readonly EntryBody[] = [
    ...(run === undefined ? [] : [{ type: "run_start" as const, ...run }]),
    ...opening,
    ...(prompt === undefined ? [] : [prompt]),
    ...(turn === undefined
      ? []
      : [{ type: "turn_start" as const, ...turn, ...(prompt === undefined ? {} : { prompt: prompt.id }) }]),
    ...(answer === -1 ? [] : messages.slice(answer)),
    ...endBodies(end),
  ];
  return bodies.map((body) => (time === null ? body : Object.assign(body, { time })));
}

type MessageBody = Extract<EntryBody, { type: "message" }>;

/** Where one message of the source is several here, the first has its id. */
function messageBodies({ messages, marks, entry }: ReadyItem): readonly MessageBody[] {
  return messages.map((message, index) => ({
    type: "message",
    ...(index === 0 && entry !== null ? { id: entry } : {}),
    message: withMarks(message, marks, index === 0 ? entry : (marks.id ?? null)),
  }));
}

function endBodies(end: ReadyPiece["end"]): readonly EntryBody[] {
  if (end === undefined) return [];
  const { run, turn, status } = end;
  const over: EntryBody = { type: "run_end", run, status };
  if (turn === undefined) return [over];
  return [{ type: "turn_end", turn, outcome: status === "cancelled" ? "interrupted" : status }, over];
}

/** A piece as an app has it at hand: its key and its messages; the rest where it is known. */
type PieceToWrite = Pick<SourcePiece, "key" | "messages"> & Partial<SourcePiece>;

/**
 * The entries that a migration makes of a piece, for an app that writes both sides: appended under the piece's key they are what
 * `verifyMigration` expects, and `migrateInto` brings them no second time.
 */
export async function pieceBodies(
  place: Pick<BlobPlace, "putBlob">,
  piece: PieceToWrite,
): Promise<readonly EntryBody[]> {
  const { time = null, shape = null, place: where = piece.key } = piece;
  return storedBodies(readyPiece({ ...piece, time, shape, place: where }), place);
}

/** The same of a piece that is ready, with the bytes of its images kept as blobs. */
export async function storedBodies(
  piece: ReadyPiece,
  place: Pick<BlobPlace, "putBlob">,
): Promise<readonly EntryBody[]> {
  const items = [];
  for (const item of piece.items) items.push({ ...item, messages: await storeImages(item.messages, place) });
  return bodiesOf({ ...piece, items });
}

/** What messages say of themselves beyond their library's shape. */
export function ownMarks(message: Json): MessageMarks {
  const { message_id: snake, messageId = snake, internal } = fieldsOf(message);
  return {
    ...(typeof messageId === "string" && messageId !== "" ? { id: messageId } : {}),
    ...(internal === true ? { internal } : {}),
  };
}

/** The id of an entry for a message that has one in the source; what cannot be one becomes one that follows from it. */
function entryIdFor(id: string): EntryId {
  try {
    return parseEntryId(id);
  } catch {
    return idForKey("migrated", id);
  }
}

/** A message with its marks; an id that the entry cannot have stands in its details. */
function withMarks(message: Message, { id, internal }: MessageMarks, entry: EntryId | null): Message {
  const { details } = message;
  const isOther = id !== undefined && id !== entry;
  return {
    ...message,
    ...(internal === true ? { internal } : {}),
    ...(isOther ? { details: { ...fieldsOf(details), migratedFrom: id } } : {}),
  };
}

/** Returns the message without its marks. `before`: the message as the source has it. */
function withoutMarks(message: Message, { id, internal }: MessageMarks, before: Message): Message {
  const { internal: wasInternal, details, ...content } = message;
  const { migratedFrom, ...others } = fieldsOf(details);
  const isAdded = migratedFrom !== undefined && migratedFrom === id;
  const own = isAdded ? (before.details === undefined ? undefined : others) : details;
  const isInternal = wasInternal === true && !(internal === true && before.internal === undefined);
  return {
    ...content,
    ...(isInternal ? { internal: true } : {}),
    ...(own === undefined ? {} : { details: own }),
  };
}

interface MessageHere {
  readonly id: EntryId;
  readonly message: Message;
}

/** The messages of the branch, oldest first, with the bytes of their images; none where there is no such conversation. */
export async function messagesHere(holdfast: Holdfast, id: string): Promise<readonly MessageHere[]> {
  try {
    const conversation = await holdfast.conversation(id);
    const branch = await conversation.branch();
    const entries = branch.flatMap((entry) => (entry.type === "message" && !entry.hidden ? [entry] : []));
    const messages = await loadImages(
      entries.map(({ message }) => message),
      conversation,
    );
    return entries.flatMap((entry, index) => {
      const message = messages[index];
      return message === undefined ? [] : [{ id: entry.id, message }];
    });
  } catch (error) {
    if (isLogError(error, "conversation_not_found")) return [];
    throw error;
  }
}

interface Comparison {
  readonly same: number;
  readonly ahead: number;
  readonly difference: Pick<MigrationDifference, "place" | "number" | "there" | "here"> | null;
}

/** Every message of pieces with the one that is here, in order. */
export function comparePieces(pieces: readonly ReadyPiece[], here: readonly MessageHere[]): Comparison {
  let [index, same] = [0, 0];
  for (const { place, shape, items } of pieces)
    for (const item of items) {
      const stored = here.slice(index, index + item.messages.length);
      const plain = plainMessages(item, stored);
      if (
        !isSameJson(plain as unknown as Json, item.messages as unknown as Json) ||
        !hasMarks(item, stored)
      ) {
        const written = writeForeign(shape, plain);
        const [first = null] = written as readonly (Json | undefined)[];
        const difference = written.length > 1 ? written : first;
        return {
          same,
          ahead: 0,
          difference: { place, number: same + 1, there: item.foreign, here: difference },
        };
      }
      index += item.messages.length;
      same++;
    }
  return { same, ahead: here.length - index, difference: null };
}

/** Returns the stored messages without what the migration added. */
function plainMessages({ messages, marks }: ReadyItem, here: readonly MessageHere[]): readonly Message[] {
  return here.map(({ message }, index) => {
    const before = messages[index];
    return before === undefined ? message : withoutMarks(message, marks, before);
  });
}

/** Whether entries have the ids that their messages have there, and are internal where those are. */
function hasMarks({ messages, marks, entry }: ReadyItem, here: readonly MessageHere[]): boolean {
  return here.every(({ id, message: { internal = false } }, index) => {
    const before = messages[index];
    const expected = before !== undefined && withMarks(before, marks, entry).internal === true;
    return (index > 0 || entry === null || id === entry) && internal === expected;
  });
}
