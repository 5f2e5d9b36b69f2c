import { truncateSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { LogError } from "#log/errors";
import { toLogError, toWire } from "./sqlite-errors.ts";
import { ReadConnection } from "#stores/sqlite/read/read-connection";
import type { BackupReport, BackupTask } from "./sqlite-backup.ts";

// The entry of a backup's thread.

function report(message: BackupReport): void {
  parentPort?.postMessage(message, []);
}

if (parentPort !== null) {
  const task = workerData as BackupTask;
  try {
    await copy(task);
    report({ kind: "made", conversations: finish(task) });
  } catch (error) {
    // Damage is the source's; anything else that goes wrong, as a rule, is about where the copy goes.
    const damaged = toLogError(error, task.path).code === "damaged";
    report({ kind: "failed", error: toWire(error, damaged ? task.path : task.to) });
  }
}

/** One read at one moment, so that concurrent writes cannot make it start again; free pages are left out. */
async function copy({ path, readOnly, made }: BackupTask): Promise<void> {
  const connection = new ReadConnection(path, readOnly);
  try {
    await connection.read((reader) => {
      truncateSync(made, 0);
      reader.sql.db.prepare("VACUUM INTO ?").run(made);
    });
  } finally {
    connection.close();
  }
}

/** The copy as every other store is, looked at once more; gives the number of conversations in it. */
function finish({ path, made }: BackupTask): number {
  const db = new DatabaseSync(made);
  try {
    const [result] = Object.values(db.prepare("PRAGMA quick_check(1)").get() ?? {});
    if (result !== "ok")
      throw new LogError("damaged", `${path} is damaged (${String(result)}), so no backup was created`, {
        path,
      });
    db.exec("PRAGMA journal_mode = WAL");
    const counted = db.prepare("SELECT count(*) AS n FROM conversations WHERE listed = 1").get();
    return Number(counted?.["n"]);
  } finally {
    db.close();
  }
}
