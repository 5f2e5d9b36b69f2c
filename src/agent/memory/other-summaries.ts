import { decodeEntry } from "#log/codec";
import type { Project } from "#log/entry";
import { isLogError } from "#log/errors";
import type { ConversationId, EntryId } from "#log/ids";
import type { SummaryPointer } from "#log/projections/memories";
import type { Conversation } from "#conversation/conversation";
import type { SpaceStore } from "#store/facets";
import type { HeadView } from "#store/requests";
import { readRecordedProject } from "./project.ts";
import { type Memory, scopeLog } from "./memory.ts";
import { SUMMARIES_READ_MAX, SUMMARIES_TOLD_MAX } from "./memory-blocks.ts";
import { type MemoryQuery, rankMemories } from "./rank-memories.ts";
import { spaceOf } from "#conversation/on-space";

/**
 * Notes, for other conversations about the same project, where the newest summary of this one is found; the text stays there
 * alone, and goes with it. A conversation without a project tells nobody.
 */
export async function noteSummary(
  memory: Memory | null,
  conversation: Conversation,
  entry: EntryId,
): Promise<void> {
  const project = memory === null ? null : await readRecordedProject(conversation);
  if (memory === null || project === null) return;
  const current = { conversation: conversation.id, entry };
  try {
    await scopeLog(memory, { project: project.id }).write(() => [
      { type: "memory", change: "summarised", ...current },
    ]);
  } catch (error) {
    // The summary is in the log of its conversation: a memory that cannot be written is no reason to fail its turn.
    if (!isLogError(error)) throw error;
  }
}

interface Summary {
  readonly pointer: SummaryPointer;
  readonly text: string;
}

/** What summaries of other conversations about the same project say of a query, the most fitting first; never of its own or related ones. */
export async function otherSummaries(
  memory: Memory,
  place: { readonly conversation: Conversation; readonly project: Project; readonly nowMs: number },
  query: MemoryQuery,
): Promise<readonly string[]> {
  const { conversation, project, nowMs } = place;
  const { id } = conversation;
  const space = spaceOf(conversation);
  const { summaries } = await scopeLog(memory, { project: project.id }).read();
  if (summaries.length === 0) return [];
  const own = await lineageOf(space, id);
  const others: Summary[] = [];
  for (const pointer of summaries.toReversed()) {
    if (others.length === SUMMARIES_READ_MAX) break;
    const text = own.has(pointer.conversation) ? null : await readSummary(space, pointer);
    if (text !== null) others.push({ pointer, text });
  }
  const texts: string[] = [];
  const asRanked = others.map(({ pointer, text }) => ({
    pointer,
    title: "",
    content: text,
    tags: [],
    keywords: [],
    updatedAt: pointer.time,
  }));
  for (const { memory: summary } of rankMemories(asRanked, query, { nowMs })) {
    if (texts.length === SUMMARIES_TOLD_MAX) break;
    if (!(await isRelated(space, { id, own }, summary.pointer))) texts.push(summary.content);
  }
  return texts;
}

/** Null where the conversation is gone, or the pointer names something else. */
async function readSummary(
  space: SpaceStore,
  { conversation, entry }: SummaryPointer,
): Promise<string | null> {
  const node = await ifThere(() => space.entry(conversation, entry));
  const summary = node === null ? null : decodeEntry(node);
  return summary?.type === "compaction" ? summary.summary : null;
}

/** Whether they share a line of forks, or the very summary: as a copy under another id does. */
async function isRelated(
  space: SpaceStore,
  current: { readonly id: ConversationId; readonly own: ReadonlySet<ConversationId> },
  pointer: SummaryPointer,
): Promise<boolean> {
  for (const ancestor of await lineageOf(space, pointer.conversation))
    if (current.own.has(ancestor)) return true;
  return (await ifThere(() => space.entry(current.id, pointer.entry))) !== null;
}

/** A conversation and all that it was forked from, by name: also those that are erased. */
async function lineageOf(space: SpaceStore, id: ConversationId): Promise<ReadonlySet<ConversationId>> {
  const line = new Set<ConversationId>();
  for (let current: ConversationId | null = id; current !== null && !line.has(current);) {
    line.add(current);
    const here: ConversationId = current;
    const head = await ifThere(() => space.head(here));
    current = head === null ? null : (head.origin?.source ?? (await importedFrom(space, head)));
  }
  return line;
}

/** What a log was forked from before it was brought here as a file. */
async function importedFrom(
  space: SpaceStore,
  { conversation, summary }: HeadView,
): Promise<ConversationId | null> {
  if (summary !== null && summary.inheritedUpTo === null) return null;
  const [stored] = await space.read({ conversation, limit: 1, types: ["conversation"] });
  const root = stored === undefined ? null : decodeEntry(stored);
  return root?.type === "conversation" ? (root.forkedFrom?.conversation ?? null) : null;
}

async function ifThere<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (isLogError(error) && error.group === "missing") return null;
    throw error;
  }
}
