import { entryDigest, LINKED_VERSION } from "#log/batch-links";
import { FORMAT_VERSION, type StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import type { HeadView } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { sha256 } from "#store/sha256";
import { batchesAfter, type BatchStart, type LogBatch } from "#transfer/lines/export-batches";
import { LogWriter, type WriterOptions } from "./log-writer.ts";
import { findHead, type SharedPrefix, sharedPrefix } from "./shared-prefix.ts";

/** The two sides of a copy, and who is told how it goes. */
export interface CopySides extends WriterOptions {
  /** Fires when no further batch is to be begun. */
  readonly signal: AbortSignal | undefined;
}

export interface CopiedLog {
  readonly entries: number;
  readonly blobs: number;
  /** The images that are named and cannot be had. */
  readonly missing: readonly string[];
  /** Up to which entry both are the same now. */
  readonly toSeq: number;
}

/**
 * Brings one log of the target up to what its source is now: the same entries in the same batches by the same kinds of
 * author, so that the target makes the very links that the source has. What is there already is not written again. `known`:
 * up to where both were found to be the same before.
 */
export async function copyLog(
  sides: CopySides,
  conversation: ConversationId,
  known: number = 0,
): Promise<CopiedLog> {
  const { from, to, signal } = sides;
  // In this order: whoever copies at the same time can then never be taken for being ahead of the source.
  const there = await findHead(to, conversation);
  const head = await from.head(conversation);
  const prefix: SharedPrefix =
    there === null
      ? { seq: 0, exact: true }
      : await sharedPrefix(from, to, { head, there, known: Math.min(known, there.headSeq) });
  const writer = new LogWriter(sides, head);
  const after = prefix.seq;
  if (after > known) await writer.finishFirst(after);
  let [toSeq, exact] = [after, prefix.exact];
  const write = async (batch: LogBatch, durability: "full" | "relaxed"): Promise<void> => {
    const entries = batch.entries.filter(({ seq }) => seq > after);
    exact &&= batch.end !== null && entries.every(({ v }) => v === FORMAT_VERSION);
    await writer.write({ entries, end: batch.end }, durability);
    toSeq = entries.at(-1)?.seq ?? toSeq;
  };
  if (after < head.headSeq) {
    const start = await startBehind(from, head, after);
    let last: LogBatch | null = null;
    for await (const batch of batchesAfter({ space: from, id: conversation }, head, start)) {
      if (signal?.aborted === true) break;
      if ((batch.entries.at(-1)?.seq ?? 0) <= after) continue;
      if (last !== null) await write(last, "relaxed");
      last = batch;
    }
    // With the last batch all are on the disk; until then a copy can be run again.
    if (last !== null) await write(last, "full");
    if (exact && toSeq === head.headSeq) await checkEnd(to, head);
  }
  const { blobs, missing } = writer;
  return { entries: toSeq - after, blobs, missing: [...missing], toSeq };
}

/** Where the source is read from: behind what the target has, or from its first entry where no batch ends there. */
async function startBehind(from: SpaceStore, head: HeadView, after: number): Promise<BatchStart> {
  const { conversation, origin, ownerLink } = head;
  if (after > 0) {
    const [end] = await from.batchEnds({ conversation, after: after - 1, limit: 1 });
    if (end?.seq === after) return { after, start: end.link, ownerLink };
    const last = await entryAt(from, conversation, after);
    if (last !== undefined && last.v < LINKED_VERSION)
      return { after, start: entryDigest(sha256, last), ownerLink };
  }
  const node = origin === null ? null : await from.entry(conversation, origin.entry);
  return { after: 0, start: node === null ? "" : entryDigest(sha256, node), ownerLink: null };
}

async function entryAt(
  space: SpaceStore,
  conversation: ConversationId,
  seq: number,
): Promise<StoredEntry | undefined> {
  const [entry] = await space.read({ conversation, after: seq - 1, limit: 1 });
  return entry;
}

/** The target has made its links from what it was given: where they are the source's, all of it is. */
async function checkEnd(to: SpaceStore, { conversation, headSeq, link }: HeadView): Promise<void> {
  const [end] = await to.batchEnds({ conversation, after: headSeq - 1, limit: 1 });
  if (end?.seq === headSeq && end.link === link) return;
  throw new LogError(
    "diverged",
    `The copy of ${conversation} does not end as the original does at entry ${headSeq}: another program writes to it`,
    { conversation, seq: headSeq },
  );
}
