import type { ReplayEvent } from "#agent/replay/replay-options";
import type { Divergence } from "#log/diff/diff-branches";
import type { DiffItem } from "#log/diff/diff-item";
import type { DiffRow } from "#log/diff/align-items";
import type { DiffTotals } from "#log/diff/diff-totals";
import type { UsageSum } from "#log/add-usage";
import type { UsageTotals } from "#log/summary";
import { valueChanges } from "#log/diff/value-changes";
import { SCHEMA_VERSION } from "#transfer/context-text";
import type { ComparedBranches } from "#conversation/read-diff";
import type { EntryId } from "#log/ids";

/** A branch as it was asked for. */
export interface NamedBranch {
  /** A, B and so on. */
  readonly letter: string;
  readonly address: string;
  readonly conversation: string;
  readonly entry: EntryId | null;
}

/** Two of them, compared. */
export interface NamedDiff {
  readonly a: NamedBranch;
  readonly b: NamedBranch;
  readonly diff: ComparedBranches;
}

/** A comparison as one object for scripts, in pieces. */
export function* diffJson(
  { a, b, diff }: NamedDiff,
  { isStat, hasAll }: { readonly isStat: boolean; readonly hasAll: boolean },
): Generator<string> {
  const { divergence, totals, counts, start, isSame } = diff;
  const head = JSON.stringify({
    schemaVersion: SCHEMA_VERSION,
    a: { ...branchJson(a), totals: totalsJson(totals.a) },
    b: { ...branchJson(b), totals: totalsJson(totals.b) },
    common: start,
    same: isSame,
    counts,
    divergence: divergenceJson(divergence),
  });
  if (isStat) return yield `${head}\n`;
  yield `${head.slice(0, -1)},"changes":[`;
  let isFirst = true;
  for (const row of diff.rows) {
    if (row.op === "same" && !row.resultDiffers && !hasAll) continue;
    yield `${isFirst ? "" : ","}${JSON.stringify(rowJson(row))}`;
    isFirst = false;
  }
  yield "]}\n";
}

/** Where two part; null where they do not. */
function divergenceJson(divergence: Divergence | null): object | null {
  if (divergence === null) return null;
  const { kind, sameBefore, a, b } = divergence;
  return { kind, sameBefore, a: itemJson(a), b: itemJson(b) };
}

function branchJson({ address, conversation, entry }: NamedBranch): object {
  return { address, conversation, entry };
}

function totalsJson(totals: DiffTotals): object {
  const { usage, ...rest } = totals;
  return { ...rest, ...usageJson(usage) };
}

/** Tokens and cost, without the models. */
export function usageJson({ byModel: _, ...sum }: UsageTotals): UsageSum {
  return sum;
}

function rowJson({ op, a, b, isMoved, resultDiffers }: DiffRow): object {
  const members =
    op === "changed" && a?.kind === "call" && b?.kind === "call" ? valueChanges(a.input, b.input) : null;
  return {
    op,
    kind: (a ?? b)?.kind,
    ...(a === null ? {} : { a: itemJson(a) }),
    ...(b === null ? {} : { b: itemJson(b) }),
    ...(members === null ? {} : { members }),
    ...(isMoved ? { moved: true } : {}),
    ...(resultDiffers ? { resultDiffers: true } : {}),
  };
}

function itemJson(item: DiffItem | null): object | null {
  if (item === null) return null;
  const { entry, turn } = item;
  if (item.kind !== "call") return { kind: item.kind, entry, turn, text: item.text };
  const { call, name, input, result } = item;
  const gave = result === null ? null : { text: result.text, isError: result.isError };
  return { kind: item.kind, entry, turn, call, name, input, result: gave };
}

/** What happens in a replay, for programs. */
export function replayEventJson(event: ReplayEvent): object {
  if (event.type === "turn") return { ...event, divergence: divergenceJson(event.divergence) };
  if (event.type !== "ended") return event;
  const { usage, divergence, ...rest } = event;
  return { ...rest, usage: usageJson(usage), divergence: divergenceJson(divergence) };
}
