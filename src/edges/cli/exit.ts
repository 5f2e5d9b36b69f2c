import { ERROR_GROUPS, type ErrorGroup, isLogError } from "#log/errors";
import { nextCommand, UNEXPECTED } from "#operations/views/error-steps";

/** What the process ends with; a new group of errors does not compile until it has an answer here. */
export const STATUS: Readonly<
  Record<ErrorGroup | "ok" | "unexpected" | "denied" | "differs" | "waiting", number>
> = {
  ok: 0,
  unexpected: 1,
  caller: 2,
  missing: 3,
  conflict: 4,
  unavailable: 5,
  damaged: 6,
  denied: 7,
  differs: 8,
  waiting: 9,
};

export interface Failure {
  readonly status: number;
  readonly code: string;
  readonly message: string;
  /** What did not change, and what is not lost; empty where nobody would ask. */
  readonly safe: string;
  readonly next: string;
  readonly details: unknown;
}

/** An error as the command line prints it. */
export function failureOf(error: unknown): Failure {
  if (isLogError(error)) {
    const { code, message, safe, details } = error;
    return { status: STATUS[ERROR_GROUPS[code]], code, message, safe, next: nextCommand(error), details };
  }
  const message = error instanceof Error ? error.message : String(error);
  const { safe, command: next } = UNEXPECTED;
  return { status: STATUS.unexpected, code: "unexpected", message, safe, next, details: {} };
}
