/** What the caller should do about an error decides its group; each edge maps groups to its own statuses. */
export const ERROR_GROUPS = {
  invalid_entry: "caller",
  invalid_id: "caller",
  invalid_request: "caller",
  unknown_parent: "caller",
  unknown_target: "caller",
  duplicate_id: "caller",
  invalid_boundary: "caller",
  too_large: "caller",
  ambiguous_id: "caller",
  /** The store does not support the operation. */
  facet_missing: "caller",
  conversation_not_found: "missing",
  entry_not_found: "missing",
  blob_not_found: "missing",
  run_not_found: "missing",
  conversation_exists: "conflict",
  head_moved: "conflict",
  fenced: "conflict",
  busy: "unavailable",
  disk_full: "unavailable",
  read_only: "unavailable",
  store_gone: "unavailable",
  store_failed: "unavailable",
  damaged: "damaged",
  /** The log differs from the one its owner wrote: a failover lost entries, or a backup was restored. */
  diverged: "damaged",
  unsupported_version: "damaged",
} as const;

export type ErrorCode = keyof typeof ERROR_GROUPS;
export type ErrorGroup = (typeof ERROR_GROUPS)[ErrorCode];
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

const UNCHANGED = "Nothing was changed.";
const UNWRITTEN = "Nothing was written.";

/** Where no change was to be expected, as after a mistyped argument, there is nothing to say. */
const SAFE: Readonly<Record<ErrorCode, string>> = {
  invalid_entry: UNWRITTEN,
  invalid_id: "",
  invalid_request: "",
  unknown_parent: UNWRITTEN,
  unknown_target: UNWRITTEN,
  duplicate_id: UNWRITTEN,
  invalid_boundary: UNWRITTEN,
  too_large: UNWRITTEN,
  ambiguous_id: "",
  facet_missing: "",
  conversation_not_found: "",
  entry_not_found: "",
  blob_not_found: "The entries that refer to it were not changed.",
  run_not_found: "",
  conversation_exists: "The existing conversation was not changed.",
  head_moved: UNWRITTEN,
  fenced: "Everything acknowledged before is stored.",
  busy: UNWRITTEN,
  disk_full: "Stored data was not changed.",
  read_only: UNCHANGED,
  store_gone: "",
  store_failed: "Everything acknowledged is stored.",
  damaged: UNCHANGED,
  diverged: UNWRITTEN,
  unsupported_version: UNCHANGED,
};

export interface LogErrorOptions extends ErrorOptions {
  /** Replaces the sentence of the code. */
  readonly safe?: string;
}

const BRAND = "holdfast.LogError";

/** The one error class: a closed code for programs, a sentence for readers, details for both. */
export class LogError extends Error {
  readonly brand: string = BRAND;
  readonly code: ErrorCode;
  readonly details: ErrorDetails;
  /** What did not change, and what is not lost; empty where nobody would ask. The message does not repeat it. */
  readonly safe: string;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options: LogErrorOptions = {}) {
    const { safe = SAFE[code], ...cause } = options;
    super(message, cause);
    this.name = "LogError";
    this.code = code;
    this.details = details;
    this.safe = safe;
  }

  get group(): ErrorGroup {
    return ERROR_GROUPS[this.code];
  }
}

/** Checks the brand and not the class, because a process can load two copies of the package. */
export function isLogError(error: unknown, code?: ErrorCode): error is LogError {
  if (typeof error !== "object" || error === null || !("brand" in error) || !("code" in error)) return false;
  return error.brand === BRAND && (code === undefined || error.code === code);
}
