import { type ErrorCode, isLogError, LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";

/** Nothing was done, and doing it again may well succeed. */
const TRY_AGAIN: ReadonlySet<string> = new Set(["40001", "40P01", "55P03"]);
/** The server went, or would not let anybody in. */
const SERVER_GONE: ReadonlySet<string> = new Set(["57P01", "57P02", "57P03", "25P03", "57P05"]);
const NETWORK: ReadonlySet<string> = new Set(
  "ECONNREFUSED ECONNRESET EPIPE ETIMEDOUT ENOTFOUND EHOSTUNREACH ENETUNREACH EAI_AGAIN".split(" "),
);
const LOST = /connection (?:terminated|ended|error)|not queryable|timeout expired|server closed/i;
/** How the driver says that no answer came in time, to a statement or to a new connection. */
const SILENT = /^(?:Query read timeout|timeout expired|Connection terminated due to connection timeout)/;
/** How a pool says that all of its connections were in use for too long: nothing was sent. */
const POOL_FULL = /^timeout exceeded when trying to connect/;

const CODES: { readonly [state: string]: ErrorCode } = {
  "25006": "read_only",
  "42501": "read_only", // insufficient privilege
  "53100": "disk_full",
  "53300": "busy", // too many connections
  "57014": "busy", // cancelled by a timeout of the server
  XX001: "damaged",
  XX002: "damaged",
};
const SENTENCES: { readonly [C in ErrorCode]?: string } = {
  busy: "Too many connections are in use",
  disk_full: "The disk is full",
  read_only: "The database is read-only: it is a standby, or the role lacks write permission",
  damaged: "The database is damaged",
};

export function stateOf(error: unknown): string {
  return typeof error === "object" && error !== null && "code" in error ? String(error.code) : "";
}

export function mayTryAgain(error: unknown): boolean {
  return TRY_AGAIN.has(stateOf(error));
}

export function isDuplicate(error: unknown): boolean {
  return stateOf(error) === "23505";
}

/** The tables are not there. */
export function isUnmade(error: unknown): boolean {
  return ["42P01", "3F000", "42883"].includes(stateOf(error));
}

/** The connection was lost: whether the statement ran is unknown. */
export function isLost(error: unknown): boolean {
  const state = stateOf(error);
  if (SERVER_GONE.has(state) || NETWORK.has(state) || state.startsWith("08")) return true;
  if (/^[0-9A-Z]{5}$/.test(state) || !(error instanceof Error)) return false;
  return LOST.test(error.message) || isSilent(error);
}

/** No answer came in time. The connection is thrown away with the statement, which may still be carried out. */
export function isSilent(error: unknown): boolean {
  return error instanceof Error && SILENT.test(error.message);
}

/** What the database or the network said, as something a caller can act on. `place` says where, without a password. */
export function toLogError(error: unknown, place: string): LogError {
  if (isLogError(error)) return error;
  const message = error instanceof Error ? error.message : String(error);
  const details = { place };
  if (mayTryAgain(error))
    return new LogError(
      "busy",
      `${place}: Other transactions are writing to the same rows (${message})`,
      details,
      {
        cause: error,
      },
    );
  if (isLost(error))
    return new LogError(
      "store_failed",
      `${place}: The database does not respond, or the connection was lost (${message}). Try again, with the same key for a write.`,
      { ...details, lost: true },
      { cause: error },
    );
  const code = POOL_FULL.test(message) ? "busy" : (CODES[stateOf(error)] ?? "store_failed");
  const sentence = SENTENCES[code] ?? "The database returned an error";
  return new LogError(code, `${place}: ${sentence} (${message})`, details, { cause: error });
}

export function idBusy(conversation: ConversationId): LogError {
  return new LogError(
    "busy",
    `Conversation ${conversation} is busy: every attempt failed because other writers committed first`,
    { conversation },
  );
}
