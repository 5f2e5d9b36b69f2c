import { LABEL_OF, LABEL_TARGET_OF } from "./schema.ts";
import type { Sql } from "./sql.ts";

/** Ids that start with a text, which is given twice. */
export const STARTING = "id >= ? AND id < ? || char(0x10ffff)";

const FEW = 64; // rows of a name in the whole store; where there are more, each log is asked for it
const HOLDERS = {
  id: `SELECT conversation FROM entries INDEXED BY entries_id WHERE id = ? LIMIT ${FEW + 1}`,
  prefix: `SELECT conversation FROM entries INDEXED BY entries_id WHERE ${STARTING} LIMIT ${FEW + 1}`,
  label: `SELECT conversation FROM entries INDEXED BY entries_label WHERE kind = 32 AND ${LABEL_OF} IS ? LIMIT ${FEW + 1}`,
  target: `SELECT conversation FROM entries INDEXED BY entries_label_target
    WHERE kind = 32 AND ${LABEL_TARGET_OF} IS ? LIMIT ${FEW + 1}`,
};

/**
 * Those of some logs that hold a name. Names are rarely shared, so the index is asked once who has it: a fork of a hundred
 * forks does not ask a hundred logs.
 */
export function holding(
  sql: Sql,
  by: keyof typeof HOLDERS,
  name: readonly (string | null)[],
  logs: ReadonlySet<number>,
): readonly number[] {
  const rows = sql.all<[number]>(HOLDERS[by], ...name);
  if (rows.length > FEW) return [...logs];
  return [...new Set(rows.map(([row]) => row).filter((row) => logs.has(row)))];
}
