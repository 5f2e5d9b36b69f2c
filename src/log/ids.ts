import { LogError } from "./errors.ts";

declare const brand: unique symbol;
type Branded<Name extends string> = string & { readonly [brand]: Name };

export type SpaceId = Branded<"SpaceId">;
export type ConversationId = Branded<"ConversationId">;
export type EntryId = Branded<"EntryId">;
export type Digest = Branded<"Digest">;

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

const PREFIX_SHAPE = /^[A-Za-z0-9][A-Za-z0-9._:-]*$/;

/** The start of an id: it may end where no id may. */
export function parseIdPrefix(text: string): string {
  return text.length <= ID_CHARS_MAX && PREFIX_SHAPE.test(text) ? text : checkId("A conversation id", text);
}

export function parseSpaceId(text: unknown): SpaceId {
  return checkId("A space id", text) as SpaceId;
}

export function parseConversationId(text: unknown): ConversationId {
  return checkId("A conversation id", text) as ConversationId;
}

export function parseEntryId(text: unknown): EntryId {
  return checkId("An entry id", text) as EntryId;
}

export function parseDigest(text: unknown): Digest {
  if (typeof text === "string" && DIGEST_SHAPE.test(text)) return text as Digest;
  throw new LogError("invalid_id", "A blob digest is the 64 hexadecimal digits of a SHA-256");
}

export function parseKey(text: unknown): string {
  if (typeof text === "string" && text.length > 0 && text.length <= KEY_CHARS_MAX && text.isWellFormed())
    return text;
  throw new LogError("invalid_request", `An append key is 1 to ${KEY_CHARS_MAX} well-formed characters`);
}
