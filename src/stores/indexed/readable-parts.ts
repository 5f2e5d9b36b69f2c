import type { LogError } from "#log/errors";
import type { SeqRequest } from "#log/lineage/seq-index";
import type { IndexedLog } from "./indexed-log.ts";

/** Entries of a damaged log that follow each other without a gap. */
export interface ReadablePart {
  readonly firstSeq: number;
  readonly lastSeq: number;
  seqs(request: SeqRequest): readonly number[];
  /** What separates it from the part before it. */
  readonly damage: LogError | null;
}

/** The seqs that a read asks for. Never silently fewer: a read that crosses a damage fails with it. */
export function readableSeqs(log: IndexedLog, request: SeqRequest): readonly number[] {
  if (!log.damage) return log.index.seqs(request);
  return request.newestFirst === true ? seqsBefore(log, request) : seqsAfter(log, request);
}

/** Those after a seq, up to the next damage: for readers that read again and get its error then. */
export function seqsToDamage(log: IndexedLog, request: SeqRequest): readonly number[] {
  return log.damage ? partAt(log, request.after ?? 0).part.seqs(request) : log.index.seqs(request);
}

/** The last part that begins at or before the entry after this seq. */
function partAt(
  log: IndexedLog,
  after: number,
): { readonly part: ReadablePart; readonly next: ReadablePart | undefined; readonly isFirst: boolean } {
  const { rest = [], index } = log;
  const nth = rest.findLastIndex(({ firstSeq }) => firstSeq - 1 <= after);
  const beginning: ReadablePart = {
    firstSeq: 1,
    lastSeq: index.head.headSeq,
    seqs: (request) => index.seqs(request),
    damage: null,
  };
  return { part: rest[nth] ?? beginning, next: rest[nth + 1], isFirst: nth === -1 };
}

function seqsAfter(log: IndexedLog, request: SeqRequest): readonly number[] {
  const { after = 0, until = Number.POSITIVE_INFINITY, limit } = request;
  const { part, next, isFirst } = partAt(log, after);
  const seqs = part.seqs(request);
  // The last part ends where the log does; the beginning never does, or nothing would be damaged.
  const ends = next === undefined && !isFirst;
  if (seqs.length >= limit || until <= part.lastSeq || ends) return seqs;
  throw next?.damage ?? log.damage;
}

function seqsBefore(log: IndexedLog, request: SeqRequest): readonly number[] {
  const { after = Number.POSITIVE_INFINITY, until = Number.NEGATIVE_INFINITY, limit } = request;
  const { part, next, isFirst } = partAt(log, after - 2);
  const ends = next === undefined && !isFirst;
  if (after - 1 > part.lastSeq && !ends) throw next?.damage ?? log.damage;
  const seqs = part.seqs(request);
  if (seqs.length >= limit || until >= part.firstSeq || isFirst) return seqs;
  throw part.damage ?? log.damage;
}
