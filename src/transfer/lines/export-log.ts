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

/** Changes entries on their way into a file, which then has links of its own and says so. */
export interface EntryChange {
  /** `quiet` where the same entry was asked for before. */
  entry(conversation: Conversation, entry: StoredEntry, quiet?: boolean): Promise<StoredEntry>;
  /** What a title becomes. */
  text(text: string): string;
  /** The blobs that changed entries name. */
  blobs(conversation: Conversation): Pick<Conversation, "getBlob">;
  /** The last entry of each log. */
  mark(conversation: Conversation, head: HeadView): StoredEntry;
}

export interface LogOptions {
  readonly onUnproven?: ((wrong: string, soundSeq: number) => void) | undefined;
  readonly change?: EntryChange | undefined;
}

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
  options: LogOptions = {},
): Promise<ExportLog> {
  const { onUnproven, change } = options;
  const head = await conversation.head();
  const { origin } = head;
  const source = origin === null ? undefined : before.get(origin.source);
  const inherited = isFork(head) && source === undefined ? await inheritedEntries(conversation, head) : null;
  // Its links go on from the node it grows from: a root that says in the file what it was forked from is another one.
  const changedRoot = origin?.depth === 0 && source?.rootOrigin !== null;
  const same = origin === null || (source?.shift === 0 && !changedRoot);
  const linked = head.link !== null && (await beganLinked(conversation));
  const own = onUnproven === undefined && change === undefined && same && linked;
  const rootOrigin = source?.rootOrigin ?? (inherited === null || origin === null ? null : text(origin));
  const parts = { conversation, head, source, inherited, own, rootOrigin, change };
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
  readonly change: EntryChange | undefined;
}

function startOf({ conversation, head, inherited, own, change }: Parts): LogStart {
  const { title, origin } = head;
  const headSeq = head.headSeq + (change === undefined ? 0 : 1);
  return {
    conversation: conversation.id,
    title: title === null || change === undefined ? title : change.text(title),
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
  const { conversation, head, source, inherited, own, change } = parts;
  const { origin } = head;
  const node = origin === null ? undefined : await conversation.space.entry(conversation.id, origin.entry);
  const links = new FileLinks(
    own,
    source === undefined || node === undefined ? "" : await digestInFile(node, parts),
  );
  let seq = 0;
  const linked = async (batch: LogBatch, entries: readonly StoredEntry[]): Promise<LinkedBatch> => {
    const numbered: StoredEntry[] = [];
    for (const entry of entries) {
      const written = changedEntry(entry, { seq: ++seq, ...firstEntry(entry, parts) });
      numbered.push(change === undefined ? written : await change.entry(conversation, written));
    }
    return { entries: numbered, end: links.end({ ...batch, entries: numbered }) };
  };
  if (inherited !== null)
    for await (const batch of cutIntoBatches(inherited.entries())) yield await linked(batch, batch.entries);
  const left = inherited === null ? 0 : 1;
  for await (const batch of ownBatches(conversation, head, node, onUnproven)) {
    const entries = batch.entries.filter((entry) => entry.seq > left);
    if (entries.length > 0) yield await linked(batch, entries);
  }
  if (change === undefined) return;
  const mark = changedEntry(change.mark(conversation, head), { seq: ++seq });
  yield { entries: [mark], end: links.end({ entries: [mark], end: { link: "", byOwner: false } }) };
}

/** The digest that the node a fork grows from has in the file. */
async function digestInFile(node: StoredEntry, { conversation, rootOrigin, change }: Parts): Promise<string> {
  const written =
    node.parentId !== null || rootOrigin === null
      ? node
      : changedEntry(node, { payload: withOrigin(node.payload, rootOrigin) });
  return entryDigest(sha256, (await change?.entry(conversation, written, true)) ?? written);
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
