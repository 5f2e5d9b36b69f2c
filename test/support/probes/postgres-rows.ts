import type pg from "pg";
import { LOG_TABLES } from "#stores/postgres/tables/pg-schema";
import { OTHER } from "./stolen-ids.ts";

const TABLES = ["conversations", "search_marks", ...LOG_TABLES];

/** The rows of the other space, of every table, as a superuser sees them. */
export async function postgresRows(pool: pg.Pool, schema: string): Promise<string> {
  const asked = TABLES.map(
    (table) => `select '${table} ' || row_to_json(t)::text as row from ${schema}.${table} t where space = $1`,
  );
  const { rows } = await pool.query(`${asked.join(" union all ")} order by 1`, [OTHER]);
  return JSON.stringify(rows);
}

/** A statement that has forgotten about spaces: the first fence is gone, in the text of functions too. */
export function withoutSpaces(text: string): string {
  return text.replaceAll(/\b(?:\w+\.)?space = (\$1|\(\$1::text\)|\w+\.space)(?![\w.])/g, (_, other: string) =>
    other.includes("$1") ? "$1::text is not null" : "true",
  );
}
