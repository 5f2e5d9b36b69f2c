import { expect, test } from "vitest";
import { endingOf } from "#agent/models/model-endings";

const NOW = 1_800_000_000_000;

interface Given {
  readonly statusCode?: number;
  readonly message?: string;
  readonly data?: unknown;
  readonly isRetryable?: boolean;
  readonly responseHeaders?: { readonly [name: string]: string };
  readonly type?: string;
  readonly code?: unknown;
}
const error = (given: Given): Error =>
  Object.assign(new Error(given.message ?? ""), {
    name: "AI_APICallError",
    requestBodyValues: { messages: ["the secret prompt"] },
    ...given,
  });
const openai = (code: string | null, type: string, message: string): unknown => ({
  error: { message, type, code },
});

test.each<[string, Given]>([
  ["auth", { statusCode: 401, message: "invalid x-api-key" }],
  ["auth", { statusCode: 403, message: "Forbidden" }],
  ["auth", { statusCode: 400, message: "API key not valid. Please pass a valid API key." }],
  ["credit", { statusCode: 402, message: "Payment required" }],
  ["credit", { statusCode: 400, message: "Your credit balance is too low to access the API" }],
  [
    "credit",
    {
      statusCode: 429,
      isRetryable: true,
      message: "You exceeded your current quota",
      data: openai("insufficient_quota", "insufficient_quota", "You exceeded your current quota"),
    },
  ],
  ["limit", { statusCode: 429, isRetryable: true, message: "Rate limit reached" }],
  [
    "limit",
    { message: "slow down", data: { error: { status: "RESOURCE_EXHAUSTED", message: "slow down" } } },
  ],
  ["limit", { type: "rate_limit_error", message: "slow" }],
  ["too_long", { statusCode: 413, message: "Request too large" }],
  ["too_long", { statusCode: 400, message: "prompt is too long: 210000 tokens > 200000 maximum" }],
  ["too_long", { statusCode: 400, message: "This model's maximum context length is 8192 tokens" }],
  [
    "too_long",
    {
      statusCode: 400,
      message: "no",
      data: openai("context_length_exceeded", "invalid_request_error", "no"),
    },
  ],
  [
    "too_long",
    {
      statusCode: 400,
      message: "The input token count (2000000) exceeds the maximum number of tokens allowed",
    },
  ],
  ["poisoned", { statusCode: 400, message: "messages.3: image exceeds 5 MB limit" }],
  ["poisoned", { statusCode: 400, message: "Could not process image" }],
  [
    "poisoned",
    { statusCode: 400, message: "x", data: openai("content_policy_violation", "invalid_request_error", "x") },
  ],
  ["overloaded", { statusCode: 500, isRetryable: true }],
  ["overloaded", { statusCode: 503, isRetryable: true, message: "Service Unavailable" }],
  ["overloaded", { statusCode: 529, isRetryable: true, message: "Overloaded" }],
  ["overloaded", { statusCode: 408, isRetryable: true }],
  ["overloaded", { statusCode: 409, isRetryable: true }],
  ["overloaded", { statusCode: 200, isRetryable: true, message: "Failed to process successful response" }],
  ["overloaded", { isRetryable: true, message: "Cannot connect to API: connect ECONNREFUSED 127.0.0.1:9" }],
  ["overloaded", { type: "overloaded_error", message: "busy" }],
  ["overloaded", { message: "x", data: { error: { code: 503, status: "UNAVAILABLE", message: "x" } } }],
  ["failed", { statusCode: 400, message: "tools.0.name: invalid" }],
  ["failed", { statusCode: 404, message: "model: nothing" }],
  ["failed", { statusCode: 422, message: "Unprocessable" }],
])("%s: %j", (known, given) => {
  const ending = endingOf(error(given), NOW);
  expect(ending.class).toBe(known);
  expect(ending.message).not.toBe("");
  expect(ending.message).not.toContain("secret prompt");
});

test.each<[number | null, Given]>([
  [NOW + 30_000, { statusCode: 429, responseHeaders: { "retry-after": "30" } }],
  [NOW + 1_500, { statusCode: 529, responseHeaders: { "retry-after-ms": "1500", "retry-after": "9" } }],
  [NOW + 5_000, { statusCode: 503, responseHeaders: { "retry-after": new Date(NOW + 5_000).toUTCString() } }],
  [
    NOW + 17_000,
    { statusCode: 429, data: { error: { status: "RESOURCE_EXHAUSTED", details: [{ retryDelay: "17s" }] } } },
  ],
  [null, { statusCode: 429, responseHeaders: { "retry-after": "soon" } }],
  [null, { statusCode: 429, responseHeaders: { "retry-after": "99999999" } }],
  [null, { statusCode: 401, responseHeaders: { "retry-after": "30" } }],
])("the moment to come back is %d for %j", (at, given) => {
  expect(endingOf(error(given), NOW).resetAtMs).toBe(at);
});

test("no key and no prompt is in what is said of an error", () => {
  const shown = [
    error({ statusCode: 401, message: "Incorrect API key provided: sk-proj-abcdefghijklmnop1234." }),
    Object.assign(new TypeError('Headers.append: "sk-ant-aaaaaaaaaaaaaaa\\nb" is an invalid header value.')),
    Object.assign(new Error('JSON parsing failed: Text: {"the secret prompt'), { name: "AI_JSONParseError" }),
    error({ statusCode: 400, message: `bad: ${"the secret prompt ".repeat(500)}` }),
  ].map((given) => endingOf(given, NOW).message);
  expect(shown.slice(0, 3).join(" ")).not.toMatch(/abcdefgh|aaaaaa|secret prompt/);
  expect(shown[3]?.length).toBeLessThan(600);
});

test.each([undefined, null, "text", 7, new Error("boom")])("anything thrown has a class: %s", (given) => {
  expect(endingOf(given, NOW).class).toBe("failed");
});

test("what a service said is told with its status, its address and the model, and no secret of the address", () => {
  const url = "http://me:secret@127.0.0.1:1/v1/messages?key=hidden";
  const said = (given: object): string =>
    endingOf(Object.assign(error({ message: "Not Found" }), { url }, given), NOW, "anthropic/x").message;
  expect(said({ statusCode: 404 })).toBe(
    "404 from http://127.0.0.1:1/v1/messages for anthropic/x: Not Found",
  );
  const refused = said({ isRetryable: true, message: "Cannot connect to API: connect ECONNREFUSED" });
  expect(refused).toBe("anthropic/x could not be reached at http://127.0.0.1:1: connect ECONNREFUSED");
  expect(said({ statusCode: 401, url: "no url" })).toBe("Not Found");
});
