import type { DatabaseSync } from "node:sqlite";
import { countLogs } from "./count-logs.ts";
import { countRuns } from "./count-runs.ts";
import {
  ADD_SUMMARY,
  APPLICATION_ID,
  BATCH_LINKS,
  LABEL_INDEXES,
  REBUILD_SEARCH,
  RUN_ROWS,
  SCHEMA_VERSION,
  UNLISTED_LOGS,
  VERSION_1,
} from "./schema.ts";
import { Sql } from "./sql.ts";

type Step = (db: DatabaseSync) => void;

/**
 * Step n leads from schema version n to n + 1. Old files open forever: steps are added, never changed.
 * From version 2 on the search index holds text without accents; from version 3 on labels are found by an index;
 * from version 5 on a conversation's row holds what lists show of it, from version 6 on whether they do; from
 * version 7 on runs have rows.
 */
const STEPS: readonly Step[] = [
  runs(VERSION_1),
  runs(REBUILD_SEARCH),
  runs(LABEL_INDEXES),
  runs(BATCH_LINKS),
  (db) => {
    db.exec(ADD_SUMMARY);
    countLogs(db);
  },
  runs(UNLISTED_LOGS),
  (db) => {
    db.exec(RUN_ROWS);
    countRuns(new Sql(db));
  },
];

function runs(statements: string): Step {
  return (db) => db.exec(statements);
}

/** What leads from a version to the current one, in order. */
export function migrationSteps(from: number): readonly Step[] {
  return STEPS.slice(from);
}

/** Brings the schema up to date in one transaction, which the caller has begun and ends. */
export function migrate(db: DatabaseSync, from: number): void {
  for (const step of migrationSteps(from)) step(db);
  db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${SCHEMA_VERSION}`);
}
