import { randomUUID } from "node:crypto";
import { closeSync, fsyncSync, linkSync, openSync, renameSync, rmSync, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { Worker } from "node:worker_threads";
import { THREAD_FLAGS } from "#stores/sqlite/thread/messages";
import { LogError } from "#log/errors";
import { backupTaken, noBackupFolder, type Backup, type BackupRequest } from "#store/requests";
import { fromWire, toLogError, type WireError } from "./sqlite-errors.ts";
import { isThere, syncFolder } from "./files.ts";

const PROGRESS_MS = 100;

export interface BackupTask {
  readonly path: string;
  readonly readOnly: boolean;
  /** An empty file, which becomes the copy, and the name it will get. */
  readonly made: string;
  readonly to: string;
}

export type BackupReport =
  | { readonly kind: "made"; readonly conversations: number }
  | { readonly kind: "failed"; readonly error: WireError };

/**
 * Copies the store as it is at one moment while others read and write it, in a thread of its own. The copy appears under its
 * name whole, checked and on the disk, or not at all.
 */
export async function backUp(
  store: { readonly path: string; readonly readOnly: boolean; readonly bytes: number },
  request: BackupRequest,
): Promise<Backup> {
  const to = resolve(request.to);
  if (isThere(to)) throw backupTaken(to);
  if (statSync(dirname(to), { throwIfNoEntry: false })?.isDirectory() !== true)
    throw noBackupFolder(dirname(to));
  const made = `${to}.${randomUUID()}.part`;
  const { bytes: total } = store;
  const { onProgress } = request;
  const tell = (): void => onProgress?.(Math.min(sizeOf(made), total), total);
  const telling = onProgress === undefined ? null : setInterval(tell, PROGRESS_MS);
  try {
    closeSync(openSync(made, "wx", 0o600));
    const conversations = await runCopy({ path: store.path, readOnly: store.readOnly, made, to });
    syncFile(made);
    linkNew(made, to);
    syncFolder(dirname(to));
    onProgress?.(total, total);
    return { to, bytes: sizeOf(to), conversations };
  } catch (error) {
    throw toLogError(error, to);
  } finally {
    if (telling !== null) clearInterval(telling);
    for (const side of ["", "-journal", "-wal", "-shm"]) rmSync(`${made}${side}`, { force: true });
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function runCopy(task: BackupTask): Promise<number> {
  const file = import.meta.url.endsWith(".ts") ? "./copier.ts" : "./copier.js";
  const worker = new Worker(new URL(file, import.meta.url), {
    workerData: task,
    name: "holdfast-backup",
    execArgv: THREAD_FLAGS,
  });
  const { promise, resolve: made, reject } = Promise.withResolvers<number>();
  worker.on("message", (report: BackupReport) => {
    if (report.kind === "made") made(report.conversations);
    else reject(fromWire(report.error));
  });
  worker.on("error", reject);
  worker.on("exit", () =>
    reject(new LogError("store_failed", `The backup of ${task.path} ended early`, { path: task.path })),
  );
  return promise;
}

function syncFile(path: string): void {
  const handle = openSync(path, "r+");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/** Gives the copy its name, unless another file has it by now. */
function linkNew(made: string, to: string): void {
  try {
    linkSync(made, to);
  } catch {
    // The name is taken, or this file system has no links; any other reason comes up again.
    if (isThere(to)) throw backupTaken(to);
    renameSync(made, to);
  }
}
