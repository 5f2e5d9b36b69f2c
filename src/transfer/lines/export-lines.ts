import type { Conversation } from "#conversation/conversation";
import { decodeEntry, entryLine } from "#log/codec";
import { contentBlobs, possibleBlobs } from "#log/blob-names";
import { type Entry, FORMAT_VERSION, type StoredEntry } from "#log/entry";
import { isLogError } from "#log/errors";
import { type EntryId, parseEntryId } from "#log/ids";
import { labelsOf } from "#log/projections/labels";
import type { HeadView } from "#store/store";
import { blobLines } from "./blob-lines.ts";
import { idForKey } from "#conversation/id-for-key";

export interface ExportLine {
  /** A large blob takes more lines than one; only its first is called so. */
  readonly kind: "header" | "entry" | "blob" | "piece";
  readonly text: string;
}

export interface ExportOptions {
  readonly exportedAt: string;
  /** An image that is named but cannot be had. */
  readonly onMissing: (digest: string) => void;
}

/** A conversation as a file: a header, its entries word for word, numbered from 1, then the blobs they name. */
export async function* exportLines(
  conversation: Conversation,
  { exportedAt, onMissing }: ExportOptions,
): AsyncGenerator<ExportLine> {
  const blobs = new NamedBlobs();
  const head = await conversation.head();
  const inherited = await inheritedEntries(conversation, head);
  // A fork's first own entry says where it came from; in the file the inherited branch stands in its place.
  const from = head.origin === null ? 0 : 1;
  const entries = inherited.length + head.headSeq - from;
  const origin =
    head.origin === null
      ? {}
      : { origin: { conversation: head.origin.source, entry: head.origin.entry, head: head.origin.head } };
  const header = JSON.stringify({
    type: "holdfast",
    v: FORMAT_VERSION,
    conversation: conversation.id,
    exportedAt,
    title: head.title,
    entries,
    ...origin,
  });
  yield { kind: "header", text: header };
  let seq = 0;
  for (const entry of inherited) {
    blobs.take(decodeEntry(entry));
    yield { kind: "entry", text: entryLine(entry, ++seq) };
  }
  for await (const entry of conversation.log({ after: from })) {
    // What is appended while the file is being written belongs to the next export.
    if (entry.seq > head.headSeq) break;
    blobs.take(decodeEntry(entry)); // what is damaged is not carried on as if it were whole
    yield { kind: "entry", text: entryLine(entry, ++seq) };
  }
  for (const [digest, isImage] of blobs.named) {
    const bytes = await blobOf(conversation, digest);
    if (bytes === null && isImage) onMissing(digest);
    let kind: ExportLine["kind"] = "blob";
    for (const text of bytes === null ? [] : blobLines(digest, bytes)) {
      yield { kind, text };
      kind = "piece";
    }
  }
}

/** What entries name, and whether an image counts on it. */
class NamedBlobs {
  readonly named: Map<string, boolean> = new Map();

  take(entry: Entry): void {
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

/** The branch a fork grew from, and what its sources had said about those entries when it was made. */
async function inheritedEntries(conversation: Conversation, head: HeadView): Promise<readonly StoredEntry[]> {
  if (head.origin === null) return [];
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
  return [...branch, ...facts];
}

/** The entries whose hiding the fork decided itself; its own log carries that. */
async function ownWordOn(conversation: Conversation): Promise<ReadonlySet<EntryId>> {
  const decided = new Set<EntryId>();
  for (const fact of await conversation.facts(["hide"])) if (fact.type === "hide") decided.add(fact.target);
  return decided;
}
