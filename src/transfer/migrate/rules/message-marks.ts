import { idForKey } from "#conversation/id-for-key";
import { fieldsOf } from "#log/json/json-fields";
import { type EntryId, parseEntryId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import type { Message } from "#log/message";
import type { MessageMarks } from "#transfer/migrate/migration-source";

/** What messages say of themselves beyond their library's shape. */
export function ownMarks(message: Json): MessageMarks {
  const { message_id: snake, messageId = snake, internal } = fieldsOf(message);
  return {
    ...(typeof messageId === "string" && messageId !== "" ? { id: messageId } : {}),
    ...(internal === true ? { internal } : {}),
  };
}

/** The id of an entry for a message that has one in the source; what cannot be one becomes one that follows from it. */
export function entryIdFor(id: string): EntryId {
  try {
    return parseEntryId(id);
  } catch {
    return idForKey("migrated", id);
  }
}

/** A message with its marks; an id that the entry cannot have stands in its details. */
export function withMarks(message: Message, { id, internal }: MessageMarks, entry: EntryId | null): Message {
  const { details } = message;
  const isOther = id !== undefined && id !== entry;
  return {
    ...message,
    ...(internal === true ? { internal } : {}),
    ...(isOther ? { details: { ...fieldsOf(details), migratedFrom: id } } : {}),
  };
}

/** The same message without what its marks added; `before`: what was read of the source. */
export function withoutMarks(message: Message, { id, internal }: MessageMarks, before: Message): Message {
  const { internal: kept, details, ...said } = message;
  const { migratedFrom, ...others } = fieldsOf(details);
  const isAdded = migratedFrom !== undefined && migratedFrom === id;
  const own = isAdded ? (before.details === undefined ? undefined : others) : details;
  const isInternal = kept === true && !(internal === true && before.internal === undefined);
  return {
    ...said,
    ...(isInternal ? { internal: true } : {}),
    ...(own === undefined ? {} : { details: own }),
  };
}
