import type { EntryType } from "#log/entry";
import type { Head, Leaf } from "#log/lineage/head";

/**
 * What a batch changes of a head. It is relative: counters are increments, and what is left out stays as it is. So it
 * holds whatever was appended from outside between the plan and the write.
 */
export interface HeadChange {
  readonly entries: number;
  readonly byOwner: boolean;
  /** Segments opened. */
  readonly segments: number;
  readonly updatedAt: string;
  readonly epoch?: number;
  readonly leaf?: Leaf;
  readonly title?: string;
  readonly cwd?: string;
}

/** The head once the batch is in the log, with the link that the store made for it. */
export function changeHead(head: Head, change: HeadChange, link: string): Head {
  const { entries, byOwner, segments, ...set } = change;
  const headSeq = head.headSeq + entries;
  return {
    ...head,
    ...set,
    headSeq,
    ownerSeq: byOwner ? headSeq : head.ownerSeq,
    link,
    ownerLink: byOwner ? link : head.ownerLink,
    segments: head.segments + segments,
  };
}

/** What one entry says about its conversation as a whole, by its body alone. */
export function saidOfHead(
  type: EntryType,
  body: { readonly [name: string]: unknown },
): Pick<HeadChange, "title" | "cwd"> {
  // Well-formed, since not every store can keep a lone surrogate outside of an entry's own text.
  if (type === "title") return { title: String(body["title"]).toWellFormed() };
  const { cwd } = body;
  const moves = type === "conversation" || type === "cwd";
  return moves && typeof cwd === "string" ? { cwd: cwd.toWellFormed() } : {};
}
