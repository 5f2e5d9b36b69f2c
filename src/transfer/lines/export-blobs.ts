import type { Conversation } from "#conversation/conversation";
import { contentBlobs, possibleBlobs } from "#log/blob-names";
import { decodeEntry } from "#log/codec";
import type { StoredEntry } from "#log/entry";
import { isLogError } from "#log/errors";
import { type BlobLine, blobLines } from "./blob-lines.ts";
import type { ExportLog, LinkedBatch } from "./export-log.ts";

/** The blobs that a batch is the first to name, each as the lines it takes. */
export async function* exportBlobs(
  conversation: Pick<Conversation, "getBlob">,
  log: ExportLog,
  { entries, end }: LinkedBatch,
  onMissing: (digest: string) => void,
): AsyncGenerator<Iterable<BlobLine>> {
  for (const [digest, isImage] of namedIn(entries)) {
    if (isBehind(log, digest)) continue;
    const told = log.absent.get(digest);
    const bytes = told === undefined ? await blobOf(conversation, digest) : null;
    if (bytes !== null) {
      log.blobs.set(digest, end.seq);
      yield blobLines(digest, bytes);
      continue;
    }
    if (isImage && told !== true) onMissing(digest);
    log.absent.set(digest, isImage || told === true);
  }
}

/** What entries name, and whether an image counts on it. */
function namedIn(entries: readonly StoredEntry[]): ReadonlyMap<string, boolean> {
  const named = new Map<string, boolean>();
  for (const entry of entries) {
    // What is damaged is not carried on as if it were whole: it cannot be read here either.
    const images = contentBlobs(decodeEntry(entry));
    for (const digest of possibleBlobs(entry.payload)) if (!named.has(digest)) named.set(digest, false);
    for (const digest of images) named.set(digest, true);
  }
  return named;
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
