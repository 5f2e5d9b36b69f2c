import { LogError } from "#log/errors";
import { absurdQueue, type AbsurdQueueOptions } from "./absurd-queue.ts";
import { messagesTable, type MessagesTableOptions } from "./messages-table.ts";
import type { MigrationSource } from "#transfer/migrate/migration-source";
import { openPostgresSource, openSqliteSource, type SourceDatabase } from "./source-database.ts";

export interface MigrationSourceOptions
  extends MessagesTableOptions, Omit<AbsurdQueueOptions, "queue" | "shape"> {}

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
    "What is moved is named by postgres://HOST/DATABASE (a table of messages), postgres://HOST/DATABASE?queue=NAME (a queue of Absurd) or sqlite:FILE (a table of messages)",
  );
}
