import { isLogError, LogError } from "./errors.ts";

declare const kind: unique symbol;
/** A plain string for callers, but one kind of id cannot be passed for another. Its form is checked by the parse functions. */
type Id<Kind extends string> = string & { readonly [kind]?: Kind };

export type SpaceId = Id<"SpaceId">;
export type ConversationId = Id<"ConversationId">;
export type EntryId = Id<"EntryId">;
export type Digest = Id<"Digest">;

const ID_CHARS_MAX = 128;
const KEY_CHARS_MAX = 512;

// One path component on every file system, never hidden, never a flag, no "@" (it separates id and entry).
const ID_SHAPE = /^[A-Za-z0-9](?:[A-Za-z0-9._:-]*[A-Za-z0-9_-])?$/;
const DIGEST_SHAPE = /^[0-9a-f]{64}$/;

function checkId(what: string, text: unknown): string {
  if (typeof text === "string" && text.length <= ID_CHARS_MAX && ID_SHAPE.test(text)) return text;
  throw new LogError(
    "invalid_id",
    `${what} must be 1 to ${ID_CHARS_MAX} letters, digits, ".", "_", ":" or "-", starting with a letter or digit and not ending in "." or ":"`,
    { what },
  );
}

const PART_SHAPE = /^[A-Za-z0-9._:-]+$/;

/** The start or the end of an id: it may begin and end where no id may. */
export function parseIdPart(text: string): string {
  return text.length <= ID_CHARS_MAX && PART_SHAPE.test(text) ? text : checkId("A conversation id", text);
}

export function parseSpaceId(text: unknown): SpaceId {
  return checkId("A space id", text);
}

export function parseConversationId(text: unknown): ConversationId {
  return checkId("A conversation id", text);
}

export function parseEntryId(text: unknown): EntryId {
  return checkId("An entry id", text);
}

export function parseDigest(text: unknown): Digest {
  if (typeof text === "string" && DIGEST_SHAPE.test(text)) return text;
  throw new LogError("invalid_id", "A blob digest must be a SHA-256 hash of 64 lowercase hexadecimal digits");
}

export function parseKey(text: unknown): string {
  if (typeof text === "string" && text.length > 0 && text.length <= KEY_CHARS_MAX && text.isWellFormed())
    return text;
  throw new LogError(
    "invalid_request",
    `An append key must be a string of 1 to ${KEY_CHARS_MAX} well-formed characters`,
  );
}

const LISTED_TIME = /^(?:\d{4}-\d{2}-\d{2}T[\d:.]+Z)?$/; // none where not even the first entry can be read

/** Where a page of a list ended: the time of its last conversation's latest entry, and its id. Lists are sorted by it. */
export function listCursor(last: {
  readonly updatedAt: string;
  readonly conversation: ConversationId;
}): string {
  return `${last.updatedAt} ${last.conversation}`;
}

export function parseListCursor(after: string): readonly [updatedAt: string, id: ConversationId] {
  const blank = after.indexOf(" ");
  const updatedAt = after.slice(0, Math.max(blank, 0));
  if (blank === -1 || !LISTED_TIME.test(updatedAt)) throw notCursor(after);
  try {
    return [updatedAt, parseConversationId(after.slice(blank + 1))];
  } catch (error) {
    throw isLogError(error, "invalid_id") ? notCursor(after) : error;
  }
}

function notCursor(cursor: string): LogError {
  return new LogError(
    "invalid_request",
    `Invalid cursor "${cursor}". Pass the cursor returned with the previous page.`,
    {
      cursor,
    },
  );
}
