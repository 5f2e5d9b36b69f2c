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
  /** The store does not bring what was asked for. */
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
  /** The log is not the one that its owner wrote: a failover that forgot, a copy that was restored. */
  diverged: "damaged",
  unsupported_version: "damaged",
} as const;

export type ErrorCode = keyof typeof ERROR_GROUPS;
export type ErrorGroup = (typeof ERROR_GROUPS)[ErrorCode];
export type ErrorDetails = Readonly<Record<string, string | number | boolean | null | readonly string[]>>;

const BRAND = "holdfast.LogError";

/** The one error class: a closed code for programs, a sentence for people, details for both. */
export class LogError extends Error {
  readonly brand: string = BRAND;
  readonly code: ErrorCode;
  readonly details: ErrorDetails;

  constructor(code: ErrorCode, message: string, details: ErrorDetails = {}, options: ErrorOptions = {}) {
    super(message, options);
    this.name = "LogError";
    this.code = code;
    this.details = details;
  }

  get group(): ErrorGroup {
    return ERROR_GROUPS[this.code];
  }
}

/** Checks the brand, not the class: two copies of the package may be loaded in one process. */
export function isLogError(error: unknown, code?: ErrorCode): error is LogError {
  if (typeof error !== "object" || error === null || !("brand" in error) || !("code" in error)) return false;
  return error.brand === BRAND && (code === undefined || error.code === code);
}
