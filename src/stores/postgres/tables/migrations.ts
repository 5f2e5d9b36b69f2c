import { LogError } from "#log/errors";
import type { Db, Session } from "#stores/postgres/db";
import { isDuplicate, isUnmade, stateOf } from "#stores/postgres/postgres-errors";
import { APPEND_FUNCTION } from "./append-sql.ts";
import { READ_FUNCTIONS, WINDOW_FUNCTION } from "./read-sql.ts";
import { fencedTables, fenceTable, isFenced } from "./row-security.ts";
import { tablesSql } from "./schema.ts";
import { TAIL_FUNCTIONS } from "./tail-sql.ts";

export interface SchemaOptions {
  readonly partitions: number;
  /** False where the role may make none; then statements are sent in their place. */
  readonly functions: boolean;
  /** Whether the tables should show a transaction only one space; once on, it stays on. */
  readonly rowSecurity: boolean;
}

const TRIES = 5;

type Step = (making: SchemaOptions) => readonly string[];

/**
 * Step n leads from version n to n + 1. Steps are added, never changed, and leave what a node of the version before uses
 * as it was, so that nodes are replaced one after the other; a function that changes gets the next number in its name. Under row
 * security a step sees no rows: one that changed some would have to lift the force first.
 */
export const STEPS: readonly Step[] = [
  ({ partitions, functions }) => [
    tablesSql(partitions),
    ...(functions ? [APPEND_FUNCTION, ...READ_FUNCTIONS, WINDOW_FUNCTION, ...TAIL_FUNCTIONS] : []),
  ],
];

export const SCHEMA_VERSION: number = STEPS.length;
/** The oldest version whose nodes may still use the tables as they are now. */
const OLDEST_VERSION = 1;

const VERSION = `select version, oldest, functions,
  (select coalesce(bool_or(c.relrowsecurity), false) from pg_class c
    where c.relnamespace = (select relnamespace from pg_class where oid = to_regclass('@.holdfast'))) from @.holdfast`;

export interface SchemaState {
  readonly version: number;
  /** The oldest version that may use it. */
  readonly oldest: number;
  readonly functions: boolean;
  /** Whether tables of it show a transaction the rows of one space only. */
  readonly rowSecurity: boolean;
}

/** Whether there is nothing to bring up to date. */
export async function isUpToDate(
  db: Db,
  schema: SchemaState | null,
  making: SchemaOptions,
): Promise<boolean> {
  if (schema === null || schema.version < SCHEMA_VERSION) return false;
  if (!making.rowSecurity) return true;
  return (await fencedTables((text, values) => db.read(text, ...values), db.schema)).every(isFenced);
}

/** What the schema was made as; null where there is none. */
export async function readSchemaState(db: Db): Promise<SchemaState | null> {
  try {
    const [row] = await db.read<[number, number, boolean, boolean]>(VERSION);
    if (row === undefined) return null;
    const [version, oldest, functions, rowSecurity] = row;
    return { version, oldest, functions, rowSecurity };
  } catch (error) {
    if (isUnmade(error)) return null;
    throw error;
  }
}

/**
 * Brings the schema up to date in one transaction. Of several nodes that try at once one does it, under a lock that ends with
 * the transaction.
 */
export async function migrateSchema(
  db: Db,
  making: SchemaOptions,
  steps: readonly Step[] = STEPS,
): Promise<void> {
  for (let tries = 1; ; tries++) {
    try {
      await migrateOnce(db, making, steps);
      return;
    } catch (error) {
      // Two that make the same schema or table at the same moment: the other one has it.
      const raced = isDuplicate(error) || ["42P06", "42P07", "XX000"].includes(stateOf(error));
      if (!raced || tries >= TRIES) throw error;
    }
  }
}

async function migrateOnce(db: Db, making: SchemaOptions, steps: readonly Step[]): Promise<void> {
  await db.transaction(async (session) => {
    const [there] = await session.query("select to_regnamespace($1) is not null", [db.schema]);
    // A role may own its schema and may make none.
    if (there?.[0] !== true) await session.query(`create schema if not exists ${db.schema}`, []);
    await session.query(
      `create table if not exists @.holdfast (version int4 not null, oldest int4 not null, functions boolean not null);
       lock table @.holdfast in exclusive mode`,
      [],
    );
    const [row] = await session.query("select version, oldest, functions from @.holdfast", []);
    const from = row === undefined ? 0 : Number(row[0]);
    const functions = row === undefined ? making.functions : row[2] === true;
    const statements = steps.slice(from).flatMap((step) => step({ ...making, functions }));
    if (statements.length > 0) await session.query(statements.join(";\n"), []);
    await fenceTables(session, db.schema, making);
    const version = Math.max(from, steps.length);
    const oldest = Math.max(Number(row?.[1] ?? 0), OLDEST_VERSION);
    await session.query("delete from @.holdfast", []);
    await session.query("insert into @.holdfast values ($1, $2, $3)", [version, oldest, functions]);
  });
}

/** Puts the fence around all tables, those that a step has just made too. */
async function fenceTables(session: Session, schema: string, { rowSecurity }: SchemaOptions): Promise<void> {
  const tables = await fencedTables((text, values) => session.query(text, values), schema);
  if (!rowSecurity && !tables.some(({ enabled }) => enabled)) return;
  const missing = tables.flatMap((table) => fenceTable(table));
  if (missing.length > 0) await session.query(missing.join(";\n"), []);
}

/** A newer schema may be used by those that it says can: so nodes are replaced one after the other. */
export function checkSchemaVersion({ version, oldest }: SchemaState, place: string): void {
  if (oldest <= SCHEMA_VERSION) return;
  throw new LogError(
    "unsupported_version",
    `${place} has schema version ${version}. This version of Holdfast supports versions up to ${SCHEMA_VERSION}.`,
    { version, current: SCHEMA_VERSION },
  );
}
