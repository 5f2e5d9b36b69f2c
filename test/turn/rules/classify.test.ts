/** What an ending means by a table; the tables of the known agents are tried in test/vendors. */
import { expect, test } from "vitest";
import { classifyEnd, type EndSigns, PLAIN_ENDINGS } from "#turn/rules/classify";
import { CLAUDE_ENDINGS } from "#vendors/claude/claude";
import { CODEX_ENDINGS } from "#vendors/codex/codex";
import type { Json } from "#log/json/json-text";

function failure(message: string, code: number | string | null = -32603, data: Json = null): EndSigns {
  return { stopReason: null, error: { code, message, data }, exited: false };
}

test.each([
  ["end_turn", "completed"],
  ["max_tokens", "completed"],
  ["refusal", "completed"],
  ["cancelled", "cancelled"],
  [null, "failed"],
] as const)("a stop for %s is %s", (stopReason, expected) => {
  expect(classifyEnd(CLAUDE_ENDINGS, { stopReason, error: null, exited: false }).class).toBe(expected);
});

test("a process that is gone has crashed, unless it said something better first", () => {
  expect(classifyEnd(CLAUDE_ENDINGS, { stopReason: null, error: null, exited: true }).class).toBe("crashed");
  expect(classifyEnd(CLAUDE_ENDINGS, { ...failure("what"), exited: true }).class).toBe("crashed");
  expect(
    classifyEnd(CLAUDE_ENDINGS, { ...failure("Not logged in · Please run /login"), exited: true }).class,
  ).toBe("auth");
});

test.each([
  [
    { rate_limit_info: { status: "rejected", resetsAt: 1_767_230_000 } },
    "You've hit your session limit · resets 3pm",
    1_767_230_000_000,
  ],
  [{ resets_at: 1_767_230_000_500 }, "You've hit your limit", 1_767_230_000_500],
  [{ resetsAt: "2026-01-01T01:13:20Z" }, "You've hit your limit", 1_767_230_000_000],
  [null, "You've hit your limit · resets 2026-01-01T02:13:20.250+01:00", 1_767_230_000_250],
  [null, "Claude AI usage limit reached|1767230000", 1_767_230_000_000],
  [null, "You've hit your session limit · resets 3pm", null],
  [null, "You’ve hit your usage limit. Try again at 3:28 AM.", null],
  [{ resetsAt: -5 }, "You've hit your limit", null],
] as const)("reads when a limit ends where that can be known: %j %s", (data, message, expected) => {
  expect(classifyEnd(CLAUDE_ENDINGS, failure(message, -32603, data))).toMatchObject({
    class: "limit",
    resetAtMs: expected,
  });
});

test("a moment with its zone is the same here as everywhere", () => {
  for (const iso of [
    "1970-01-01T00:00:00Z",
    "2000-02-29T23:59:59Z",
    "2024-02-29T12:00:00+05:30",
    "2026-12-31T23:59:59.999-08:00",
    "2100-03-01T00:00:00Z",
  ])
    expect(classifyEnd(CLAUDE_ENDINGS, failure(`You've hit your limit · resets ${iso}`)).resetAtMs).toBe(
      Date.parse(iso),
    );
});

test("people are shown the words that say something", () => {
  expect(
    classifyEnd(
      CODEX_ENDINGS,
      failure("Internal error", -32603, {
        message: "You’ve hit your usage limit.",
        codexErrorInfo: "usageLimitExceeded",
      }),
    ).message,
  ).toBe("You’ve hit your usage limit.");
});

test("scenario 36: a turn that ends well is a success, whatever was rejected on the way", () => {
  expect(classifyEnd(CLAUDE_ENDINGS, { stopReason: "end_turn", error: null, exited: false })).toEqual({
    class: "completed",
    message: "",
    resetAtMs: null,
  });
});

test("scenario 40: a model one may not use comes as a 429 and is no limit: nobody waits for a reset", () => {
  const end = failure("API Error: Extra usage is required for 1M context · enable extra usage", -32603, {
    status: 429,
    rate_limit_info: { status: "rejected", resetsAt: 1_767_230_000 },
  });
  expect(classifyEnd(CLAUDE_ENDINGS, end)).toMatchObject({ class: "failed", resetAtMs: null });
});

test("the first rule that fits decides, wherever it looks", () => {
  const end = failure("No more today", 7, { status: 503, vendorErrorInfo: "daily_quota" });
  const byCode = { on: "code", is: [7], class: "limit" } as const;
  const byKind = { on: "kind", is: ["daily_quota"], class: "credit" } as const;
  const byStatus = { on: "status", is: [503], class: "overloaded" } as const;
  const byText = { on: "text", like: /no more/i, class: "auth" } as const;
  const rules = [byCode, byKind, byStatus, byText];
  for (const [at, rule] of rules.entries()) {
    expect(classifyEnd([rule, ...rules.toReversed()], end).class).toBe(rules[at]?.class);
  }
  expect(classifyEnd([], end).class).toBe("failed");
});

test("without a table statuses and codes are understood, words are not", () => {
  const classOf = (end: EndSigns): string => classifyEnd(PLAIN_ENDINGS, end).class;
  expect(classOf(failure("no", 429))).toBe("limit");
  expect(classOf(failure("no", -32603, { status: 529 }))).toBe("overloaded");
  expect(classOf(failure("no", -32000))).toBe("auth");
  expect(classOf(failure("no", -32002))).toBe("lost");
  expect(classOf(failure("You've hit your limit"))).toBe("failed");
});
