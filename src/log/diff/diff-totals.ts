import type { Entry } from "#log/entry";
import { summaryChange } from "#log/entry-types";
import { changeSummary, EMPTY_SUMMARY, type SummaryChange, type UsageTotals } from "#log/summary";
import type { DiffItem } from "./diff-item.ts";
import type { DiffSide, DiffTurns } from "./diff-turns.ts";

/** What a branch is in numbers, from the common start on. */
export interface DiffTotals {
  readonly turns: number;
  /** Answers of a model. */
  readonly steps: number;
  readonly calls: number;
  /** Calls by the name of their tool. */
  readonly tools: { readonly [name: string]: number };
  /** Who answered, in the order of their first answers. */
  readonly models: readonly string[];
  readonly usage: UsageTotals;
  /** From each prompt to the end of its turn; what lies between turns does not count. */
  readonly wallMs: number;
}

/** `msOf` reads a time: the rules have no calendar. */
export function diffTotals(
  { nodes }: DiffSide,
  turns: DiffTurns,
  items: readonly DiffItem[],
  msOf: (time: string) => number,
): DiffTotals {
  const tools = new Map<string, number>();
  for (const item of items) if (item.kind === "call") tools.set(item.name, (tools.get(item.name) ?? 0) + 1);
  const models = new Set<string>();
  let steps = 0;
  for (const node of nodes) {
    if (node.type !== "message" || node.message.role !== "assistant") continue;
    steps++;
    if (node.message.model !== undefined) models.add(node.message.model);
  }
  return {
    turns: turns.count,
    steps,
    calls: items.filter(({ kind }) => kind === "call").length,
    tools: Object.fromEntries(tools),
    models: [...models],
    usage: spentOn([...nodes, ...[...turns.facts.values()].flat()]),
    wallMs: wallTime(nodes, turns, msOf),
  };
}

function spentOn(entries: readonly Entry[]): UsageTotals {
  const changes = entries.flatMap((entry): readonly SummaryChange[] => {
    const spent = summaryChange(entry.type, entry, entry.time)?.spent;
    return spent === undefined ? [] : [{ spent }];
  });
  return changeSummary(EMPTY_SUMMARY, changes, 0).usage;
}

function wallTime(
  nodes: readonly Entry[],
  { numbers, facts }: DiffTurns,
  msOf: (time: string) => number,
): number {
  const spans = new Map<number, { from: number; to: number }>();
  const extend = (turn: number, { time }: Entry): void => {
    const ms = msOf(time);
    if (Number.isNaN(ms)) return;
    const span = spans.get(turn);
    if (span === undefined) spans.set(turn, { from: ms, to: ms });
    else [span.from, span.to] = [Math.min(span.from, ms), Math.max(span.to, ms)];
  };
  for (const [index, node] of nodes.entries()) if (node.type === "message") extend(numbers[index] ?? 1, node);
  for (const [turn, entries] of facts) for (const fact of entries) extend(turn, fact);
  return [...spans.values()].reduce((sum, { from, to }) => sum + to - from, 0);
}
