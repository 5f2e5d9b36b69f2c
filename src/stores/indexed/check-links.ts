import { type BatchEnd, entryDigest, LinkCheck } from "#log/batch-links";
import type { ConversationId } from "#log/ids";
import { sha256 } from "#store/sha256";
import type { Finding } from "#store/store";
import type { IndexedLog } from "./indexed-log.ts";

const ENTRIES_STEP = 256; // bodies held at once

interface Links {
  /** How each batch ended, by the seq of its last entry. */
  readonly ends: ReadonlyMap<number, BatchEnd>;
  /** What the first link goes on from. */
  readonly start: string;
}

/** The first batch of a log that is not as its link says; null when all are. */
export async function checkLinks(log: IndexedLog, { ends, start }: Links): Promise<Finding | null> {
  const check = new LinkCheck(sha256, log.unlisted ? "" : start);
  const seqs = log.index.entries.map((entry) => entry.seq);
  for (let from = 0; from < seqs.length; from += ENTRIES_STEP) {
    const wanted = seqs.slice(from, from + ENTRIES_STEP);
    const entries = await log.fetch(wanted);
    for (const [at, seq] of wanted.entries()) {
      const entry = entries[at];
      if (entry?.seq !== seq) return finding(log, check, `Entry ${seq} is missing`);
      const wrong = check.add(entry, ends.get(seq) ?? null);
      if (wrong !== null) return finding(log, check, wrong);
    }
  }
  const wrong = check.end(log.index.head);
  return wrong === null ? null : finding(log, check, wrong);
}

function finding(log: IndexedLog, check: LinkCheck, message: string): Finding {
  const reachableSeq = check.soundSeq;
  const { conversation } = log;
  return { conversation, severity: "damage", message, position: null, reachableSeq, repaired: false };
}

/** A fork's first link goes on from the digest of the node it grew from, in whichever log above holds it. */
export async function firstLinkStart(
  log: IndexedLog,
  open: (conversation: ConversationId) => Promise<IndexedLog | null>,
): Promise<string> {
  const { origin } = log.index.head;
  if (origin === null) return "";
  const holder = await open(origin.conversation);
  const indexed = holder?.index.at(origin);
  const [node] = indexed === undefined ? [] : ((await holder?.fetch([indexed.seq])) ?? []);
  return node === undefined ? "" : entryDigest(sha256, node);
}
