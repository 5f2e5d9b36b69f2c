/** How each agent fails: exact codes, words and order of what came before, as seen on real ones. */
import { randomUUID } from "node:crypto";
import { readControl } from "./control.ts";
import { type Answer, forever, type Turn } from "./turn.ts";
import { type Fields, Refusal } from "./wire.ts";

const HOUR_MS = 3_600_000;

type Failure = (turn: Turn) => Answer | Promise<Answer>;
type Failures = { readonly [kind: string]: Failure };

function resetSeconds(turn: Turn): number {
  const { resetAtMs } = readControl(turn.session.inputs.folder);
  return Math.floor((resetAtMs ?? Date.now() + HOUR_MS) / 1_000);
}

function timeOfDay(seconds: number): string {
  return new Date(seconds * 1_000).toLocaleTimeString("en-US", { hour: "numeric", minute: "2-digit" });
}

/** The words come as an ordinary chunk first, and are replayed later as if they had been an answer. */
function claude(words: string | ((turn: Turn) => string), code: number, errorKind?: string): Failure {
  return (turn) => {
    const text = typeof words === "string" ? words : words(turn);
    if (turn.session.inputs.client.wantsFailures) return inResult(turn, errorKind ?? "auth");
    // What its program says itself goes by a plain uuid, not by an id of the model's.
    turn.remark(text, randomUUID());
    if (code === -32000) throw new Refusal(code, "Authentication required");
    throw new Refusal(code, `Internal error: ${text}`, errorKind === undefined ? undefined : { errorKind });
  };
}

/** A host that asked for it is told of a failure in what is otherwise a success. */
function inResult(turn: Turn, errorKind: string): Answer {
  const failure = (severity: string): Fields => ({
    jetbrains: {
      air: {
        sessionFailure: {
          id: turn.session.id,
          category: errorKind === "rate_limit" ? "limit" : "other",
          severity,
          actions: ["retry"],
        },
      },
    },
  });
  turn.update({ sessionUpdate: "session_info_update", _meta: failure("warning") });
  return turn.end("end_turn", { _meta: failure("error") });
}

const CLAUDE: Failures = {
  "429": claude("API Error: Request rejected (429) · Rate limited", -32603, "rate_limit"),
  "500": claude("API Error: 500 Internal server error", -32603, "server_error"),
  "529": claude("API Error: 529 Overloaded", -32603, "server_error"),
  "401": claude("Invalid API key · Fix external API key", -32000),
  "403": claude("Failed to authenticate. API Error: 403 Request not allowed", -32000),
  credit: claude("Credit balance is too low", -32603, "billing_error"),
  image: claude("API Error: 400 image exceeds the 5 MB limit", -32603, "invalid_request"),
  "too-long": claude("Prompt is too long", -32603, "invalid_request"),
  "limit-reset": claude(
    (turn) => `Claude AI usage limit reached|${resetSeconds(turn)}`,
    -32603,
    "rate_limit",
  ),
};

/** Codex calls it a success; only what stands in `_meta` says otherwise. */
function codexHidden(httpStatusCode: number): Failure {
  return (turn) => {
    const error = { codexErrorInfo: { responseStreamDisconnected: { httpStatusCode } }, willRetry: true };
    turn.update({ sessionUpdate: "session_info_update", _meta: { codex: { error } } });
    turn.remark(`exceeded retry limit, last status: ${httpStatusCode}`);
    const threadStatus = { type: "systemError" };
    turn.update({ sessionUpdate: "session_info_update", _meta: { codex: { threadStatus } } });
    return turn.end();
  };
}

function codex(words: string | ((turn: Turn) => string), codexErrorInfo: string): Failure {
  return (turn) => {
    const message = typeof words === "string" ? words : words(turn);
    turn.remark(message);
    throw new Refusal(-32603, "Internal error", { message, codexErrorInfo });
  };
}

function refuse(code: number, message: string, data?: unknown): Failure {
  return () => {
    throw new Refusal(code, message, data);
  };
}

const CODEX: Failures = {
  "429": codexHidden(429),
  "500": codexHidden(500),
  "529": codexHidden(529),
  "401": refuse(-32000, "Authentication required"),
  "403": refuse(-32000, "Authentication required"),
  credit: codex("Quota exceeded. Check your plan and billing details.", "usageLimitExceeded"),
  "too-long": codex("Your input exceeds the context window of this model.", "contextWindowExceeded"),
  "limit-reset": codex(
    (turn) => `You’ve hit your usage limit. Upgrade to Pro or try again at ${timeOfDay(resetSeconds(turn))}.`,
    "usageLimitExceeded",
  ),
};

const API_ERROR = { service: "session", errorName: "APIError" };

const OPENCODE: Failures = {
  "429": refuse(-32603, "Internal error: Too Many Requests", API_ERROR),
  "500": refuse(-32603, "Internal error: Internal Server Error, status 500", API_ERROR),
  "529": refuse(-32603, "Internal error: Overloaded", API_ERROR),
  "401": refuse(-32603, "Internal error: invalid x-api-key", API_ERROR),
  "403": refuse(-32603, "Internal error: unauthorized", API_ERROR),
  credit: refuse(-32603, "Internal error: Your credit balance is too low", API_ERROR),
  "limit-reset": (turn) => {
    throw new Refusal(-32603, `Internal error: usage limit reached|${resetSeconds(turn)}`, API_ERROR);
  },
  // It sums up by itself and goes on; the summary streams as if it were the answer.
  "too-long": (turn) => {
    turn.say("Summary of the conversation so far. ");
    turn.say("Continue if you have next steps.");
    return turn.end();
  },
};

const GEMINI: Failures = {
  "429": () => forever(),
  "500": refuse(-32603, "Internal error", { details: "got status: 500 Internal Server Error" }),
  "529": refuse(-32603, "Internal error", { details: "got status: 503 Service Unavailable, overloaded" }),
  "401": refuse(-32000, "Authentication required"),
  "403": refuse(-32000, "Authentication required"),
  credit: refuse(-32603, "Internal error", { details: "insufficient quota" }),
  "too-long": refuse(-32603, "Internal error", { details: "context length exceeded" }),
  "limit-reset": (turn) => {
    throw new Refusal(-32603, "Internal error", { details: `usage limit reached|${resetSeconds(turn)}` });
  },
};

const PLAIN: Failures = {
  "429": refuse(-32003, "Rate limited"),
  "500": refuse(-32603, "Internal error", { status: 500 }),
  "529": refuse(-32603, "Internal error", { status: 529 }),
  "401": refuse(-32000, "Authentication required"),
  "403": refuse(-32000, "Authentication required"),
  credit: refuse(-32603, "Internal error", { status: 402 }),
  "too-long": refuse(-32603, "Prompt is too long"),
  "limit-reset": (turn) => {
    throw new Refusal(-32003, "Rate limited", { resets_at: resetSeconds(turn) });
  },
};

const ALL = { claude: CLAUDE, codex: CODEX, opencode: OPENCODE, gemini: GEMINI, plain: PLAIN };

/** The session is gone: the file is deleted, and the prompt answered as by one that never knew it. */
function expired(turn: Turn): never {
  const { session } = turn;
  session.inputs.files.remove(session.id);
  session.gone = true;
  throw session.inputs.flavour.unknown("session/prompt", session.id, session.cwd);
}

/** The model's process is gone, the adapter is not: the session has to be resumed. Its words were never kept. */
function exited(turn: Turn): never {
  turn.say("Partial words ");
  turn.session.gone = true;
  throw new Refusal(-32603, "The Claude Agent process exited unexpectedly. Please start a new session.");
}

export function failLike(turn: Turn, kind: string): Answer | Promise<Answer> {
  if (kind === "expired") return expired(turn);
  if (kind === "exited") return exited(turn);
  const failure = ALL[turn.session.inputs.flavour.like][kind];
  if (failure === undefined) throw new Refusal(-32602, `There is no failure ${kind}`);
  return failure(turn);
}
