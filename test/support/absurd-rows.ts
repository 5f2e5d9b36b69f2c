import type pg from "pg";

/** What a queue of Absurd has of its tasks and their steps, every value as its text. */
export interface AbsurdRows {
  readonly tasks: readonly (readonly (string | null)[])[];
  readonly checkpoints: readonly (readonly (string | null)[])[];
}

const TASKS = ["task_id", "task_name", "params", "enqueue_at", "first_started_at", "state"];
const CHECKPOINTS = ["task_id", "checkpoint_name", "state", "status", "updated_at"];

export async function recordRows(pool: pg.Pool, queue: string): Promise<AbsurdRows> {
  const rows = async (table: string, columns: readonly string[]): Promise<AbsurdRows["tasks"]> =>
    (
      await pool.query<(string | null)[]>({
        text: `select ${columns.map((column) => `${column}::text`).join(", ")} from absurd.${table}_${queue} order by 1, 2`,
        rowMode: "array",
      })
    ).rows;
  return { tasks: await rows("t", TASKS), checkpoints: await rows("c", CHECKPOINTS) };
}

/** A line for each row. */
export function rowLines(rows: AbsurdRows): string {
  const line = (table: string) => (row: readonly (string | null)[]) => `${JSON.stringify({ table, row })}\n`;
  return [...rows.tasks.map(line("tasks")), ...rows.checkpoints.map(line("checkpoints"))].join("");
}

export function readRows(lines: string): AbsurdRows {
  const rows = lines
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { readonly table: string; readonly row: readonly (string | null)[] });
  const of = (name: string): AbsurdRows["tasks"] =>
    rows.flatMap(({ table, row }) => (table === name ? [row] : []));
  return { tasks: of("tasks"), checkpoints: of("checkpoints") };
}

/** Makes the tables of a queue as far as they are read, and fills them with rows that were recorded. */
export async function loadRows(pool: pg.Pool, queue: string, rows: AbsurdRows): Promise<void> {
  await pool.query(`create schema if not exists absurd;
    create table absurd.t_${queue} (task_id uuid primary key, task_name text not null, params jsonb not null,
      enqueue_at timestamptz not null, first_started_at timestamptz, state text not null);
    create table absurd.c_${queue} (task_id uuid not null, checkpoint_name text not null, state jsonb,
      status text not null, updated_at timestamptz not null, primary key (task_id, checkpoint_name))`);
  for (const [table, list] of [
    ["t", rows.tasks],
    ["c", rows.checkpoints],
  ] as const)
    for (const row of list)
      await pool.query(
        `insert into absurd.${table}_${queue} values (${row.map((_, at) => `$${at + 1}`).join(", ")})`,
        [...row],
      );
}
