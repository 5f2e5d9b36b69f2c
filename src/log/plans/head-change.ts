import type { EntryType } from "#log/entry";
import type { Head, Leaf } from "#log/lineage/head";
import { noRunChanges, type RunChanges } from "#log/runs/run-count";
import { changeSummary, type Summary, type SummaryChange } from "#log/summary";

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
  /** What its entries change of what lists show, in their order. */
  readonly summary: readonly SummaryChange[];
  readonly epoch?: number;
  readonly leaf?: Leaf;
  readonly title?: string;
  readonly cwd?: string;
}

/** The head once the batch is in the log, with the link that the store made for it. */
export function changeHead(head: Head, change: HeadChange, link: string): Head {
  const { byOwner } = change;
  const headSeq = head.headSeq + change.entries;
  return {
    ...head,
    headSeq,
    ownerSeq: byOwner ? headSeq : head.ownerSeq,
    epoch: change.epoch ?? head.epoch,
    link,
    ownerLink: byOwner ? link : head.ownerLink,
    leaf: change.leaf ?? head.leaf,
    segments: head.segments + change.segments,
    title: change.title ?? head.title,
    cwd: change.cwd ?? head.cwd,
    updatedAt: change.updatedAt,
    summary: summaryAfter(head, change),
  };
}

/** What lists show once the batch is in the log. A total that was never counted cannot be added to. */
export function summaryAfter(
  { summary, segments, headSeq }: Pick<Head, "summary" | "segments" | "headSeq">,
  change: Pick<HeadChange, "summary" | "segments">,
): Summary | null {
  // The usual batch changes none of it, and unchanged text need not be written again.
  if (summary === null || (change.summary.length === 0 && change.segments === 0)) return summary;
  const changed = changeSummary(summary, change.summary, headSeq);
  const branches = segments + change.segments;
  return changed.branches === branches ? changed : { ...changed, branches };
}

/** The rows of runs that a batch began, finished and opened again, for stores that write them down. */
export function runChangesOf(
  { summary, headSeq }: Pick<Head, "summary" | "headSeq">,
  { summary: changes }: Pick<HeadChange, "summary">,
): RunChanges | null {
  if (summary === null || !changes.some(concernsRuns)) return null;
  const runs = noRunChanges();
  changeSummary(summary, changes, headSeq, runs);
  return runs;
}

function concernsRuns({ run, runEnd, turn }: SummaryChange): boolean {
  return run !== undefined || runEnd !== undefined || (turn?.state === "open" && turn.run !== undefined);
}

/** What one entry changes about its conversation as a whole, by its body alone. */
export function headFieldsOf(
  type: EntryType,
  body: { readonly [name: string]: unknown },
): Pick<HeadChange, "title" | "cwd"> {
  // Well-formed, since not every store can keep a lone surrogate outside of an entry's own text.
  if (type === "title") return { title: String(body["title"]).toWellFormed() };
  if (type !== "conversation" && type !== "cwd") return {};
  const { cwd, title } = body;
  return {
    ...(typeof cwd === "string" ? { cwd: cwd.toWellFormed() } : {}),
    ...(type === "conversation" && typeof title === "string" ? { title: title.toWellFormed() } : {}),
  };
}
