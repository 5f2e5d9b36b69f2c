import { DatabaseSync } from "node:sqlite";
import { APPLICATION_ID, createTables, schemaVersionOf } from "./schema.ts";

type Step = (db: DatabaseSync) => void;

/** Step n leads from schema version n to n + 1. Old files open forever: steps are added, never changed. */
export const STEPS: readonly Step[] = [createTables];

/** Brings the schema up to date in one transaction, which the caller has begun and ends. */
export function migrate(db: DatabaseSync, steps: readonly Step[] = STEPS): void {
  for (const step of steps.slice(schemaVersionOf(db))) step(db);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${steps.length}`);
}

const TABLES = `SELECT name, sql FROM file.sqlite_schema
  WHERE type = 'table' AND name NOT LIKE 'sqlite%' AND (name = 'search_cursor' OR name NOT LIKE 'search%')`;
const INDEXES = "SELECT sql FROM file.sqlite_schema WHERE type = 'index' AND sql IS NOT NULL";

/** An older file for reading only: it stays as it is, and a copy in memory is brought up to date. The search index starts empty. */
export function migratedCopy(file: string): DatabaseSync {
  const db = new DatabaseSync(":memory:");
  try {
    db.prepare("ATTACH ? AS file").run(file);
    for (const { name, sql } of db.prepare(TABLES).all())
      db.exec(`${String(sql)}; INSERT INTO main.${String(name)} SELECT * FROM file.${String(name)}`);
    for (const { sql } of db.prepare(INDEXES).all()) db.exec(String(sql));
    db.exec("DETACH file");
    migrate(db);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
