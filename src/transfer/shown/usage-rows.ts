import { isUnpriced } from "#agent/models/model-table";
import type { Conversation } from "#conversation/conversation";
import { decodeEntry } from "#log/codec";
import type { Usage } from "#log/message";
import { DailyUsage } from "#log/projections/daily-usage";

export const USAGE_BY = ["day", "model", "conversation"] as const;
/** What usage is added up by. */
export type UsageBy = (typeof USAGE_BY)[number];

type Total = Required<Usage>;

/** What was used under one name. */
export interface CountedUsage {
  readonly name: string;
  readonly total: Total;
  /** Tokens of models whose price is not known are in no cost. */
  readonly isWhole: boolean;
}

/** Adds what a conversation used. */
export async function countUsage(conversation: Conversation, by: UsageBy, rows: UsageRows): Promise<void> {
  if (by !== "day") {
    const { byModel } = await conversation.usage();
    for (const [model, used] of Object.entries(byModel))
      rows.add(by === "model" ? model : conversation.id, model, used);
    return;
  }
  const days = new DailyUsage();
  for await (const stored of conversation.log()) days.add(decodeEntry(stored));
  for (const { day, model, usage: used } of days.result()) rows.add(day, model, used);
}

/** Totals by name. */
export class UsageRows {
  readonly #rows = new Map<string, CountedUsage>();

  add(name: string, model: string, used: Total): void {
    const row = this.#rows.get(name) ?? { name, total: NOTHING, isWhole: true };
    const isWhole = row.isWhole && !isUnpriced(model, used);
    this.#rows.set(name, { name, total: sum([row.total, used]), isWhole });
  }

  result(): readonly CountedUsage[] {
    return [...this.#rows.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }
}

const NOTHING: Total = {
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costMicros: 0,
};

function sum(totals: readonly Total[]): Total {
  const all = { ...NOTHING };
  for (const one of totals)
    for (const counter of Object.keys(NOTHING) as (keyof Total)[]) all[counter] += one[counter];
  return all;
}

/** The same for programs: what nobody knows the price of has not cost nothing. */
export interface UsageRow extends Omit<Total, "costMicros"> {
  readonly name: string;
  readonly costMicros: number | null;
  readonly costIsWhole: boolean;
}

function jsonRow({ name, total, isWhole }: CountedUsage): UsageRow {
  const costMicros = !isWhole && total.costMicros === 0 ? null : total.costMicros;
  return { name, ...total, costMicros, costIsWhole: isWhole };
}

export function totalOf(counted: readonly CountedUsage[]): CountedUsage {
  return {
    name: "total",
    total: sum(counted.map(({ total }) => total)),
    isWhole: counted.every(({ isWhole }) => isWhole),
  };
}

/** All of them and their total. */
export function usageJson(
  by: UsageBy,
  counted: readonly CountedUsage[],
): { readonly by: UsageBy; readonly rows: readonly UsageRow[]; readonly total: Omit<UsageRow, "name"> } {
  const { name: _, ...total } = jsonRow(totalOf(counted));
  return { by, rows: counted.map(jsonRow), total };
}
