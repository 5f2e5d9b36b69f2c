import type { Conversation } from "#conversation/conversation";
import { decodeEntry, entryLine } from "#log/codec";
import { contentBlobs, possibleBlobs } from "#log/blob-names";
import { type Entry, FORMAT_VERSION, type StoredEntry } from "#log/entry";
import { INHERITED_FACTS, targetOf } from "#log/entry-types";
import { isLogError } from "#log/errors";
import { type EntryId, parseEntryId } from "#log/ids";
import { labelsOf } from "#log/projections/labels";
import type { HeadView } from "#store/requests";
import { LINKED_VERSION } from "#log/batch-links";
import { batchLine, endLine } from "./batch-lines.ts";
import { blobLines } from "./blob-lines.ts";
import { cutIntoBatches, FileLinks, type LogBatch, ownBatches } from "./export-batches.ts";
import { withOrigin } from "./forked-from.ts";
import { idForKey } from "#conversation/id-for-key";

export interface ExportLine {
  /** A large blob takes more lines than one; only its first is called so. */
  readonly kind: "header" | "entry" | "batch" | "blob" | "piece" | "end";
  readonly text: string;
}

export interface ExportOptions {
  readonly exportedAt: string;
  /** An image that is named but cannot be had. */
  readonly onMissing: (digest: string) => void;
  /** Salvages a log whose links do not hold: all of it is written, and what follows the sound part as unproven. */
  readonly onUnproven?: (wrong: string, soundSeq: number) => void;
}

/**
 * A conversation as a file: a header, its entries word for word, numbered from 1, each batch with its link, then the blobs
 * they name. What is written is proven as it is read.
 */
export async function* exportLines(
  conversation: Conversation,
  { exportedAt, onMissing, onUnproven }: ExportOptions,
): AsyncGenerator<ExportLine> {
  const blobs = new NamedBlobs();
  const head = await conversation.head();
  const own =
    onUnproven === undefined &&
    head.origin === null &&
    head.link !== null &&
    (await beganLinked(conversation));
  const { origin, entries: inherited } = await inheritedEntries(conversation, head);
  // A fork's first own entry says where it came from; in the file the inherited branch stands in its place.
  const left = head.origin === null ? 0 : 1;
  const header = JSON.stringify({
    type: "holdfast",
    v: FORMAT_VERSION,
    conversation: conversation.id,
    exportedAt,
    title: head.title,
    entries: inherited.length + head.headSeq - left,
    links: own ? "own" : "made",
    ...originOf(head),
  });
  yield { kind: "header", text: header };
  const links = new FileLinks(own);
  let seq = 0;
  const batchLines = function* (batch: LogBatch, from: number): Generator<ExportLine> {
    const entries = batch.entries
      .filter((entry) => entry.seq > from)
      .map((entry) => changed(entry, { seq: ++seq }));
    if (entries.length === 0) return;
    for (const entry of entries) {
      blobs.add(decodeEntry(entry)); // what is damaged is not carried on as if it were whole
      yield { kind: "entry", text: entryLine(entry) };
    }
    yield { kind: "batch", text: batchLine(links.end({ ...batch, entries })) };
  };
  for (const batch of cutIntoBatches(inherited)) yield* batchLines(batch, -1);
  for await (const batch of ownBatches(conversation, head, origin, onUnproven))
    yield* batchLines(batch, left);
  for (const [digest, isImage] of blobs.named) {
    const bytes = await blobOf(conversation, digest);
    if (bytes === null && isImage) onMissing(digest);
    let kind: ExportLine["kind"] = "blob";
    for (const text of bytes === null ? [] : blobLines(digest, bytes)) {
      yield { kind, text };
      kind = "piece";
    }
  }
  yield { kind: "end", text: endLine(header) };
}

/** A copy member by member: the text of an entry that was read is not listed among them. */
function changed(
  { v, id, seq, parentId, time, type, payload }: StoredEntry,
  change: Partial<StoredEntry>,
): StoredEntry {
  return { v, id, seq, parentId, time, type, payload, ...change };
}

/** Whether links hold the log from its first entry on. */
async function beganLinked(conversation: Conversation): Promise<boolean> {
  for await (const { v } of conversation.log()) return v >= LINKED_VERSION;
  return false;
}

function originOf({ origin }: HeadView): { readonly origin?: object } {
  if (origin === null) return {};
  return { origin: { conversation: origin.source, entry: origin.entry, head: origin.head } };
}

/** What entries name, and whether an image counts on it. */
class NamedBlobs {
  readonly named: Map<string, boolean> = new Map();

  add(entry: Entry): void {
    for (const digest of possibleBlobs(entry.payload))
      if (!this.named.has(digest)) this.named.set(digest, false);
    for (const digest of contentBlobs(entry)) this.named.set(digest, true);
  }
}

/** The bytes of a blob; null when they are not there, or are not those of the digest any more. */
export async function blobOf(conversation: Conversation, digest: string): Promise<Uint8Array | null> {
  try {
    return await conversation.getBlob(digest);
  } catch (error) {
    if (isLogError(error) && error.group !== "unavailable") return null;
    throw error;
  }
}

interface Inherited {
  /** The node that the fork grew from. */
  readonly origin: StoredEntry | undefined;
  readonly entries: readonly StoredEntry[];
}

/** The branch a fork grew from, and what its sources had said about those entries when it was made. */
async function inheritedEntries(conversation: Conversation, head: HeadView): Promise<Inherited> {
  if (head.origin === null) return { origin: undefined, entries: [] };
  const branch = await conversation.branch({ at: head.origin.entry });
  const own = await ownWordOn(conversation);
  const labels = labelsOf(await conversation.inheritedFacts(["label"]));
  const facts: StoredEntry[] = [];
  const say = (type: "hide" | "label", target: EntryId, payload: object): void => {
    const id = parseEntryId(idForKey(type, conversation.id, target));
    facts.push({
      v: FORMAT_VERSION,
      id,
      seq: 0,
      parentId: null,
      time: head.createdAt,
      type,
      payload: JSON.stringify(payload),
    });
  };
  for (const { id, hidden } of branch) {
    const label = labels.get(id);
    if (hidden && !own.has(id)) say("hide", id, { target: id });
    if (label !== undefined) say("label", id, { target: id, label });
  }
  facts.push(...(await factsOnBranch(conversation, branch)));
  const [root, ...others] = branch;
  if (root === undefined) return { origin: undefined, entries: facts };
  // Imported, the log says by itself how far it was inherited.
  const payload = withOrigin(root.payload, JSON.stringify(originOf(head).origin));
  const first = changed(root, { payload });
  return { origin: branch.at(-1), entries: [first, ...others, ...facts] };
}

/** The other facts that the sources had about nodes of the branch. A fork's own entries may have their ids already. */
async function factsOnBranch(
  conversation: Conversation,
  branch: readonly StoredEntry[],
): Promise<readonly StoredEntry[]> {
  if (INHERITED_FACTS.length === 0) return [];
  const there = new Set(branch.map(({ id }) => id));
  return (await conversation.inheritedFacts(INHERITED_FACTS)).flatMap((fact) => {
    const target = targetOf(fact.type, { ...fact });
    if (target === null || !there.has(target)) return [];
    return [changed(fact, { id: parseEntryId(idForKey(fact.type, conversation.id, fact.id)) })];
  });
}

/** The entries whose hiding the fork decided itself; its own log carries that. */
async function ownWordOn(conversation: Conversation): Promise<ReadonlySet<EntryId>> {
  const decided = new Set<EntryId>();
  for (const fact of await conversation.facts(["hide"])) if (fact.type === "hide") decided.add(fact.target);
  return decided;
}
