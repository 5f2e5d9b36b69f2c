import type { Conversation } from "#conversation/conversation";
import { entryDigest, LINKED_VERSION } from "#log/batch-links";
import type { StoredEntry } from "#log/entry";
import type { ForkPoint } from "#log/lineage/head";
import { sha256 } from "#store/sha256";
import type { HeadView } from "#store/requests";
import type { FileBatchEnd } from "./batch-lines.ts";
import { cutIntoBatches, FileLinks, type LogBatch, ownBatches } from "./export-batches.ts";
import { replaceMember, withOrigin } from "./forked-from.ts";
import { changedEntry, type Inherited, inheritedEntries, originMember } from "./inherited-entries.ts";
import type { LogStart } from "./log-lines.ts";

/** A batch as it stands in a file: its entries have the numbers they have there. */
export interface LinkedBatch {
  readonly entries: readonly StoredEntry[];
  readonly end: FileBatchEnd;
}

/** A conversation as it is written into a file. */
export interface ExportLog {
  readonly start: LogStart;
  batches(): AsyncGenerator<LinkedBatch>;
  /** For a fork that is written by its own entries alone: where it grows from, and how much it sees of that. */
  readonly source: { readonly log: ExportLog; readonly head: number } | null;
  /** How much higher an entry of its own is numbered in the file. */
  readonly shift: number;
  /** The origin that the root has in the file, where what a fork inherited is part of it. */
  readonly rootOrigin: string | null;
  /** The blobs that stand in the file for it, each with the entry they stand behind. */
  readonly blobs: Map<string, number>;
  /** What looks like one and is none, or is not there; true: an image counts on it. */
  readonly absent: Map<string, boolean>;
}

/** Finds how a conversation is written: by its own entries where its source is among `before`, else whole. */
export async function exportLog(
  conversation: Conversation,
  before: ReadonlyMap<string, ExportLog>,
  onUnproven?: (wrong: string, soundSeq: number) => void,
): Promise<ExportLog> {
  const head = await conversation.head();
  const { origin } = head;
  const source = origin === null ? undefined : before.get(origin.source);
  const inherited = isFork(head) && source === undefined ? await inheritedEntries(conversation, head) : null;
  const same = origin === null || source?.shift === 0;
  const linked = head.link !== null && (await beganLinked(conversation));
  const own = onUnproven === undefined && same && linked;
  const rootOrigin = source?.rootOrigin ?? (inherited === null || origin === null ? null : text(origin));
  const parts = { conversation, head, source, inherited, own, rootOrigin };
  return {
    start: startOf(parts),
    batches: () => batchesOf(parts, onUnproven),
    source:
      source === undefined || origin === null ? null : { log: source, head: origin.head + source.shift },
    shift: inherited === null ? 0 : inherited.count - 1,
    rootOrigin,
    blobs: new Map(),
    absent: new Map(),
  };
}

function isFork(head: HeadView): head is HeadView & { readonly origin: ForkPoint } {
  return head.origin !== null;
}

function text(origin: ForkPoint): string {
  return JSON.stringify(originMember(origin));
}

interface Parts {
  readonly conversation: Conversation;
  readonly head: HeadView;
  readonly source: ExportLog | undefined;
  readonly inherited: Inherited | null;
  /** Its links are those of the log itself. */
  readonly own: boolean;
  readonly rootOrigin: string | null;
}

function startOf({ conversation, head, inherited, own }: Parts): LogStart {
  const { title, headSeq, origin } = head;
  return {
    conversation: conversation.id,
    title,
    // A fork's first own entry says where it came from; where it is written whole, what it inherited stands in its place.
    entries: inherited === null ? headSeq : inherited.count + headSeq - 1,
    links: own ? "own" : "made",
    ...(inherited === null || origin === null ? {} : { origin: originMember(origin) }),
  };
}

async function* batchesOf(
  parts: Parts,
  onUnproven?: (wrong: string, soundSeq: number) => void,
): AsyncGenerator<LinkedBatch> {
  const { conversation, head, source, inherited, own } = parts;
  const { origin } = head;
  const node = origin === null ? undefined : await conversation.space.entry(conversation.id, origin.entry);
  const links = new FileLinks(
    own,
    source === undefined || node === undefined ? "" : digestInFile(node, parts),
  );
  let seq = 0;
  const linked = (batch: LogBatch, entries: readonly StoredEntry[]): LinkedBatch => {
    const numbered = entries.map((entry) => changedEntry(entry, { seq: ++seq, ...firstEntry(entry, parts) }));
    return { entries: numbered, end: links.end({ ...batch, entries: numbered }) };
  };
  if (inherited !== null)
    for await (const batch of cutIntoBatches(inherited.entries())) yield linked(batch, batch.entries);
  const left = inherited === null ? 0 : 1;
  for await (const batch of ownBatches(conversation, head, node, onUnproven)) {
    const entries = batch.entries.filter((entry) => entry.seq > left);
    if (entries.length > 0) yield linked(batch, entries);
  }
}

/** The digest that the node a fork grows from has in the file. */
function digestInFile(node: StoredEntry, { rootOrigin }: Parts): string {
  if (node.parentId !== null || rootOrigin === null) return entryDigest(sha256, node);
  return entryDigest(sha256, changedEntry(node, { payload: withOrigin(node.payload, rootOrigin) }));
}

/** Where the source is numbered anew, the first entry of its fork says so. */
function firstEntry(entry: StoredEntry, { head, source }: Parts): Partial<StoredEntry> {
  const { origin } = head;
  if (origin === null || source === undefined || source.shift === 0) return {};
  if (entry.type !== "conversation" || entry.seq !== 1) return {};
  const numbered = { ...origin, head: origin.head + source.shift };
  return { payload: replaceMember(entry.payload, "origin", text(numbered)) };
}

/** Whether links hold the log from its first entry on. */
async function beganLinked(conversation: Conversation): Promise<boolean> {
  for await (const { v } of conversation.log()) return v >= LINKED_VERSION;
  return false;
}
