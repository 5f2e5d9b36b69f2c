import { randomUUID } from "node:crypto";
import {
  chmodSync,
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";
import { LogError } from "#log/errors";
import { isNotSqlite, toLogError } from "./sqlite-errors.ts";
import {
  migrate,
  APPLICATION_ID,
  checkSchemaVersion,
  SCHEMA_VERSION,
  schemaVersionOf,
} from "./tables/schema.ts";

/**
 * Makes the folder, and the file with its schema whole or not at all: a crash leaves a stray file beside it, never a
 * half-made store. Only its owner can read it, whatever the umask says; SQLite gives its side files the same mode.
 */
export function createFile(input: string): string {
  mkdirSync(dirname(input), { recursive: true, mode: 0o700 });
  const folder = realpathSync(dirname(input));
  const path = join(folder, basename(input));
  if (isThere(path)) return adopt(realFile(path));
  const made = `${path}.${randomUUID()}.new`;
  try {
    closeSync(openSync(made, "wx", 0o600));
    const db = new DatabaseSync(made);
    createSchema(db);
    db.close();
    linkInto(made, path);
    syncFolder(folder);
  } finally {
    for (const side of ["", "-journal", "-wal", "-shm"]) rmSync(`${made}${side}`, { force: true });
  }
  return path;
}

/** Whether the name is taken, be it by a link that leads nowhere. */
export function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** The file itself, whatever link it was named by: its log lies beside it, not beside the link. */
export function realFile(path: string): string {
  if (existsSync(path)) return realpathSync(path);
  if (isThere(path))
    throw new LogError("invalid_request", `${path} is a symbolic link to a file that does not exist`, {
      path,
    });
  throw new LogError("store_gone", `Store not found: ${path}`, { path });
}

/** A file to read from. An empty file, as a script creates it to reserve the name, is no store before the first write. */
export function readableFile(path: string): string {
  const file = realFile(path);
  if (statSync(file).size === 0)
    throw new LogError("store_gone", `${path} is an empty file, not a Holdfast store`, { path });
  return file;
}

/** An empty file becomes a store, so from now on it is for its owner alone like every other. */
function adopt(path: string): string {
  const { size, mode } = statSync(path);
  if (size === 0 && (mode & 0o077) !== 0) chmodSync(path, 0o600);
  return path;
}

/** Brings the schema up to date in one transaction and turns on write-ahead logging. */
export function createSchema(db: DatabaseSync): void {
  db.exec("BEGIN IMMEDIATE");
  if (schemaVersionOf(db) < SCHEMA_VERSION) migrate(db);
  db.exec("COMMIT; PRAGMA journal_mode = WAL");
}

function linkInto(made: string, path: string): void {
  try {
    linkSync(made, path);
  } catch (error) {
    // Another process was first, and its file is as good as ours; or this file system has no links.
    if (!isThere(path)) renameSync(made, path);
    else if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  }
}

export function syncFolder(folder: string): void {
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}

/**
 * Refuses what is not ours, or newer than us. It is looked at as an immutable file, so nothing can change; and through
 * SQLite, since closing any other handle of a file ends all locks this process has on it, and the next process to leave
 * would take a log that is in use for its own and remove it.
 */
export function checkFile(path: string): void {
  const stats = statSync(path);
  if (!stats.isFile()) throw foreignFile(path, false);
  if (stats.size === 0) return;
  const logged = walBytes(path) > 0;
  try {
    checkThrough(new URL(`${pathToFileURL(path).href}?immutable=1`), path);
  } catch (error) {
    // A file into which another process is just moving its log looks damaged; looked at through the log it does not.
    if (!logged || toLogError(error, path).code !== "damaged") throw error;
  }
  // The log may hold a newer version than the file; a read-only look cannot fold it in.
  if (logged) checkThrough(path, path);
}

function checkThrough(file: string | URL, path: string): void {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 0 });
  const pragma = (name: string): number => Number(db.prepare(`PRAGMA ${name}`).get()?.[name]);
  try {
    if (pragma("application_id") !== APPLICATION_ID) throw foreignFile(path, true);
    checkSchemaVersion(schemaVersionOf(db), path);
  } catch (error) {
    throw isNotSqlite(error) ? foreignFile(path, false) : error;
  } finally {
    db.close();
  }
}

function foreignFile(path: string, sqlite: boolean): LogError {
  const description = sqlite ? "the SQLite database of another program" : "not a SQLite database";
  return new LogError("invalid_request", `${path} is ${description}`, {
    path,
  });
}

export function walBytes(path: string): number {
  return statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0;
}

/** Which file it is, whatever it is called; null when there is none. */
export function identityOf(path: string): string | null {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat === undefined ? null : `${stat.dev}:${stat.ino}`;
}
