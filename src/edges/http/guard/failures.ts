import {
  ERROR_GROUPS,
  type ErrorCode,
  type ErrorDetails,
  type ErrorGroup,
  isLogError,
  type LogError,
} from "#log/errors";
import { nextRequest, UNEXPECTED } from "#operations/views/error-steps";
import { SCHEMA_VERSION } from "#transfer/context-text";

const NOTHING = "Nothing was changed.";

interface Known {
  readonly status: number;
  readonly safe: string;
  readonly next: string;
}

/** What goes wrong before an operation is reached. */
const REFUSALS = {
  wrong_host: [403, "Use the URL the server prints, or start it with --allow-host or --public-url."],
  wrong_origin: [403, "Use a page of this server. Programs leave Origin and Sec-Fetch-Site out."],
  no_token: [401, "Send `Authorization: Bearer TOKEN`. `holdfast token add` creates a token."],
  wrong_token: [401, "Ask the operator of the server for a token. `holdfast token ls` lists tokens."],
  wrong_code: [401, "A launch code works once, within five minutes. `holdfast link URL` prints another."],
  no_right: [403, "Use a token with that permission. `holdfast token add --rights` creates one."],
  only_reading: [403, "Use a server started without --read-only."],
  wrong_path: [404, "GET /api/openapi.json lists the routes."],
  wrong_method: [405, "GET /api/openapi.json lists the methods of each path."],
  wrong_type: [415, "GET /api/openapi.json lists the content type of each route."],
  too_slow: [408, "Send it again without pauses. Split a large body."],
  too_many: [429, "Wait for the seconds in Retry-After."],
  stopping: [503, "Try again in a moment: another process takes over, or this one restarts."],
  no_agent: [501, "Start the server with an agent: `holdfast serve --model PROVIDER/NAME`."],
} as const;

type RefusalCode = keyof typeof REFUSALS;
export type FailureCode = ErrorCode | RefusalCode | "unexpected";
export const FAILURE_CODES = [
  ...Object.keys(ERROR_GROUPS),
  ...Object.keys(REFUSALS),
  "unexpected",
] as readonly string[] as readonly FailureCode[];

const GROUP_STATUS: Readonly<Record<ErrorGroup, number>> = {
  caller: 400,
  missing: 404,
  conflict: 409,
  unavailable: 503,
  damaged: 500,
};

const OWN_STATUS: { readonly [code in ErrorCode]?: number } = {
  too_large: 413,
  facet_missing: 501,
  disk_full: 507,
  read_only: 403,
  busy: 423,
  diverged: 409,
};

/** A request that is refused before its operation is reached. */
export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly details: ErrorDetails;
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    code: RefusalCode,
    message: string,
    more: { readonly details?: ErrorDetails; readonly headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(message);
    this.name = "Refusal";
    this.code = code;
    this.details = more.details ?? {};
    this.headers = more.headers ?? {};
  }
}

/** What is told of a failure, in its one shape. */
export interface FailureBody {
  readonly error: {
    readonly code: FailureCode;
    readonly message: string;
    readonly safe: string;
    readonly next: string;
    readonly details: ErrorDetails;
  };
}

export interface Failure {
  readonly status: number;
  readonly body: FailureBody & { readonly schemaVersion: number };
  readonly headers: Readonly<Record<string, string>>;
}

/** An error as it is told. What nobody expected is told without its words, which may be about this machine. */
export function failureOf(error: unknown): Failure {
  if (error instanceof Refusal) {
    const [status, next] = REFUSALS[error.code];
    return made(error.code, error, { status, safe: NOTHING, next }, error.headers);
  }
  if (isLogError(error)) {
    const { code } = error;
    const status = OWN_STATUS[code] ?? GROUP_STATUS[ERROR_GROUPS[code]];
    const safe = error.safe === "" ? NOTHING : error.safe;
    const headers = status === 503 || status === 423 ? { "retry-after": "1" } : {};
    return made(code, shownError(error), { status, safe, next: nextRequest(error) }, headers);
  }
  const { safe, request: next } = UNEXPECTED;
  const about = { message: "An unexpected error occurred", details: {} };
  return made("unexpected", about, { status: 500, safe, next }, {});
}

/** What only the operator needs to know, in the words of a client: the server's log has the rest. */
const HIDDEN: { readonly [code in ErrorCode]?: string } = {
  busy: "Another writer has locked the conversation",
  disk_full: "The store is full",
  read_only: "The store accepts no writes",
  store_gone: "The store does not respond",
  store_failed: "The store does not respond",
  unsupported_version: "A newer version of Holdfast wrote this",
};
const SHOWN_DETAILS: ReadonlySet<string> = new Set(["conversation", "entry", "seq", "turn", "retryAfterMs"]);

function shownError({ code, message, details }: LogError): Pick<LogError, "message" | "details"> {
  const hidden = "file" in details ? undefined : HIDDEN[code];
  if (hidden === undefined) return { message, details };
  const shown = Object.entries(details).filter(([name]) => SHOWN_DETAILS.has(name));
  return { message: hidden, details: Object.fromEntries(shown) };
}

function made(
  code: FailureCode,
  { message, details }: { readonly message: string; readonly details: ErrorDetails },
  { status, safe, next }: Known,
  headers: Readonly<Record<string, string>>,
): Failure {
  return {
    status,
    headers,
    body: { schemaVersion: SCHEMA_VERSION, error: { code, message, safe, next, details } },
  };
}
