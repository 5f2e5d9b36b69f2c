import { LogError } from "#log/errors";
import type { Db } from "#stores/postgres/db/db";
import { isDuplicate, isUnmade, stateOf } from "#stores/postgres/postgres-errors";
import { APPEND_FUNCTION } from "./pg-append-sql.ts";
import { PART_COLUMNS, READ_FUNCTIONS } from "./pg-read-sql.ts";
import { firstTables } from "./pg-schema.ts";

export interface Making {
  readonly partitions: number;
  /** False where the role may make none; then statements are sent in their place. */
  readonly functions: boolean;
}

const TRIES = 5;

/** Functions are never changed: a node of the version before goes on calling its own. */
function firstFunctions(): string {
  const reads = READ_FUNCTIONS.map(
    ({ name, types, text }) => `create function @.${name}(${types.join(", ")}) returns table (${PART_COLUMNS})
language plpgsql stable as $read$
#variable_conflict use_column
begin
  return query ${text};
end $read$`,
  );
  return [APPEND_FUNCTION, ...reads].join(";\n");
}

/**
 * Step n leads from version n to n + 1. Steps are added, never changed, and leave what a node of the version before uses
 * as it was, so that nodes are replaced one after the other.
 */
const STEPS: readonly ((making: Making) => string)[] = [
  ({ partitions, functions }) => [firstTables(partitions), functions ? firstFunctions() : ""].join("\n"),
];

export const PG_SCHEMA_VERSION: number = STEPS.length;
/** The oldest version whose nodes may still use the tables as they are now. */
const OLDEST_VERSION = 1;

const VERSION = "select version, oldest, functions from @.holdfast";

export interface FoundSchema {
  readonly version: number;
  /** The oldest version that may use it. */
  readonly oldest: number;
  readonly functions: boolean;
}

/** What the schema was made as; null where there is none. */
export async function foundVersion(db: Db): Promise<FoundSchema | null> {
  try {
    const [row] = await db.read<[number, number, boolean]>(VERSION);
    return row === undefined ? null : { version: row[0], oldest: row[1], functions: row[2] };
  } catch (error) {
    if (isUnmade(error)) return null;
    throw error;
  }
}

/**
 * Brings the schema up to date in one transaction. Of several nodes that try at once one does it, under a lock that ends with
 * the transaction.
 */
export async function migrateSchema(db: Db, making: Making): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await migrateOnce(db, making);
      return;
    } catch (error) {
      // Two that make the same schema or table at the same moment: the other one has it.
      const raced = isDuplicate(error) || ["42P06", "42P07", "XX000"].includes(stateOf(error));
      if (!raced || tries >= TRIES) throw error;
    }
  }
}

async function migrateOnce(db: Db, making: Making): Promise<void> {
  await db.transaction(async (session) => {
    await session.query(
      `create schema if not exists ${db.schema}; create table if not exists @.holdfast (version int4 not null, oldest int4 not null, functions boolean not null);
       lock table @.holdfast in exclusive mode`,
      [],
    );
    const [row] = await session.query("select version from @.holdfast", []);
    const from = row === undefined ? 0 : Number(row[0]);
    if (from >= PG_SCHEMA_VERSION) return;
    await session.query(
      STEPS.slice(from)
        .map((step) => step(making))
        .join(";\n"),
      [],
    );
    await session.query("delete from @.holdfast", []);
    await session.query("insert into @.holdfast values ($1, $2, $3)", [
      PG_SCHEMA_VERSION,
      OLDEST_VERSION,
      making.functions,
    ]);
  });
}

/** A newer schema may be used by those that it says can: so nodes are replaced one after the other. */
export function checkPgVersion({ version, oldest }: FoundSchema, place: string): void {
  if (oldest <= PG_SCHEMA_VERSION) return;
  throw new LogError(
    "unsupported_version",
    `${place} has schema version ${version}; this program knows versions up to ${PG_SCHEMA_VERSION}. Nothing was changed: use a newer Holdfast.`,
    { version, current: PG_SCHEMA_VERSION },
  );
}
