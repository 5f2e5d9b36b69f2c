import {
  type BatchEnd,
  type BatchEndAt,
  batchLink,
  entryDigest,
  LINKED_VERSION,
  LinkCheck,
} from "#log/batch-links";
import { FORMAT_VERSION, type StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import { sha256 } from "#store/sha256";
import type { HeadView } from "#store/requests";
import { BatchSize, type FileBatchEnd } from "./bundle-lines.ts";
import type { ConversationReader } from "#conversation/conversation-reader";

const ENDS_PAGE = 50_000;

/** A batch as it lies in the log; one that has no link there has no end either. */
export interface LogBatch {
  readonly entries: readonly StoredEntry[];
  readonly end: BatchEnd | null;
}

/** Entries that no link holds, cut into batches. */
export async function* cutIntoBatches(
  entries: AsyncIterable<StoredEntry> | Iterable<StoredEntry>,
): AsyncGenerator<LogBatch> {
  const unlinked = new UnlinkedBatch();
  for await (const entry of entries) yield* unlinked.add(entry);
  yield* unlinked.flush();
}

class UnlinkedBatch {
  readonly #size = new BatchSize();
  #entries: StoredEntry[] = [];

  /** Gives the batch before it when that has no room for it. */
  *add(entry: StoredEntry): Generator<LogBatch> {
    const { payload, type } = entry;
    if (!this.#size.fits({ chars: payload.length, compaction: type === "compaction" })) yield* this.flush();
    this.#size.add(payload.length);
    this.#entries.push(entry);
  }

  *flush(): Generator<LogBatch> {
    const entries = this.#entries;
    this.#entries = [];
    this.#size.clear();
    if (entries.length > 0) yield { entries, end: null };
  }
}

/**
 * The conversation's own batches up to its head, proven as they are read. `origin`: the node a fork grew from. Where a link
 * does not hold, that is an error, or `onUnproven` is told and all that follows counts as held by no link.
 */
export function ownBatches(
  conversation: OwnLog,
  head: HeadView,
  origin: StoredEntry | undefined,
  onUnproven?: (wrong: string, soundSeq: number) => void,
): AsyncGenerator<LogBatch> {
  const start = origin === undefined ? "" : entryDigest(sha256, origin);
  return batchesAfter(conversation, head, { after: 0, start, ownerLink: null }, onUnproven);
}

type OwnLog = Pick<ConversationReader, "id" | "log" | "batchEnds">;

/** Where reading begins: behind this entry, and what its link is proven to be. */
export interface BatchStart {
  readonly after: number;
  readonly start: string;
  readonly ownerLink: string | null;
}

/** The same of a part of the log. */
export async function* batchesAfter(
  log: OwnLog,
  head: Pick<HeadView, "headSeq" | "link" | "ownerLink">,
  from: BatchStart,
  onUnproven?: (wrong: string, soundSeq: number) => void,
): AsyncGenerator<LogBatch> {
  const ends = new BatchEnds(log, from.after);
  const check = new LinkCheck(sha256, from.start, from.ownerLink);
  let broken = false;
  const checkProof = (wrong: string | null): void => {
    if (wrong === null || broken) return;
    const soundSeq = Math.max(check.soundSeq, from.after);
    if (onUnproven === undefined) throw damaged(log, wrong, soundSeq);
    broken = true;
    onUnproven(wrong, soundSeq);
  };
  const unlinked = new UnlinkedBatch();
  let batch: StoredEntry[] = [];
  // Entries appended during this read belong to the next one.
  for await (const entry of log.log({ after: from.after, upTo: head.headSeq })) {
    const end = await ends.endAt(entry.seq);
    if (!broken) checkProof(check.add(entry, end));
    if (broken) {
      for (const before of batch.splice(0)) yield* unlinked.add(before);
      yield* unlinked.add(entry);
      continue;
    }
    if (entry.v < LINKED_VERSION) {
      yield* unlinked.add(entry);
      continue;
    }
    yield* unlinked.flush();
    batch.push(entry);
    if (end === null) continue;
    yield { entries: batch, end };
    batch = [];
  }
  yield* unlinked.flush();
  if (!broken) checkProof(check.end(head));
  yield* cutIntoBatches(broken ? batch : []);
}

function damaged({ id }: OwnLog, wrong: string, soundSeq: number): LogError {
  return new LogError(
    "damaged",
    `${wrong}. Entries up to ${soundSeq} are intact. Use \`holdfast export --salvage\` to export every readable entry, with the unverified ones marked.`,
    { conversation: id, reachableSeq: soundSeq },
  );
}

/** Where the batches of a log end, asked for in order. */
class BatchEnds {
  readonly #log: OwnLog;
  #page: ReadonlyMap<number, BatchEndAt> = new Map();
  /** The last entry that the page speaks of. */
  #through: number;

  constructor(log: OwnLog, after: number) {
    this.#log = log;
    this.#through = after;
  }

  async endAt(seq: number): Promise<BatchEnd | null> {
    if (seq > this.#through) {
      const ends = await this.#log.batchEnds({ after: this.#through, limit: ENDS_PAGE });
      this.#page = new Map(ends.map((end) => [end.seq, end]));
      this.#through = ends.length < ENDS_PAGE ? Number.MAX_SAFE_INTEGER : (ends.at(-1)?.seq ?? 0);
    }
    return this.#page.get(seq) ?? null;
  }
}

/** The links of a file: those of the log, or new ones where the file is another log than that (a fork, one of before). */
export class FileLinks {
  readonly #keepsLinks: boolean;
  #previous: string;

  /** `start`: the hash before the first one; for a fork, the digest of its origin in the file. */
  constructor(own: boolean, start: string) {
    this.#keepsLinks = own;
    this.#previous = start;
  }

  /** How a batch ends whose entries have the numbers they have in the file. */
  end({ entries, end }: LogBatch): FileBatchEnd {
    const byOwner = end?.byOwner ?? true;
    const link = this.#keepsLinks && end !== null ? end.link : this.#make(entries, byOwner);
    this.#previous = link;
    return { seq: entries.at(-1)?.seq ?? 0, link, byOwner, unproven: end === null };
  }

  #make(entries: readonly StoredEntry[], byOwner: boolean): string {
    return batchLink(sha256, {
      v: FORMAT_VERSION,
      previous: this.#previous,
      firstSeq: entries[0]?.seq ?? 0,
      byOwner,
      entries: entries.map((entry) => ({ parentId: entry.parentId, digest: entryDigest(sha256, entry) })),
    });
  }
}
