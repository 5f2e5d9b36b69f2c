import type { EntryOf, Metadata, Parent, TurnOutcome, Entry } from "./entry.ts";
import type { Usage } from "./message.ts";
import type { EntryId } from "./ids.ts";
import { addUsage, COUNTERS, type UsagePart, NO_USAGE, type UsageSum } from "./add-usage.ts";
import { changeCounts, type EntryCounts, NO_COUNTS, storeCounts } from "./entry-counts.ts";
import {
  beginsAnother,
  countEntry,
  countTurn,
  endedRun,
  interruptedRun,
  isOpen,
  type LastRun,
  noteFinished,
  noteReopened,
  readStoredRun,
  type RunChanges,
  type RunEnd,
  type RunStart,
  startedRun,
} from "./runs/run-count.ts";

/**
 * Totals over a conversation's own entries, on every branch: what a fork inherited was paid by its source, also where
 * an import made it part of the log.
 */
export interface UsageTotals extends UsageSum {
  readonly byModel: { readonly [model: string]: UsageSum };
}

/** The latest fact about turns. */
export type LastTurn =
  | {
      readonly state: "open";
      readonly turn: string;
      readonly prompt: EntryId | null;
      readonly since: string;
      /** The run it belongs to. */
      readonly run?: string;
    }
  | {
      readonly state: "ended";
      readonly turn: string;
      readonly outcome: TurnOutcome;
      /** When the agent accepts prompts again, where it said so. */
      readonly resetAt: string | null;
    };

/** What lists show of a conversation beyond its head, over its own entries on every branch: kept by the append. */
export interface Summary {
  /** The model last chosen, or, while none was, the one that last replied. */
  readonly model: string | null;
  readonly modelChosen: boolean;
  /** Who carried it last. */
  readonly agent: string | null;
  /** How often it went on to another upstream session. */
  readonly rollovers: number;
  /** Ends of its own branches. */
  readonly branches: number;
  readonly turn: LastTurn | null;
  readonly run: LastRun | null;
  /** The conversation that began it. */
  readonly parent: Parent | null;
  /** It is kept for a program, and only a list that asks for such logs shows it. */
  readonly unlisted: boolean;
  readonly metadata: Metadata;
  readonly usage: UsageTotals;
  /** The upstream sessions it has had. */
  readonly links: number;
  /** The last entry that an import copied of what it was forked with: usage up to it belongs to the source. */
  readonly inheritedUpTo: EntryId | null;
  /** Null: not counted, in a log from before appends did. */
  readonly counts: EntryCounts | null;
}

/** The change that one entry makes: sets and increments, so that it holds whatever came in between. */
export interface SummaryChange {
  readonly model?: { readonly name: string; readonly chosen: boolean };
  /** It went on to a session of this agent. */
  readonly agent?: string;
  readonly turn?: LastTurn;
  readonly run?: RunStart;
  readonly runEnd?: RunEnd;
  /** It is about a tool call. */
  readonly call?: "message" | "intent";
  /** Where in the batch that is which a number is kept of. */
  readonly offset?: number;
  /** A model has answered. */
  readonly replied?: true;
  /** Words were delivered into the open turn. */
  readonly steered?: true;
  readonly parent?: Parent;
  readonly unlisted?: true;
  readonly metadata?: EntryOf<"metadata">["metadata"];
  readonly spent?: { readonly model: string; readonly usage: Usage };
  readonly inheritedUpTo?: EntryId;
  /** The usage so far was paid by another conversation. */
  readonly inherited?: true;
}

export const EMPTY_SUMMARY: Summary = {
  model: null,
  modelChosen: false,
  agent: null,
  rollovers: 0,
  branches: 0,
  turn: null,
  run: null,
  parent: null,
  unlisted: false,
  metadata: {},
  usage: { ...NO_USAGE, byModel: {} },
  links: 0,
  inheritedUpTo: null,
  counts: NO_COUNTS,
};

type MutableSummary = { -readonly [K in keyof Summary]: Summary[K] };

/**
 * The summary after changes in their order; the same one where they change nothing. `headSeq`: the last entry before
 * them. `runs`: takes the rows of runs that they began and finished.
 */
export function changeSummary(
  summary: Summary,
  changes: readonly SummaryChange[],
  headSeq: number,
  runs: RunChanges | null = null,
): Summary {
  const next: MutableSummary = { ...summary };
  for (const change of changes) {
    const seq = headSeq + 1 + (change.offset ?? 0);
    countForRun(next, change, runs);
    applyChange(next, change);
    changeRun(next, change, seq, runs);
    if (next.counts !== null) next.counts = changeCounts(next.counts, change, seq);
  }
  const names = Object.keys(summary) as (keyof Summary)[];
  return names.every((name) => next[name] === summary[name]) ? summary : next;
}

function applyChange(next: MutableSummary, change: SummaryChange): void {
  const { model, agent, turn, parent, metadata, spent } = change;
  if (model !== undefined && (model.chosen || !next.modelChosen))
    [next.model, next.modelChosen] = [model.name, model.chosen];
  if (agent !== undefined) {
    next.agent = agent;
    next.rollovers = next.links;
    next.links += 1;
  }
  if (turn !== undefined) next.turn = turn;
  if (parent !== undefined) next.parent = parent;
  if (change.unlisted === true) next.unlisted = true;
  if (metadata !== undefined) next.metadata = changeMetadata(next.metadata, metadata);
  if (spent !== undefined) next.usage = addSpent(next.usage, spent);
  if (change.inheritedUpTo !== undefined) next.inheritedUpTo = change.inheritedUpTo;
  if (change.inherited === true) [next.usage, next.inheritedUpTo] = [EMPTY_SUMMARY.usage, null];
}

/** Before the turn changes: what ends a turn was still spent in it. */
function countForRun(next: MutableSummary, change: SummaryChange, runs: RunChanges | null): void {
  if (next.run === null) return;
  const { spent, replied, steered, turn } = change;
  const open = next.turn?.state === "open" ? next.turn.run : undefined;
  if (spent !== undefined || replied === true || steered === true) {
    const [steps, prompts] = [replied === true ? 1 : 0, steered === true ? 1 : 0];
    next.run = countEntry(next.run, open, { usage: spent?.usage ?? null, steps, prompts });
  }
  if (turn?.state !== "open") return;
  const before = next.run;
  next.run = countTurn(before, turn.run, turn.prompt);
  if (runs !== null && isOpen(next.run) && !isOpen(before)) noteReopened(runs, next.run);
}

function changeRun(
  next: MutableSummary,
  { run, runEnd }: SummaryChange,
  seq: number,
  runs: RunChanges | null,
): void {
  const before = next.run;
  if (run !== undefined && beginsAnother(before, run)) {
    next.run = startedRun(run, seq);
    const over = interruptedRun(before, next.run);
    if (over !== null && runs !== null) noteFinished(runs, over);
    runs?.started.push(next.run);
  }
  const over = runEnd === undefined ? null : endedRun(next.run, runEnd, seq);
  if (over === null) return;
  next.run = over;
  if (runs !== null) noteFinished(runs, over);
}

function addSpent(totals: UsageTotals, { model, usage }: NonNullable<SummaryChange["spent"]>): UsageTotals {
  const { byModel } = totals;
  const earlier = Object.hasOwn(byModel, model) ? (byModel[model] ?? NO_USAGE) : NO_USAGE;
  return { ...addUsage(totals, usage), byModel: { ...byModel, [model]: addUsage(earlier, usage) } };
}

/** A summary as stored: members that are the same as in an empty one are left out. */
export type StoredSummary = Partial<Omit<Summary, "usage" | "counts">> & {
  readonly counts?: Partial<EntryCounts>;
  readonly usage?: UsagePart & { readonly byModel: { readonly [model: string]: UsagePart } };
};

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/** Member by member, like `addUsage`, and always in this order. */
export function storeSummary(summary: Summary): StoredSummary {
  const { usage, metadata } = summary;
  const stored: Mutable<StoredSummary> = {};
  if (summary.model !== null) stored.model = summary.model;
  if (summary.modelChosen) stored.modelChosen = true;
  if (summary.agent !== null) stored.agent = summary.agent;
  if (summary.rollovers !== 0) stored.rollovers = summary.rollovers;
  if (summary.branches !== 0) stored.branches = summary.branches;
  if (summary.turn !== null) stored.turn = summary.turn;
  if (summary.run !== null) stored.run = summary.run;
  if (summary.parent !== null) stored.parent = summary.parent;
  if (summary.unlisted) stored.unlisted = true;
  if (summary.links !== 0) stored.links = summary.links;
  if (summary.inheritedUpTo !== null) stored.inheritedUpTo = summary.inheritedUpTo;
  // Also where it is zero: an absent member was not counted.
  if (summary.counts !== null) stored.counts = storeCounts(summary.counts);
  if (!isEmpty(metadata)) stored.metadata = metadata;
  if (isEmpty(usage.byModel)) return stored;
  const models = Object.entries(usage.byModel).map(([model, one]) => [model, storeUsage(one)] as const);
  stored.usage = { ...storeUsage(usage), byModel: Object.fromEntries(models) };
  return stored;
}

function storeUsage(usage: UsageSum): UsagePart {
  const stored: Mutable<UsagePart> = {};
  for (const counter of COUNTERS) if (usage[counter]) stored[counter] = usage[counter];
  // Also where it is zero: an absent member was not counted.
  stored.unpricedAnswers = usage.unpricedAnswers;
  return stored;
}

function isEmpty(object: object): boolean {
  return Object.keys(object).length === 0;
}

/** Member by member: a list reads a hundred of them. */
export function readStoredSummary(stored: StoredSummary): Summary {
  return {
    model: stored.model ?? null,
    modelChosen: stored.modelChosen ?? false,
    agent: stored.agent ?? null,
    rollovers: stored.rollovers ?? 0,
    branches: stored.branches ?? 0,
    turn: stored.turn ?? null,
    run: stored.run === undefined || stored.run === null ? null : readStoredRun(stored.run),
    parent: stored.parent ?? null,
    unlisted: stored.unlisted ?? false,
    links: stored.links ?? 0,
    inheritedUpTo: stored.inheritedUpTo ?? null,
    counts: stored.counts === undefined ? null : { ...NO_COUNTS, ...stored.counts },
    metadata: stored.metadata ?? EMPTY_SUMMARY.metadata,
    usage: stored.usage === undefined ? EMPTY_SUMMARY.usage : readUsage(stored.usage),
  };
}

function readUsage(stored: NonNullable<StoredSummary["usage"]>): UsageTotals {
  const models = Object.entries(stored.byModel).map(
    ([model, one]) => [model, addUsage(NO_USAGE, one)] as const,
  );
  const total = models.reduce((sum, [, one]) => addUsage(sum, one), NO_USAGE);
  return { ...total, byModel: Object.fromEntries(models) };
}

function isNumbered({ run, runEnd, turn, call }: SummaryChange): boolean {
  return run !== undefined || runEnd !== undefined || turn !== undefined || call !== undefined;
}

interface ChangedBy {
  readonly id: EntryId;
  readonly summaryChange: SummaryChange | null;
}

/** What entries in a row change. `inheritedUpTo`: as the summary before them has it. */
export function summaryChanges(
  entries: readonly ChangedBy[],
  inheritedUpTo: EntryId | null = null,
): readonly SummaryChange[] {
  const changes: SummaryChange[] = [];
  let until = inheritedUpTo;
  for (const [offset, { id, summaryChange }] of entries.entries()) {
    if (summaryChange !== null)
      changes.push(isNumbered(summaryChange) ? { ...summaryChange, offset } : summaryChange);
    until = summaryChange?.inheritedUpTo ?? until;
    if (id === until) changes.push({ inherited: true });
  }
  return changes;
}

/** What a conversation is filed under now, from its `metadata` facts, oldest first. */
export function metadataOf(entries: Iterable<Entry>): Metadata {
  let metadata: Metadata = {};
  for (const entry of entries)
    if (entry.type === "metadata") metadata = changeMetadata(metadata, entry.metadata);
  return metadata;
}

/** Writing one member leaves the others alone, so that two concurrent writers do not undo each other. */
function changeMetadata(metadata: Metadata, change: EntryOf<"metadata">["metadata"]): Metadata {
  const merged = { ...metadata, ...change };
  return Object.fromEntries(Object.entries(merged).filter(([, value]) => value !== null));
}
