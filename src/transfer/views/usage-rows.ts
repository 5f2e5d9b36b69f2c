import type { Conversation } from "#conversation/conversation";
import { addUsage, NO_USAGE, type UsageSum } from "#log/add-usage";
import { decodeEntry } from "#log/codec";
import { DailyUsage } from "#log/projections/daily-usage";

export const USAGE_BY = ["day", "model", "conversation"] as const;
/** What usage is added up by. */
export type UsageBy = (typeof USAGE_BY)[number];

/** The usage under one name. */
export interface UsageRow extends UsageSum {
  readonly name: string;
}

/** Adds what a conversation used. */
export async function countUsage(conversation: Conversation, by: UsageBy, rows: UsageRows): Promise<void> {
  if (by !== "day") {
    const { byModel } = await conversation.usage();
    for (const [model, used] of Object.entries(byModel))
      rows.add(by === "model" ? model : conversation.id, used);
    return;
  }
  const days = new DailyUsage();
  for await (const stored of conversation.log()) days.add(decodeEntry(stored));
  for (const { day, usage } of days.result()) rows.add(day, usage);
}

/** Totals by name. */
export class UsageRows {
  readonly #rows = new Map<string, UsageRow>();

  add(name: string, used: UsageSum): void {
    this.#rows.set(name, { name, ...addUsage(this.#rows.get(name) ?? NO_USAGE, used) });
  }

  result(): readonly UsageRow[] {
    return [...this.#rows.values()].toSorted((one, other) => (one.name < other.name ? -1 : 1));
  }
}

export function totalOf(rows: readonly UsageSum[]): UsageSum {
  return rows.reduce(addUsage, NO_USAGE);
}

/** All of them and their total. */
export function usageJson(
  by: UsageBy,
  rows: readonly UsageRow[],
): { readonly by: UsageBy; readonly rows: readonly UsageRow[]; readonly total: UsageSum } {
  return { by, rows, total: totalOf(rows) };
}
