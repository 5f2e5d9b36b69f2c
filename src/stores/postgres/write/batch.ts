import type { Batch } from "#log/batch";
import { entryDigest } from "#log/batch-links";
import { FORMAT_VERSION } from "#log/entry";
import { SETTING_TYPES, typeNumber } from "#log/entry-types";
import type { ConversationId } from "#log/ids";
import type { Head } from "#log/lineage/head";
import { runChangesOf } from "#log/plans/head-change";
import { linkOf, type OpenedSegment, type WritePlan } from "#log/plans/plan-append";
import type { LastRun } from "#log/runs/run-count";
import { sha256 } from "#store/sha256";
import { packPlan, packRows, type PlanFields } from "#stores/postgres/tables/packed-plan";
import { textOut, escapeText, nameDigest } from "#stores/postgres/tables/rows";

export interface BatchWrite {
  readonly space: string;
  readonly conversation: ConversationId;
  readonly head: Head;
  readonly plan: WritePlan;
  readonly batch: Pick<Batch, "key" | "digest" | "drafts">;
}

/** The parameters of every write of a batch; `more` is what an append says besides. */
export function batchValues(write: BatchWrite, more: PlanFields = {}): readonly unknown[] {
  const { plan, batch } = write;
  const { entries } = plan;
  const fields: PlanFields = {
    count: entries.length,
    version: FORMAT_VERSION,
    digest: batch.digest,
    byOwner: plan.change.byOwner,
    eachId: entries.map(({ id }) => id),
    eachType: entries.map(({ type }) => type),
    eachTime: entries.map(({ time }) => time),
    eachParent: entries.map(({ parentId }) => parentId),
    eachSegment: entries.map(({ place }) => place?.segment),
    eachDepth: entries.map(({ place }) => place?.depth),
    eachKind: entries.map(({ type }) => typeNumber(type)),
    ...more,
  };
  return [
    write.space,
    write.conversation,
    batch.key === null ? null : escapeText(batch.key),
    packPlan(fields),
    packRows(entries.map(({ payload }) => payload)),
    rareRows(write),
  ];
}

/** Whether the plan says seqs of its own, so that it holds at one head only. */
export function namesSeqs({ head, plan }: Pick<BatchWrite, "head" | "plan">): boolean {
  const runs = runChangesOf(head, plan.change);
  return runs !== null && runs.started.length + runs.finished.length > 0;
}

/** What few batches have besides their entries, as JSON; null for the others. */
function rareRows(write: BatchWrite): string | null {
  const { plan, batch, head } = write;
  const hides: unknown[] = [];
  const labels: unknown[] = [];
  for (const { type, offset, target } of plan.entries) {
    if (target === null || !target.place) continue;
    const body = batch.drafts[offset]?.draft.body;
    if (type === "hide")
      hides.push({
        at: offset,
        depth: target.place.depth,
        holder: target.place.conversation,
        target: target.id,
        hidden: body?.["hidden"] !== false,
      });
    if (type === "label") labels.push({ at: offset, target: target.id, label: nameDigest(labelIn(body)) });
  }
  const runs = runChangesOf(head, plan.change);
  const { title, cwd } = plan.change;
  const isUsual = hides.length === 0 && labels.length === 0 && plan.segments.length === 0 && runs === null;
  if (isUsual && title === undefined && cwd === undefined) return null;
  const segments = plan.segments.map((opened) => segmentRow(opened));
  const naming = { title: textOut(title ?? null), cwd: textOut(cwd ?? null) };
  return JSON.stringify({ segments, hides, labels, ...runRows(runs), ...naming });
}

function labelIn(body: { readonly [name: string]: unknown } | undefined): string {
  const label = body?.["label"];
  return typeof label === "string" ? label : "";
}

function segmentRow({ segment, ancestor, settings }: OpenedSegment): unknown {
  const marks: { [number: number]: readonly unknown[] } = {};
  for (const type of SETTING_TYPES) {
    const place = settings[type];
    if (place !== undefined) marks[typeNumber(type) ?? 0] = [place.conversation, place.segment, place.depth];
  }
  return {
    segment,
    ancestor_conversation: ancestor?.conversation ?? null,
    ancestor_segment: ancestor?.segment ?? null,
    ancestor_depth: ancestor?.depth ?? null,
    marks,
  };
}

/** A run that begins and ends in one batch is one row, written once: a statement does not see its own rows. */
function runRows(runs: ReturnType<typeof runChangesOf>): {
  readonly started: unknown;
  readonly finished: unknown;
} {
  const finished = new Map((runs?.finished ?? []).map((last) => [last.counted?.startSeq, last]));
  const started = (runs?.started ?? []).flatMap((begun) => {
    const { counted, run, trigger, mailbox, startedAt } = begun;
    if (counted === null) return [];
    const over = finished.get(counted.startSeq);
    finished.delete(counted.startSeq);
    return [
      {
        run: nameDigest(run),
        trigger: nameDigest(trigger),
        mailbox: mailbox === null ? null : nameDigest(mailbox),
        started_at: startedAt,
        ...overColumns(begun, over),
      },
    ];
  });
  const over = [...finished.values()].map((last) => overColumns(last, last));
  const again = (runs?.reopened ?? []).map((run) => overColumns(run, undefined));
  return { started, finished: [...over, ...again] };
}

/** The columns of a run's row, found by its start, once the run is over. */
function overColumns(
  { counted }: LastRun,
  over: LastRun | undefined,
): { readonly seq: number | null; readonly end_seq: number | null; readonly finished: string | null } {
  const seq = counted?.startSeq ?? null;
  if (over === undefined) return { seq, end_seq: null, finished: null };
  return { seq, end_seq: over.counted?.endSeq ?? null, finished: JSON.stringify(over) };
}

/**
 * What the link of the batch is made of: the link itself for a log that ends as is known here, and the parts that are known
 * before its seq is, between which a statement puts the others.
 */
export function linkFields(head: Head, plan: WritePlan): PlanFields {
  const digests = plan.entries.map((entry) => entryDigest(sha256, entry));
  const after = [plan.change.byOwner ? "owner" : "outside"];
  for (const [index, { parentId }] of plan.entries.entries())
    after.push(parentId ?? "", digests[index] ?? "");
  const { headSeq, link } = head;
  return {
    knownSeq: headSeq,
    knownLink: link,
    nextLink: link === null ? null : linkOf(sha256, plan, { headSeq, previous: link, digests }),
    linkStart: withLength(String(FORMAT_VERSION)),
    linkEnd: after.map(withLength).join(""),
  };
}

function withLength(part: string): string {
  return `${Buffer.byteLength(part)}:${part}`;
}
