import { LogError } from "#log/errors";
import type { ShapeName } from "./foreign-messages.ts";
import type { ColumnNames } from "./table-row.ts";
import { absurdQueue } from "./absurd-queue.ts";
import { messagesTable } from "./messages-table.ts";
import type { MigrationSource } from "./migration-source.ts";
import { openPostgresSource, openSqliteSource, type SourceDatabase } from "./source-database.ts";

/** Of a table `table` and `columns`, of a queue the others; `shape` of either. */
export interface MigrationSourceOptions {
  /** `NAME` or `SCHEMA.NAME` (default: the only table that looks like messages). */
  readonly table?: string;
  /** Those that are not found by their names. */
  readonly columns?: ColumnNames;
  /** Only tasks of this name. */
  readonly task?: string;
  /** The member of a task's parameters that names the conversation; found among the usual ones unless given. */
  readonly conversation?: string;
  /** The member of a task's parameters that names the space; all go into the one that was asked for unless given. */
  readonly space?: string;
  /** The member of a task's parameters that has the words of a person; `prompt` unless given. */
  readonly prompt?: string;
  /** The member of a step's result that has the messages which it appended; found among the usual ones unless given. */
  readonly messages?: string;
  /** Each step holds the whole list of messages so far; only the new ones are imported. */
  readonly wholeLists?: boolean;
  /** The shape of messages (default: detected for each message). */
  readonly shape?: ShapeName;
}

/**
 * Opens what is to be moved, by its address: `postgres://…?queue=NAME` is a queue of Absurd, any other `postgres://…` and
 * `sqlite:FILE` a table of messages.
 */
export async function openMigrationSource(
  address: string,
  options: MigrationSourceOptions = {},
): Promise<MigrationSource> {
  const isPostgres = /^postgres(?:ql)?:\/\//.test(address) && URL.canParse(address);
  const url = isPostgres ? new URL(address) : null;
  const queue = url?.searchParams.get("queue") ?? null;
  url?.searchParams.delete("queue");
  const database = await openDatabase(address, url);
  try {
    return await (queue === null
      ? messagesTable(database, options)
      : absurdQueue(database, { ...options, queue }));
  } catch (error) {
    await database.close();
    throw error;
  }
}

function openDatabase(address: string, url: URL | null): Promise<SourceDatabase> {
  if (url !== null) return openPostgresSource(url.href);
  const [, path = ""] = /^sqlite:(.+)$/s.exec(address) ?? [];
  if (path !== "") return openSqliteSource(path);
  throw new LogError(
    "invalid_request",
    "Unknown source. Use postgres://HOST/DATABASE or sqlite:FILE for a table of messages, or postgres://HOST/DATABASE?queue=NAME for an Absurd queue.",
  );
}
