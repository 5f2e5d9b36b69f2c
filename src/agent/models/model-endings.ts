import type { Json } from "#log/json/json-text";
import { classifyEnd, type EndingTable, STATUS_ENDINGS, TOO_MANY } from "#turn/rules/classify";
import type { Ending } from "#turn/rules/ending";
import { DISGUISED, LIMITS, LOGINS, MONEY, NETWORK, OVERLOADS } from "#turn/rules/service-endings";

/** What a model's service means by an error. A quota that is used up comes as a 429, a request that is too long as a 400. */
const MODEL_ENDINGS: EndingTable = [
  ...DISGUISED,
  {
    on: "kind",
    is: ["context_length_exceeded", "model_context_window_exceeded", "request_too_large"],
    class: "too_long",
  },
  {
    on: "text",
    like: /maximum context length|exceeds? (?:the )?(?:model['’]s )?(?:maximum )?(?:context|input)|input (?:token count|is too long)|too many (?:input )?tokens|request too large/i,
    class: "too_long",
  },
  {
    on: "kind",
    is: [
      "content_policy_violation",
      "invalid_prompt",
      "image_parse_error",
      "invalid_image",
      "unsupported_functionality",
    ],
    class: "poisoned",
  },
  {
    on: "text",
    like: /could not process (?:the )?image|(?:invalid|unsupported|unable to process)[^.]{0,30}image|image[^.]{0,40}(?:not supported|unsupported|invalid|corrupt)|content (?:was )?(?:blocked|flagged|refused)|usage polic/i,
    class: "poisoned",
  },
  ...MONEY,
  { on: "text", like: /api key (?:not valid|is missing|expired)|incorrect api key/i, class: "auth" },
  { on: "kind", is: ["broken_stream", "network_error"], class: "overloaded" },
  ...STATUS_ENDINGS,
  { on: "status", is: [408, 409, 425, 520, 521, 522, 523, 524, 525, 526, 530], class: "overloaded" },
  ...TOO_MANY,
  { on: "kind", is: ["rate_limit_exceeded", "resource_exhausted", "too_many_requests"], class: "limit" },
  ...LIMITS,
  { on: "kind", is: ["unauthenticated", "permission_denied", "permission_error"], class: "auth" },
  ...LOGINS,
  // The caller's mistake, whatever kind of error a service makes of it.
  { on: "status", is: [400, 404, 405, 422], class: "failed" },
  ...OVERLOADS,
  { on: "kind", is: ["unavailable", "internal", "deadline_exceeded", "timeout_error"], class: "overloaded" },
  ...NETWORK,
];

/** Why there is no answer, whatever was thrown or told in the stream. With a model it says who was asked, and where. */
export function endingOf(error: unknown, nowMs: number, model?: string): Ending {
  const signs = signsOf(error);
  const data = { ...signs.data, ...resetAt(error, nowMs) };
  const { code, message } = signs;
  const ending = classifyEnd(MODEL_ENDINGS, {
    stopReason: null,
    exited: false,
    error: { code, message, data },
  });
  return model === undefined ? ending : { ...ending, message: withPlace(error, ending.message, model) };
}

/** Adds the model and the address to a message: the service's message alone does not name them. */
function withPlace(error: unknown, message: string, model: string): string {
  const { url, statusCode: status } = (error ?? {}) as ErrorFields;
  if (typeof url !== "string" || !URL.canParse(url)) return message;
  const { origin, pathname } = new URL(url);
  if (typeof status !== "number" || status === 200)
    return `${model} could not be reached at ${origin}: ${message.replace(/^Cannot connect to API: /, "")}`;
  return `${status} from ${origin}${pathname} for ${model}: ${message}`;
}

/** The stream ended or broke without an end that can be trusted: asked again it may go well. */
export function brokenStream(message: string): Ending {
  const error = { code: null, message, data: { error_kind: "broken_stream" } };
  return classifyEnd(MODEL_ENDINGS, { stopReason: null, exited: false, error });
}

interface ErrorSigns {
  readonly code: string | null;
  readonly message: string;
  readonly data: { readonly [name: string]: Json };
}

interface ErrorFields {
  readonly name?: unknown;
  readonly message?: unknown;
  readonly type?: unknown;
  readonly code?: unknown;
  readonly statusCode?: unknown;
  readonly url?: unknown;
  readonly isRetryable?: unknown;
  readonly data?: unknown;
  readonly responseHeaders?: unknown;
}

function signsOf(error: unknown): ErrorSigns {
  if (typeof error !== "object" || error === null)
    return { code: null, message: safeMessage(typeof error === "string" ? error : ""), data: {} };
  const fields = error as ErrorFields;
  const signs = knownError(fields);
  if (signs !== null) return signs;
  const status = typeof fields.statusCode === "number" ? fields.statusCode : null;
  const details = { type: fields.type, code: fields.code, error: fields.data } as {
    readonly [name: string]: unknown;
  };
  const members = errorMembers(details, 0);
  // A connection that broke has no status, or that of the headers, which came in time.
  const broke = fields.isRetryable === true && (status === null || status === 200);
  const data = {
    ...members,
    ...(status === null || status === 200 ? {} : { status }),
    ...(broke ? { error_kind: "network_error" } : {}),
  };
  const message = safeMessage(typeof fields.message === "string" ? fields.message : "");
  const fallback =
    status === null
      ? "The model's service returned an error"
      : `The model's service returned status ${status}`;
  return { code: codeIn(details, 0), message: message === "" ? fallback : message, data };
}

const ODD_STREAM = "The model's service sent an invalid response";

/** Returns the signs of an error of the provider packages, whose messages quote the request or the response. */
function knownError({ name, message }: ErrorFields): ErrorSigns | null {
  const kind = (error_kind: string, text: string): ErrorSigns => ({
    code: null,
    message: text,
    data: { error_kind },
  });
  switch (name) {
    case "AI_JSONParseError":
    case "AI_TypeValidationError":
    case "AI_InvalidResponseDataError":
    case "AI_EmptyResponseBodyError":
      return kind("broken_stream", ODD_STREAM);
    case "AI_LoadAPIKeyError":
      return kind("authentication_error", "The API key of the model is missing");
    case "AI_UnsupportedFunctionalityError":
      return kind(
        "unsupported_functionality",
        `The model does not accept the request: ${safeMessage(String(message))}`,
      );
    case "Error":
      // What Anthropic's package throws where the first line of a stream is no event.
      return /normalized \w+ stream error/.test(String(message)) ? kind("broken_stream", ODD_STREAM) : null;
    case "TypeError":
      return /header/i.test(String(message))
        ? kind("authentication_error", "The API key contains a character that cannot be sent")
        : null;
    default:
      return null;
  }
}

const ERROR_MEMBERS = new Set(["type", "status", "message", "reason", "error", "details"]);
const DEPTH_MAX = 4;

/** What an error says of itself. Everything else in it may be the request. */
function errorMembers(input: unknown, depth: number): { readonly [name: string]: Json } {
  if (typeof input !== "object" || input === null || depth > DEPTH_MAX) return {};
  const members: { [name: string]: Json } = {};
  for (const [name, value] of Object.entries(input)) {
    if (!ERROR_MEMBERS.has(name)) continue;
    if (typeof value === "object") members[name] = errorMembers(value, depth + 1);
    // A status in words is a kind; the one in digits is on the error itself.
    else if (typeof value === "string") members[name === "status" ? "error_kind" : name] = safeMessage(value);
  }
  return members;
}

function codeIn(value: unknown, depth: number): string | null {
  if (typeof value !== "object" || value === null || depth > DEPTH_MAX) return null;
  const { code, error } = value as { readonly code?: unknown; readonly error?: unknown };
  return typeof code === "string" && /^[a-z][\w-]*$/i.test(code) ? code : codeIn(error, depth + 1);
}

const WORDS_MAX = 500;

/** For people, and kept: without anything that looks like a key, and not the length of a prompt. */
function safeMessage(text: string): string {
  const plain = text.replaceAll(/\b(?:sk|pk|rk|key|AIza|Bearer)[-_ ]?[\w*.-]{12,}/g, "[key]").trim();
  return plain.length > WORDS_MAX ? `${plain.slice(0, WORDS_MAX).toWellFormed()}…` : plain;
}

const WAIT_MS_MAX = 691_200_000; // eight days; what says more was misread

function resetAt(error: unknown, nowMs: number): { readonly resets_at?: number } {
  const headers = (error as ErrorFields | null)?.responseHeaders as
    | { readonly [name: string]: string }
    | undefined;
  const ms = headerMs(headers, nowMs) ?? delayIn((error as ErrorFields | null)?.data, 0);
  return ms === null || ms < 0 || ms > WAIT_MS_MAX ? {} : { resets_at: nowMs + ms };
}

function headerMs(headers: { readonly [name: string]: string } | undefined, nowMs: number): number | null {
  const inMs = Number(headers?.["retry-after-ms"] ?? Number.NaN);
  if (Number.isFinite(inMs)) return Math.round(inMs);
  const after = headers?.["retry-after"];
  if (after === undefined || after.trim() === "") return null;
  const seconds = Number(after);
  const ms = Number.isFinite(seconds) ? Math.round(seconds * 1_000) : Date.parse(after) - nowMs;
  return Number.isFinite(ms) ? ms : null;
}

/** Google says it in the error's details, as `17s`. */
function delayIn(input: unknown, depth: number): number | null {
  if (typeof input !== "object" || input === null || depth > DEPTH_MAX) return null;
  for (const [name, value] of Object.entries(input)) {
    const seconds =
      name === "retryDelay" && typeof value === "string" ? /^([\d.]+)s$/.exec(value)?.[1] : undefined;
    const delay = seconds === undefined ? delayIn(value, depth + 1) : Math.round(Number(seconds) * 1_000);
    if (delay !== null) return delay;
  }
  return null;
}
