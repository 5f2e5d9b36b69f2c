import type { Conversation } from "#conversation/conversation";
import { entryLine, decodeEntry } from "#log/codec";
import {
  batchLine,
  type FileBatchEnd,
  endLine,
  FileDigest,
  bundleHeader,
  fileHeader,
  logLine,
  type LogStart,
  type BlobLine,
  blobLines,
} from "./bundle-lines.ts";
import { entryDigest, LINKED_VERSION } from "#log/batch-links";
import type { StoredEntry } from "#log/entry";
import type { ForkPoint } from "#log/lineage/head";
import { sha256 } from "#store/sha256";
import type { HeadView } from "#store/requests";
import { cutIntoBatches, FileLinks, type LogBatch, ownBatches } from "./export-batches.ts";
import {
  replaceMember,
  withOrigin,
  changedEntry,
  type Inherited,
  inheritedEntries,
  originMember,
} from "./inherited-entries.ts";
import { contentBlobs, possibleBlobs } from "#log/blob-names";
import { isLogError } from "#log/errors";
import type { Issue } from "#log/projections/issues";
import { spaceOf } from "#conversation/on-space";

export interface ExportLine {
  /** A large blob takes more lines than one; only its first is called so. `log`: from here on another conversation. */
  readonly kind: "header" | "log" | "entry" | "batch" | "blob" | "piece" | "end";
  readonly text: string;
}

export interface ExportOptions {
  readonly exportedAt: string;
  /** An image that is named but cannot be had. */
  readonly onMissing: (digest: string) => void;
  /** Salvages a log whose links do not hold: all of it is written, and what follows the sound part as unproven. */
  readonly onUnproven?: (wrong: string, soundSeq: number) => void;
  /** Writes a redacted file: it can be read but not continued, and its header says so. */
  readonly redactor?: EntryChange;
}

/**
 * Conversations as a file: a header, their entries word for word, each batch with its link and the blobs it is the first to
 * name, and an end that holds all of it. A fork whose source stands before it is written by its own entries, any other as one
 * whole log. What is written is proven as it is read.
 */
export async function* exportLines(
  conversations: readonly Conversation[],
  options: ExportOptions,
): AsyncGenerator<ExportLine> {
  const digest = new FileDigest();
  const counts = { conversations: conversations.length, entries: 0, blobs: 0 };
  const line = (kind: ExportLine["kind"], text: string): ExportLine => {
    digest.add(text);
    if (kind === "entry") counts.entries++;
    if (kind === "blob") counts.blobs++;
    return { kind, text };
  };
  const [only, ...others] = conversations;
  const { redactor, onUnproven } = options;
  const fileOptions = { exportedAt: options.exportedAt, redacted: redactor !== undefined };
  if (others.length > 0) yield line("header", bundleHeader(fileOptions, conversations.length));
  const logs = new Map<string, ExportLog>();
  for (const conversation of conversations) {
    const log = await exportLog(conversation, logs, { onUnproven, change: redactor });
    logs.set(conversation.id, log);
    if (others.length === 0 && conversation === only)
      yield line("header", fileHeader(fileOptions, log.start));
    else yield line("log", logLine(log.start));
    for await (const batch of log.batches()) {
      for (const entry of batch.entries) yield line("entry", entryLine(entry));
      yield line("batch", batchLine(batch.end));
      const blobs = redactor?.blobs(conversation) ?? conversation;
      for await (const blob of exportBlobs(blobs, log, batch, options.onMissing))
        for (const { text, first } of blob) yield line(first ? "blob" : "piece", text);
    }
  }
  yield { kind: "end", text: endLine(digest, counts) };
}

/** Changes entries on their way into a file, which then has links of its own and says so. */
interface EntryChange {
  /** `quiet` where the same entry was asked for before. */
  entry(conversation: Conversation, entry: StoredEntry, quiet?: boolean): Promise<StoredEntry>;
  /** What a title becomes. */
  text(text: string): string;
  /** The blobs that changed entries name. */
  blobs(conversation: Conversation): Pick<Conversation, "getBlob">;
  /** The last entry of each log. */
  mark(conversation: Conversation, head: HeadView): StoredEntry;
}

/** A batch as it stands in a file: its entries have the numbers they have there. */
interface LinkedBatch {
  readonly entries: readonly StoredEntry[];
  readonly end: FileBatchEnd;
}

/** A conversation as it is written into a file. */
interface ExportLog {
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
async function exportLog(
  conversation: Conversation,
  before: ReadonlyMap<string, ExportLog>,
  options: {
    readonly onUnproven?: ((wrong: string, soundSeq: number) => void) | undefined;
    readonly change?: EntryChange | undefined;
  } = {},
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
  const rootOrigin =
    source?.rootOrigin ?? (inherited === null || origin === null ? null : originText(origin));
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

function originText(origin: ForkPoint): string {
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
  const node = origin === null ? undefined : await spaceOf(conversation).entry(conversation.id, origin.entry);
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
  const skippedSeq = inherited === null ? 0 : 1;
  for await (const batch of ownBatches(conversation, head, node, onUnproven)) {
    const entries = batch.entries.filter((entry) => entry.seq > skippedSeq);
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

/** Adjusts the origin in a fork's first entry if its source has other numbers in the file. */
function firstEntry(entry: StoredEntry, { head, source }: Parts): Partial<StoredEntry> {
  const { origin } = head;
  if (origin === null || source === undefined || source.shift === 0) return {};
  if (entry.type !== "conversation" || entry.seq !== 1) return {};
  const numbered = { ...origin, head: origin.head + source.shift };
  return { payload: replaceMember(entry.payload, "origin", originText(numbered)) };
}

/** Whether links hold the log from its first entry on. */
async function beganLinked(conversation: Conversation): Promise<boolean> {
  for await (const { v } of conversation.log()) return v >= LINKED_VERSION;
  return false;
}

/** The blobs that a batch is the first to name, each as the lines it takes. */
async function* exportBlobs(
  conversation: Pick<Conversation, "getBlob">,
  log: ExportLog,
  { entries, end }: LinkedBatch,
  onMissing: (digest: string) => void,
): AsyncGenerator<Iterable<BlobLine>> {
  for (const [digest, isImage] of digestsIn(entries)) {
    if (isBehind(log, digest)) continue;
    const isRequired = log.absent.get(digest);
    const bytes = isRequired === undefined ? await blobOf(conversation, digest) : null;
    if (bytes !== null) {
      log.blobs.set(digest, end.seq);
      yield blobLines(digest, bytes);
      continue;
    }
    if (isImage && isRequired !== true) onMissing(digest);
    log.absent.set(digest, isImage || isRequired === true);
  }
}

/** What entries name, and whether an image counts on it. */
function digestsIn(entries: readonly StoredEntry[]): ReadonlyMap<string, boolean> {
  const required = new Map<string, boolean>();
  for (const entry of entries) {
    // A damaged entry throws here, so it is not exported as if it were sound.
    const images = contentBlobs(decodeEntry(entry));
    for (const digest of possibleBlobs(entry.payload)) if (!required.has(digest)) required.set(digest, false);
    for (const digest of images) required.set(digest, true);
  }
  return required;
}

/** Whether a blob stands in the file where this log, or one that it was forked from, will have it when it is imported. */
function isBehind(log: ExportLog, digest: string, upTo: number = Number.POSITIVE_INFINITY): boolean {
  const seq = log.blobs.get(digest);
  if (seq !== undefined && seq <= upTo) return true;
  return log.source !== null && isBehind(log.source.log, digest, log.source.head);
}

/** The bytes of a blob; null when they are not there, or are not those of the digest any more. */
export async function blobOf(
  conversation: Pick<Conversation, "getBlob">,
  digest: string,
): Promise<Uint8Array | null> {
  try {
    return await conversation.getBlob(digest);
  } catch (error) {
    if (isLogError(error) && error.group !== "unavailable") return null;
    throw error;
  }
}

/** The images a conversation's own entries name and that cannot be read, each at the first entry that names it. */
export async function missingBlobs(conversation: Conversation): Promise<readonly Issue[]> {
  const digests = new Set<string>();
  const issues: Issue[] = [];
  for await (const stored of conversation.log({ types: ["message", "custom", "steer"] })) {
    for (const digest of contentBlobs(decodeEntry(stored))) {
      if (digests.has(digest)) continue;
      digests.add(digest);
      if ((await blobOf(conversation, digest)) !== null) continue;
      const message = `The store does not have image ${digest}, or only a part of it`;
      issues.push({ kind: "missing_blob", entry: stored.id, message });
    }
  }
  return issues;
}
