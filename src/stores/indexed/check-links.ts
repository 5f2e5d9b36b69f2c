import { entryDigest, LinkCheck } from "#log/batch-links";
import type { ConversationId } from "#log/ids";
import { sha256 } from "#store/sha256";
import { unprovenNote } from "#store/check-findings";
import type { Finding } from "#store/requests";
import type { IndexedLog, BatchEndRecord } from "./indexed-log.ts";

const ENTRIES_STEP = 256; // bodies held at once

/** The first batch of a log that is not as its link says, or what no link holds because it is older than they are. */
export async function checkLinks(log: IndexedLog, start: string): Promise<readonly Finding[]> {
  const ends = await log.ends();
  const check = new LinkCheck(sha256, log.erased ? "" : start);
  const damage = (message: string): readonly Finding[] => [
    {
      conversation: log.conversation,
      severity: "damage",
      message,
      position: positionAfter(ends, check.soundSeq),
      reachableSeq: check.soundSeq,
      repaired: false,
    },
  ];
  const seqs = log.index.entries.map((entry) => entry.seq);
  for (let from = 0; from < seqs.length; from += ENTRIES_STEP) {
    const wanted = seqs.slice(from, from + ENTRIES_STEP);
    const entries = await log.fetch(wanted);
    for (const [index, seq] of wanted.entries()) {
      const entry = entries[index];
      if (entry?.seq !== seq) return damage(`Entry ${seq} is missing`);
      const wrong = check.add(entry, ends.get(seq) ?? null);
      if (wrong !== null) return damage(wrong);
    }
  }
  const wrong = check.end(log.index.head);
  if (wrong !== null) return damage(wrong);
  return log.erased ? [] : unprovenNote(log.conversation, check.unprovenSeq);
}

/** Where the batch begins that holds the entry after this one. */
function positionAfter(ends: ReadonlyMap<number, BatchEndRecord>, seq: number): number | null {
  for (const [last, { position }] of ends) if (last > seq) return position;
  return null;
}

/** A fork's first link continues the digest of the node it grew from, in whichever log above holds it. */
export async function firstLinkStart(
  log: IndexedLog,
  open: (conversation: ConversationId) => Promise<IndexedLog | null>,
): Promise<string> {
  const { origin } = log.index.head;
  if (origin === null) return "";
  const holder = await open(origin.conversation);
  const indexed = holder?.index.entryAt(origin);
  const [node] = indexed === undefined ? [] : ((await holder?.fetch([indexed.seq])) ?? []);
  return node === undefined ? "" : entryDigest(sha256, node);
}
