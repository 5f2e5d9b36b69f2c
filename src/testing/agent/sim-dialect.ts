import type { FaultKind } from "#testing/faults";
import type { RawEnd } from "#upstream/upstream";

export type Complaint =
  | "limit"
  | "credit"
  | "overload"
  | "expire"
  | "auth"
  | "too_long"
  | "poison"
  | "corrupt"
  | "unknown_session"
  | "crash";

type Failure = NonNullable<RawEnd["error"]>;

interface SayInput {
  readonly session: string;
  readonly resetAtMs: number;
}

type Dialect = { readonly [C in Complaint]: (saying: SayInput) => Failure };

// The words and codes of claude-agent-acp, as seen on the wire.
const CLAUDE: Dialect = {
  limit: ({ resetAtMs }) => ({
    code: -32603,
    message: "You've hit your session limit · resets 3pm",
    data: {
      errorKind: "rate_limit",
      rate_limit_info: {
        status: "rejected",
        resetsAt: Math.ceil(resetAtMs / 1_000),
        rateLimitType: "five_hour",
      },
    },
  }),
  credit: () => ({
    code: -32603,
    message: "Credit balance is too low",
    data: { errorKind: "billing_error" },
  }),
  // Typed as a rate limit by the SDK; only the status tells.
  overload: () => ({
    code: -32603,
    message: "API Error: 529 Overloaded",
    data: { errorKind: "rate_limit", status: 529 },
  }),
  expire: ({ session }) => ({
    code: -32603,
    message: "Internal error",
    data: { details: `Session expired: ${session}` },
  }),
  auth: () => ({ code: -32000, message: "OAuth token revoked · Please run /login", data: null }),
  too_long: () => ({ code: -32603, message: "Prompt is too long", data: { errorKind: "invalid_request" } }),
  poison: () => ({
    code: -32603,
    message: "API Error: 400 image exceeds the 5 MB limit",
    data: { terminal_reason: "image_error" },
  }),
  corrupt: () => ({
    code: -32603,
    message: "Internal error",
    data: { details: "messages.7: unexpected block" },
  }),
  unknown_session: ({ session }) => ({
    code: -32002,
    message: `Resource not found: ${session}`,
    data: { sessionId: session },
  }),
  crash: () => ({
    code: -32603,
    message: "The Claude Agent process exited unexpectedly. Please start a new session.",
    data: null,
  }),
};

const CODEX: Dialect = {
  limit: ({ resetAtMs }) => ({
    code: -32603,
    message: "Internal error",
    data: {
      message: "You’ve hit your usage limit. Try again later.",
      codexErrorInfo: "usageLimitExceeded",
      resets_at: Math.ceil(resetAtMs / 1_000),
    },
  }),
  credit: () => ({
    code: -32603,
    message: "Internal error",
    data: { message: "Insufficient credit balance", codexErrorInfo: "other" },
  }),
  overload: () => ({
    code: -32603,
    message: "Internal error",
    data: { message: "The server is overloaded", codex_error_info: "server_overloaded" },
  }),
  expire: ({ session }) => ({
    code: -32603,
    message: "Internal error",
    data: { message: `Session expired: ${session}` },
  }),
  auth: () => ({ code: -32000, message: "Authentication required", data: null }),
  too_long: () => ({
    code: -32603,
    message: "Internal error",
    data: { message: "The context is full", codexErrorInfo: "contextWindowExceeded" },
  }),
  poison: () => ({
    code: -32603,
    message: "Internal error",
    data: { message: "image too large", codexErrorInfo: "badRequest" },
  }),
  corrupt: () => ({
    code: -32603,
    message: "Internal error",
    data: { message: "unexpected item in the history", codexErrorInfo: "other" },
  }),
  unknown_session: ({ session }) => ({
    code: -32603,
    message: "Internal error",
    data: { details: `no rollout found for thread id ${session}` },
  }),
  crash: () => ({ code: null, message: "ACP process exited (code 1)", data: null }),
};

/** How this agent puts it. Agents without a dialect of their own speak like Claude. */
export function complain(agent: string, complaint: Complaint, saying: SayInput): Failure {
  return (agent === "codex" ? CODEX : CLAUDE)[complaint](saying);
}

/** The faults that are an answer: the agent says what is wrong and stops. */
export const COMPLAINTS: { readonly [K in FaultKind]?: Complaint } = {
  limit: "limit",
  credit: "credit",
  overload: "overload",
  expire: "expire",
  auth: "auth",
  too_long: "too_long",
  poison: "poison",
  corrupt: "corrupt",
};
