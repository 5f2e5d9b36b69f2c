import type { Bodies, EntryOf, Metadata, Parent, TurnOutcome } from "./entry.ts";
import type { Usage } from "./message.ts";
import type { EntryId } from "./ids.ts";
import { changeMetadata } from "./projections/metadata.ts";

const COUNTERS = [
  "inputTokens",
  "outputTokens",
  "cacheReadTokens",
  "cacheWriteTokens",
  "costMicros",
] as const;

/**
 * Totals over a conversation's own entries, on every branch: what a fork inherited was paid by its source, also where
 * an import made it part of the log.
 */
export interface UsageTotals extends Required<Usage> {
  readonly byModel: { readonly [model: string]: Required<Usage> };
}

/** The latest fact about turns. */
export type LastTurn =
  | {
      readonly state: "open";
      readonly turn: string;
      readonly prompt: EntryId | null;
      readonly since: string;
    }
  | {
      readonly state: "ended";
      readonly turn: string;
      readonly outcome: TurnOutcome;
      /** When whoever carried it is free again, where it said so. */
      readonly resetAt: string | null;
    };

export interface LastRun {
  readonly run: string;
  readonly trigger: string;
  /** `open` until a run_end says how it went. */
  readonly status: string;
  readonly startedAt: string;
  readonly endedAt: string | null;
}

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
  /** The last entry that an import brought of what it was forked with: what was spent up to it is not its own. */
  readonly inheritedUpTo: EntryId | null;
}

/** What one entry changes of it: sets and increments, so that it holds whatever came in between. */
export interface SummaryChange {
  readonly model?: { readonly name: string; readonly chosen: boolean };
  /** It went on to a session of this agent. */
  readonly agent?: string;
  readonly turn?: LastTurn;
  readonly run?: LastRun;
  readonly runEnd?: Pick<LastRun, "run" | "status" | "endedAt">;
  readonly parent?: Parent;
  readonly unlisted?: true;
  readonly metadata?: EntryOf<"metadata">["metadata"];
  readonly spent?: { readonly model: string; readonly usage: Usage };
  readonly inheritedUpTo?: EntryId;
  /** What was spent so far was paid by another conversation. */
  readonly inherited?: true;
}

const NO_USAGE: Required<Usage> = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicros: 0,
};

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
};

type MutableSummary = { -readonly [K in keyof Summary]: Summary[K] };

/** The summary after changes in their order. */
export function changeSummary(summary: Summary, changes: readonly SummaryChange[]): Summary {
  const next: MutableSummary = { ...summary };
  for (const change of changes) applyChange(next, change);
  return next;
}

function applyChange(next: MutableSummary, change: SummaryChange): void {
  const { model, agent, turn, run, runEnd, parent, metadata, spent } = change;
  if (model !== undefined && (model.chosen || !next.modelChosen))
    [next.model, next.modelChosen] = [model.name, model.chosen];
  if (agent !== undefined) {
    next.agent = agent;
    next.rollovers = next.links;
    next.links += 1;
  }
  if (turn !== undefined) next.turn = turn;
  if (run !== undefined) next.run = run;
  if (runEnd !== undefined && next.run?.run === runEnd.run) next.run = { ...next.run, ...runEnd };
  if (parent !== undefined) next.parent = parent;
  if (change.unlisted === true) next.unlisted = true;
  if (metadata !== undefined) next.metadata = changeMetadata(next.metadata, metadata);
  if (spent !== undefined) next.usage = addSpent(next.usage, spent);
  if (change.inheritedUpTo !== undefined) next.inheritedUpTo = change.inheritedUpTo;
  if (change.inherited === true) [next.usage, next.inheritedUpTo] = [EMPTY_SUMMARY.usage, null];
}

function addSpent(totals: UsageTotals, { model, usage }: NonNullable<SummaryChange["spent"]>): UsageTotals {
  const { byModel } = totals;
  const known = Object.hasOwn(byModel, model) ? (byModel[model] ?? NO_USAGE) : NO_USAGE;
  return { ...addUsage(totals, usage), byModel: { ...byModel, [model]: addUsage(known, usage) } };
}

/** Member by member: it is done for every reply, and a loop over names takes ten times as long. */
function addUsage(total: Required<Usage>, usage: Usage): Required<Usage> {
  return {
    inputTokens: total.inputTokens + (usage.inputTokens ?? 0),
    outputTokens: total.outputTokens + (usage.outputTokens ?? 0),
    cacheReadTokens: total.cacheReadTokens + (usage.cacheReadTokens ?? 0),
    cacheWriteTokens: total.cacheWriteTokens + (usage.cacheWriteTokens ?? 0),
    costMicros: total.costMicros + (usage.costMicros ?? 0),
  };
}

/** A summary as it is written down: what is as in an empty one is left out. */
export type StoredSummary = Partial<Omit<Summary, "usage">> & {
  readonly usage?: Usage & { readonly byModel: { readonly [model: string]: Usage } };
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
  if (!isEmpty(metadata)) stored.metadata = metadata;
  if (isEmpty(usage.byModel)) return stored;
  const models = Object.entries(usage.byModel).map(([model, one]) => [model, storeUsage(one)] as const);
  stored.usage = { ...storeUsage(usage), byModel: Object.fromEntries(models) };
  return stored;
}

function storeUsage(usage: Usage): Usage {
  const stored: Mutable<Usage> = {};
  for (const counter of COUNTERS) if (usage[counter]) stored[counter] = usage[counter];
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
    run: stored.run ?? null,
    parent: stored.parent ?? null,
    unlisted: stored.unlisted ?? false,
    links: stored.links ?? 0,
    inheritedUpTo: stored.inheritedUpTo ?? null,
    metadata: stored.metadata ?? EMPTY_SUMMARY.metadata,
    usage: stored.usage === undefined ? EMPTY_SUMMARY.usage : readUsage(stored.usage),
  };
}

function readUsage(stored: NonNullable<StoredSummary["usage"]>): UsageTotals {
  const models = Object.entries(stored.byModel).map(([model, one]) => [model, { ...NO_USAGE, ...one }]);
  const byModel = Object.fromEntries(models) as UsageTotals["byModel"];
  return { ...NO_USAGE, ...stored, byModel };
}

interface ChangedBy {
  readonly id: EntryId;
  readonly listed: SummaryChange | null;
}

/** What entries in a row change. `inheritedUpTo`: as the summary before them has it. */
export function summaryChanges(
  entries: readonly ChangedBy[],
  inheritedUpTo: EntryId | null = null,
): readonly SummaryChange[] {
  const changes: SummaryChange[] = [];
  let until = inheritedUpTo;
  for (const { id, listed } of entries) {
    if (listed !== null) changes.push(listed);
    until = listed?.inheritedUpTo ?? until;
    if (id === until) changes.push({ inherited: true });
  }
  return changes;
}

// What each type of entry contributes, by its body; the table of entry types says which does what.

type Listing<T extends keyof Bodies> = (body: Bodies[T], time: string) => SummaryChange | null;

export const begun: Listing<"conversation"> = ({ parent, forkedFrom, unlisted }) =>
  parent === undefined && forkedFrom === undefined && unlisted !== true
    ? null
    : {
        ...(parent === undefined ? {} : { parent }),
        ...(unlisted === true ? { unlisted } : {}),
        ...(forkedFrom === undefined ? {} : { inheritedUpTo: forkedFrom.entry }),
      };

export const replied: Listing<"message"> = ({ message }) => {
  if (message.role !== "assistant") return null;
  const { model = "", usage } = message;
  if (model === "" && usage === undefined) return null;
  return { ...(model === "" ? {} : { model: { name: model, chosen: false } }), ...spentBy(message) };
};

export const chosen: Listing<"model_change"> = ({ model }) => ({ model: { name: model, chosen: true } });

/** It stands on a message, or where an attempt left none, at its end; format 1 had it on the attempt or the turn's end. */
export function spentBy(body: {
  readonly usage?: Usage;
  readonly model?: string;
}): Pick<SummaryChange, "spent"> | null {
  const { usage, model = "unknown" } = body;
  if (usage === undefined) return null;
  const counted: { -readonly [K in keyof Usage]: number } = {};
  for (const counter of COUNTERS) if (usage[counter] !== undefined) counted[counter] = usage[counter];
  return { spent: { model, usage: counted } };
}

export const turnBegun: Listing<"turn_start"> = ({ turn, prompt = null }, time) => ({
  turn: { state: "open", turn, prompt, since: time },
});

export const turnEnded: Listing<"turn_end"> = (body) => {
  const { turn, outcome, resetAt = null } = body;
  return { turn: { state: "ended", turn, outcome, resetAt }, ...spentBy(body) };
};

export const runBegun: Listing<"run_start"> = ({ run, trigger }, time) => ({
  run: { run, trigger, status: "open", startedAt: time, endedAt: null },
});

export const runEnded: Listing<"run_end"> = ({ run, status }, time) => ({
  runEnd: { run, status, endedAt: time },
});

export const linked: Listing<"upstream_link"> = ({ agent }) => ({ agent });

export const filed: Listing<"metadata"> = ({ metadata }) => ({ metadata });
