import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { LogError, isLogError } from "#log/errors";
import type { EntryId } from "#log/ids";
import { statSync } from "node:fs";
import { dirname, resolve } from "node:path";

const MATCHES_SHOWN = 20;

interface Address {
  readonly conversation: string;
  readonly entry: string | null;
}

/** `id`, or `id@entry`. Ids hold no "@", so the first one parts them; a label may hold more. */
function parseAddress(text: string): Address {
  const separator = text.indexOf("@");
  if (separator === -1) return { conversation: text, entry: null };
  const entry = text.slice(separator + 1);
  if (entry === "") throw new LogError("invalid_request", `Missing entry after the "@" in "${text}"`);
  return { conversation: text.slice(0, separator), entry };
}

/** The conversation an address names by its id or the start of it. */
export async function findConversation(holdfast: Holdfast, text: string): Promise<Conversation> {
  const { conversation, entry } = parseAddress(text);
  if (entry !== null)
    throw new LogError("invalid_request", `This command takes a conversation, not the entry "${text}"`);
  return holdfast.find(conversation);
}

/** The conversation and, if the address names one, the entry. */
export async function findAddress(
  holdfast: Holdfast,
  text: string,
): Promise<{ conversation: Conversation; entry: EntryId | null }> {
  const address = parseAddress(text);
  const conversation = await holdfast.find(address.conversation);
  return {
    conversation,
    entry: address.entry === null ? null : await findEntry(conversation, address.entry),
  };
}

/** The entry a person means: its id, a label, or the start or the end of an id. */
export async function findEntry(conversation: Conversation, text: string): Promise<EntryId> {
  try {
    return (await conversation.entry(text)).id;
  } catch (error) {
    if (!isLogError(error, "entry_not_found") && !isLogError(error, "invalid_id")) throw error;
  }
  // A label is a name someone chose, so it is meant before the accident of how an id begins.
  const matches = await conversation.named(text);
  const [only] = matches;
  if (only === undefined) {
    throw new LogError("entry_not_found", `Conversation ${conversation.id} has no entry or label "${text}"`, {
      conversation: conversation.id,
      entry: text,
    });
  }
  if (matches.length === 1) return only;
  const listing = matches.slice(0, MATCHES_SHOWN).join(", ");
  throw new LogError(
    "ambiguous_id",
    `"${text}" matches ${matches.length} entries of ${conversation.id}: ${listing}`,
    { matches },
  );
}

const SHORT_MIN = 4;

/** The shortest start of each id that names it alone among these. */
export function shortIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const sorted = ids.toSorted();
  const short = new Map<string, string>();
  for (const [index, id] of sorted.entries()) {
    const prefixLength = Math.max(sharedStart(id, sorted[index - 1]), sharedStart(id, sorted[index + 1]));
    short.set(id, id.slice(0, Math.max(SHORT_MIN, prefixLength + 1)));
  }
  return short;
}

function sharedStart(id: string, neighbor: string | undefined): number {
  if (neighbor === undefined) return 0;
  let length = 0;
  while (length < id.length && id[length] === neighbor[length]) length++;
  return length;
}

/** Refuses an address whose place cannot hold such a store: a mistake in the call, not a store that failed. */
export function checkStorePlace(address: string): void {
  const [, kind, place = ""] = /^(sqlite|jsonl):(.+)$/s.exec(address) ?? [];
  if (kind === undefined) return;
  const path = resolve(place);
  if (kind === "sqlite" && isFolder(path) === true)
    throw new LogError(
      "invalid_request",
      `${place} is a folder; sqlite: wants a file, such as sqlite:${place.replace(/(?<!\/)\/+$/, "")}/holdfast.db`,
      { store: address },
    );
  const blocked = fileOnTheWay(kind === "sqlite" ? dirname(path) : path);
  if (blocked !== null)
    throw new LogError(
      "invalid_request",
      kind === "jsonl" && blocked === path
        ? `${place} is a file; jsonl: wants a folder`
        : `${blocked} is a file, so there can be no store at ${place}`,
      { store: address },
    );
}

/** The nearest thing on the way up that exists, if it is no folder. */
function fileOnTheWay(path: string): string | null {
  for (let ancestor = path; ; ancestor = dirname(ancestor)) {
    const isDirectory = isFolder(ancestor);
    if (isDirectory !== null) return isDirectory ? null : ancestor;
    if (ancestor === dirname(ancestor)) return null;
  }
}

function isFolder(path: string): boolean | null {
  try {
    return statSync(path).isDirectory();
  } catch {
    return null;
  }
}
