import { isLogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import type { HttpRequest } from "./exchange.ts";
import { Refusal } from "./guard/failures.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

export type LogFields = { readonly [name: string]: Json | undefined };

/** Receives each line that a server logs: `(level, message, fields) => logger[level](fields, message)` hands it to pino. */
export type ServerLog = (level: LogLevel, message: string, fields: LogFields) => void;

/** What a log line says of an error. It is for the operator alone: messages and stacks name files and addresses. */
function errorFields(error: unknown): LogFields {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  if (!isLogError(error)) return { error: stack };
  const { cause } = error;
  const reason = cause instanceof Error ? { cause: cause.message } : {};
  return { code: error.code, error: error.message, ...(error.details as LogFields), ...reason };
}

/** Reports an error that no request is answered with, and what it is about. */
export type OnError = (error: unknown, about?: LogFields) => void;

/** What the audit log has of a request, and a log of requests has not. */
export interface RequestToAudit {
  readonly isExport: boolean;
  readonly key: string | null;
  /** Those that a query names. */
  readonly conversations: readonly string[];
}

/** What is logged of a request, as far as it is known. */
export interface RequestLine {
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  /** The client's. */
  readonly address: string | null;
  route?: string;
  space?: string;
  token?: string;
  conversation?: string;
  turn?: string;
  error?: unknown;
  /** Of the error. */
  code?: string;
  /** Of what the audit log records. */
  audit?: RequestToAudit;
}

export const REQUEST_ID_HEADER = "x-request-id";
const REQUEST_ID = /^[\w.:-]{1,64}$/;
const PATH_CHARS_MAX = 256;

/** A request has the id that a proxy gave it, or a new one; the address has no query, which may hold a launch code. */
export function newLine({ method, url, headers }: HttpRequest, address: string | null = null): RequestLine {
  const named = headers.get(REQUEST_ID_HEADER) ?? "";
  const requestId = REQUEST_ID.test(named) ? named : crypto.randomUUID();
  return { requestId, method, path: url.pathname.slice(0, PATH_CHARS_MAX), address };
}

/** No token, no permission, too many requests: what an operator looks for. */
const REFUSED: ReadonlySet<number> = new Set([401, 403, 429]);

const isErased = (error: unknown): boolean => isLogError(error) && error.group === "missing";

/** Logs each request, and once that the store is lost and that it is back. */
export class RequestLog {
  readonly #log: ServerLog;
  #isStoreLost = false;

  constructor(log: ServerLog) {
    this.#log = log;
  }

  /** Work that outlives its request failed: a turn, for one. */
  unexpected(error: unknown, about: LogFields = {}): void {
    const fields = { ...about, ...errorFields(error) };
    if (isErased(error)) this.#log("info", "The conversation was erased in the middle of its turn", fields);
    else this.#log("error", "Unexpected error", fields);
  }

  auditWaits(error: unknown): void {
    this.#log("error", "Writing to the audit log failed", errorFields(error));
  }

  ended({ error, path, audit: _, ...line }: RequestLine, status: number, ms: number): void {
    this.#watchStore(error, line.route !== undefined && status < 400);
    const place = line.route === undefined ? { path } : {};
    const fields = { ...line, ...place, status, ms: Math.round(ms * 10) / 10 };
    if (error === undefined) return this.#log("info", "Request", fields);
    if (error instanceof Refusal) {
      const level = REFUSED.has(status) ? "warn" : "info";
      return this.#log(level, "Request refused", { ...fields, code: error.code, reason: error.message });
    }
    const isExpected = isLogError(error);
    const level = status >= 500 ? "error" : "info";
    this.#log(level, isExpected ? "Request failed" : "Unexpected error", {
      ...fields,
      ...errorFields(error),
    });
  }

  /** An answer that had begun ends in the middle. */
  brokeOff({ path: _, audit: _audit, error: _error, ...line }: RequestLine, error: unknown): void {
    this.#watchStore(error, false);
    this.#log(isErased(error) ? "info" : "error", "Response aborted", { ...line, ...errorFields(error) });
  }

  #watchStore(error: unknown, isAnswered: boolean): void {
    const isLost = isLogError(error, "store_gone") || isLogError(error, "store_failed");
    if (isLost && !this.#isStoreLost) this.#log("error", "The store does not respond", errorFields(error));
    if (isAnswered && this.#isStoreLost) this.#log("info", "The store responds again", {});
    if (isLost || isAnswered) this.#isStoreLost = isLost;
  }
}
