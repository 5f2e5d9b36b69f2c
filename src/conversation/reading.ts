import { decodeEntry } from "../log/codec.ts";
import type { Entry, EntryType, StoredEntry } from "../log/entry.ts";
import { isLogError, LogError } from "../log/errors.ts";
import type { Place } from "../log/head.ts";
import type { ConversationId, EntryId } from "../log/ids.ts";
import { type Context, contextOf } from "../log/projections/context.ts";
import { type Marks, repliedModel, type Settings, settingsOf } from "../log/projections/settings.ts";
import { EMPTY_WINDOW, extendWindow, type Window } from "../log/projections/window.ts";
import type { SpaceStore } from "../store/store.ts";

const PAGE_NODES = 64; // most contexts are one page; a model that was not chosen is looked for no further back
const PAGE_NODES_MAX = 1_024; // longer ones are read in few large pages
const READ_ENTRIES = 1_024;

interface ReadWindow extends Window {
  /** The model of the latest reply among the nearest nodes, which may lie behind the window. */
  readonly replied: string | null;
}

/** Reads back exactly as far as the context reaches. */
async function readWindow(space: SpaceStore, conversation: ConversationId, from: Place): Promise<ReadWindow> {
  let window = EMPTY_WINDOW;
  let next: Place | null = from;
  let replied: string | null = null;
  for (let limit = PAGE_NODES; next !== null && !window.done; limit = Math.min(limit * 4, PAGE_NODES_MAX)) {
    const page = await space.page({ conversation, from: next, limit });
    const entries = page.entries.map((stored) => decodeEntry(stored));
    window = extendWindow(window, { entries, hidden: page.hidden, atRoot: page.next === null });
    if (next === from) replied = repliedModel(entries);
    next = page.next;
  }
  return { ...window, replied };
}

/** The context at a node: what the model would be sent if the conversation went on from there. */
export async function readContext(
  space: SpaceStore,
  conversation: ConversationId,
  at: Place & { readonly id: EntryId },
): Promise<Context> {
  const window = await readWindow(space, conversation, at);
  const marks = await readMarks(space, conversation, at);
  return contextOf(window, settingsOf(marks, window.replied), at.id);
}

/**
 * The settings at a node, without its messages: what they cost does not grow with the context. Where no model was
 * chosen, the model of the latest reply stands in for one, if that reply is among the nearest nodes; a context says the
 * same.
 */
export async function readSettings(
  space: SpaceStore,
  conversation: ConversationId,
  at: Place,
): Promise<Settings> {
  const marks = await readMarks(space, conversation, at);
  if (marks.model_change !== undefined) return settingsOf(marks, null);
  const { entries } = await space.page({ conversation, from: at, limit: PAGE_NODES });
  return settingsOf(marks, repliedModel(entries.map((stored) => decodeEntry(stored))));
}

async function readMarks(space: SpaceStore, conversation: ConversationId, from: Place): Promise<Marks> {
  const types = ["reset", "model_change", "config_change", "skill_change", "state_change"] as const;
  const found = await space.latest({ conversation, from, types });
  const marks: Record<string, unknown> = {};
  for (const [type, stored] of found)
    marks[type] = Object.assign(decodeEntry(stored), { depth: stored.place.depth });
  return marks;
}

/** A branch from the root to a node, oldest first. */
export async function readBranch(
  space: SpaceStore,
  conversation: ConversationId,
  from: Place,
): Promise<readonly (Entry & { readonly hidden: boolean })[]> {
  const branch: (Entry & { readonly hidden: boolean })[] = [];
  let next: Place | null = from;
  while (next !== null) {
    const page = await space.page({ conversation, from: next, limit: PAGE_NODES_MAX });
    for (const stored of page.entries)
      branch.push(Object.assign(decodeEntry(stored), { hidden: page.hidden.has(stored.id) }));
    next = page.next;
  }
  return branch.toReversed();
}

/** A conversation's own entries in order, a page at a time. */
export async function* readLog(
  space: SpaceStore,
  conversation: ConversationId,
  wanted: { readonly after?: number; readonly types?: readonly EntryType[]; readonly upTo?: number } = {},
): AsyncGenerator<StoredEntry> {
  const { types, upTo = Number.POSITIVE_INFINITY } = wanted;
  let after = Math.max(0, wanted.after ?? 0);
  // Only a reader of everything can tell a lost entry from one it did not ask for.
  const end = types === undefined ? Math.min(upTo, (await space.head(conversation)).headSeq) : 0;
  for (;;) {
    const page = await space.read({
      conversation,
      after,
      limit: READ_ENTRIES,
      ...(types === undefined ? {} : { types }),
    });
    for (const stored of page) {
      if (types === undefined && stored.seq !== after + 1) throw lostEntry(conversation, after + 1);
      if (stored.seq > upTo) return;
      after = stored.seq;
      yield stored;
    }
    if (page.length === READ_ENTRIES) continue;
    if (after < end) throw lostEntry(conversation, after + 1);
    return;
  }
}

function lostEntry(conversation: ConversationId, seq: number): LogError {
  return new LogError("damaged", `Conversation ${conversation} is damaged: entry ${seq} is missing`, {
    conversation,
    seq,
  });
}

export async function readEntries(
  space: SpaceStore,
  conversation: ConversationId,
  types?: readonly EntryType[],
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  for await (const stored of readLog(space, conversation, types === undefined ? {} : { types }))
    entries.push(decodeEntry(stored));
  return entries;
}

/** What a fork may know of the logs above it: their entries up to the moment of each fork, oldest log first. */
export async function readInherited(
  space: SpaceStore,
  conversation: ConversationId,
  types: readonly EntryType[],
): Promise<readonly Entry[]> {
  const logs: Entry[][] = [];
  let { origin } = await space.head(conversation);
  while (origin !== null) {
    const entries: Entry[] = [];
    const { source, head: upTo } = origin;
    try {
      for await (const stored of readLog(space, source, { types, upTo })) entries.push(decodeEntry(stored));
      origin = (await space.head(source)).origin;
    } catch (error) {
      // An erased source has no records left to show; what the fork stands on is read by path.
      if (!isLogError(error, "conversation_not_found")) throw error;
      origin = null;
    }
    logs.unshift(entries);
  }
  return logs.flat();
}
