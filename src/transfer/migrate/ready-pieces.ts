import { idForKey } from "#conversation/id-for-key";
import { isMedia } from "#log/blob-names";
import { LogError } from "#log/errors";
import { type ConversationId, parseConversationId, parseKey } from "#log/ids";
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
import type { SourcePiece } from "./migration-source.ts";

/** A piece that can be written as it is. */
export interface ReadyPiece {
  readonly key: string;
  readonly place: string;
  readonly time: string | null;
  readonly shape: ShapeName;
  /** Each message of the source with what it is here. */
  readonly items: readonly { readonly foreign: Json; readonly messages: readonly Message[] }[];
}

export interface ReadyConversation {
  readonly pieces: readonly ReadyPiece[];
  /** What a model was told of itself, which no log has. */
  readonly system: number;
}

/** Checks and reads all of a conversation before anything of it is written. */
export function readyConversation(pieces: readonly SourcePiece[]): ReadyConversation {
  const ready = pieces.map((piece) => located(piece.place, () => readyPiece(piece)));
  const system = pieces.reduce((sum, { messages }) => sum + messages.filter(isSystem).length, 0);
  return { pieces: ready.filter(({ items }) => items.length > 0), system };
}

function readyPiece({ key, place, time, shape: given, messages }: SourcePiece): ReadyPiece {
  parseKey(key);
  for (const message of messages) {
    const problem = foreignProblem(message);
    if (problem !== null) throw new LogError("invalid_entry", problem);
  }
  const shape = given ?? shapeOf(messages);
  const items = messages
    .map((foreign) => ({ foreign, messages: readForeign(shape, [foreign]) }))
    .filter((item) => item.messages.length > 0);
  for (const item of items) for (const message of item.messages) checkBytes(message);
  return { key, place, time, shape, items };
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
