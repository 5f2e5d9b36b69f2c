import { type ErrorCode, type ErrorDetails, isLogError, LogError } from "#log/errors";

export const SQLITE_BUSY = 5;
const SQLITE_NOTADB = 26;
const PRIMARY_CODES: { readonly [code: number]: ErrorCode } = {
  [SQLITE_BUSY]: "busy",
  6: "busy", // locked
  8: "read_only",
  11: "damaged", // corrupt
  13: "disk_full",
  14: "read_only", // cannot open: a journal that cannot be made beside a file that can be read
  [SQLITE_NOTADB]: "damaged",
};
const EXTENDED_CODES: { readonly [code: number]: ErrorCode } = {
  1032: "store_gone", // the file was moved or deleted while open
  4874: "disk_full", // no room for the shared memory beside the log
};
const OS_CODES: { readonly [code: string]: ErrorCode } = {
  ENOSPC: "disk_full",
  EDQUOT: "disk_full",
  EROFS: "read_only",
  EACCES: "read_only",
  EPERM: "read_only",
  ENOENT: "store_gone",
};
const SENTENCES: { readonly [C in ErrorCode]?: string } = {
  busy: "Another process is writing to the file and did not finish in time",
  disk_full: "The disk is full",
  read_only: "The file is read-only",
  store_gone: "The file does not exist",
  damaged: "The file is damaged",
};

function sqliteCode(error: unknown): number | null {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return null;
  return typeof error.errcode === "number" ? error.errcode : null;
}

export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== null && (code & 0xff) === SQLITE_BUSY;
}

/** The file was never a database, or is one no longer. */
export function isNotSqlite(error: unknown): boolean {
  return sqliteCode(error) === SQLITE_NOTADB;
}

/** What SQLite or the system said, as something a caller can act on; the original stays as the cause. */
export function toLogError(error: unknown, path: string): LogError {
  if (isLogError(error)) return error;
  const code = codeOf(error);
  const message = error instanceof Error ? error.message : String(error);
  if (code === "duplicate_id")
    return new LogError(code, `An entry with the same id already exists (${message})`, {}, { cause: error });
  // Who may not even read is not helped by hearing about writing.
  const denied = /^(EACCES|EPERM)\b/.test(message);
  const sentence = denied ? "Permission denied" : (SENTENCES[code] ?? "The store failed");
  return new LogError(code, `${path}: ${sentence} (${message})`, { path }, { cause: error });
}

/** An erase that could not empty the log: unlike any other write that fails, it has been done. */
export function erasedInLog(error: unknown, path: string): LogError {
  const message = error instanceof Error ? error.message : String(error);
  return new LogError(
    codeOf(error),
    `${path}: The conversation was erased, but its bytes are still in the write-ahead log (${message}). SQLite overwrites them at the next checkpoint, at the latest when all processes close the store.`,
    { path, erased: true },
    { cause: error, safe: "The conversation was erased." },
  );
}

function codeOf(error: unknown): ErrorCode {
  const sqlite = sqliteCode(error);
  if (sqlite !== null) {
    const unique = sqlite === 2067 && error instanceof Error && error.message.includes("entries.id");
    return unique
      ? "duplicate_id"
      : (EXTENDED_CODES[sqlite] ?? PRIMARY_CODES[sqlite & 0xff] ?? "store_failed");
  }
  const os = typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
  return OS_CODES[os] ?? "store_failed";
}

export function storeClosed(path: string): LogError {
  return new LogError("store_gone", `The store ${path} is closed`, { path });
}

/** An error on its way between threads: only data survives the crossing. */
export interface WireError {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details: ErrorDetails;
  readonly safe: string;
  readonly cause: string | null;
}

export function toWire(error: unknown, path: string): WireError {
  const { code, message, details, safe, cause } = toLogError(error, path);
  const stack = cause instanceof Error ? (cause.stack ?? cause.message) : null;
  return { code, message, details, safe, cause: stack };
}

export function fromWire(wire: WireError): LogError {
  const cause = wire.cause === null ? {} : { cause: new Error(wire.cause) };
  return new LogError(wire.code, wire.message, wire.details, { ...cause, safe: wire.safe });
}
