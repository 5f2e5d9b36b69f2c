import type { RawEnd } from "#upstream/upstream";
import type { Usage } from "#log/message";
import type { Json } from "#log/json/json-text";
import { spanAt, stringAt } from "#edges/acp/wire/spans";
import { type Answer, ConnectionEnded, resultOf } from "./connection.ts";
import { type Fields, fieldsOf, wordsIn } from "#log/json/json-fields";
import type { EndError } from "#turn/rules/classify";
import { resetInWords } from "#vendors/shared-endings";
import type { Dialect, FailureSigns } from "#vendors/vendor";

/** How a prompt ended, in the agent's own terms, with the failure it did not call one. */
export function endOf(
  answer: Answer | ConnectionEnded,
  turn: { readonly failure: HiddenFailure; readonly startMs: number },
): RawEnd {
  const durationMs = performance.now() - turn.startMs;
  if (answer instanceof ConnectionEnded) {
    const error = { code: null, message: answer.message, data: null };
    return { stopReason: null, error, exited: true, durationMs, usage: null };
  }
  const { message } = answer;
  const common = { exited: false, durationMs, wire: message };
  if (answer.error !== null)
    return { ...common, stopReason: null, error: turn.failure.with(answer.error), usage: null };
  const result = resultOf(answer);
  const stop = message.result === null ? null : spanAt(message.bytes, message.result, ["stopReason"]);
  return {
    ...common,
    stopReason: stringAt(message.bytes, stop) ?? "end_turn",
    error: turn.failure.behind(result),
    usage: usageOf(fieldsOf(fieldsOf(result)["usage"])),
  };
}

const USAGE_NAMES = {
  inputTokens: "inputTokens",
  outputTokens: "outputTokens",
  cacheReadTokens: "cachedReadTokens",
  cacheWriteTokens: "cachedWriteTokens",
} as const;

function usageOf(usage: { readonly [name: string]: Json }): Usage | null {
  const counts = Object.entries(USAGE_NAMES).flatMap(([ours, theirs]) => {
    const count = usage[theirs];
    return typeof count === "number" && count >= 0 ? [[ours, count] as const] : [];
  });
  // No model was called, or no tokens were counted: neither is a total.
  return counts.every(([, count]) => count === 0) ? null : Object.fromEntries(counts);
}

/** Failures some adapters report beside a turn, which they then call ended or explain in fewer words. */
export class HiddenFailure {
  #error: Fields | null = null;
  #failed: boolean = false;
  #limit: Fields | null = null;
  #adapterText: string = "";
  readonly #dialect: Dialect;
  readonly #nowMs: () => number;

  constructor(dialect: Dialect, nowMs: () => number) {
    this.#dialect = dialect;
    this.#nowMs = nowMs;
  }

  /** Reads an update. */
  read(update: Fields): void {
    this.add(this.#dialect.failureIn(update));
    const isAdapterText =
      update["sessionUpdate"] === "agent_message_chunk" && update["messageId"] === undefined;
    if (isAdapterText) this.#adapterText = wordsIn(fieldsOf(update["content"])["text"]).trim();
  }

  /** Adds signs that did not come in an update. */
  add({ error, failed, limit }: FailureSigns): void {
    this.#error = error ?? this.#error;
    this.#failed = failed ?? this.#failed;
    this.#limit = limit ?? this.#limit;
  }

  /** The failure behind a result that calls itself a success; null when there is none. */
  behind(result: Json): EndError | null {
    const failure = ["_meta", "jetbrains", "air", "sessionFailure"].reduce<Fields>(
      (fields, name) => fieldsOf(fields[name]),
      fieldsOf(result),
    );
    if (failure["severity"] === "error") {
      const kind = failure["category"] === "limit" ? { errorKind: "rate_limit" } : {};
      return this.with({ code: null, message: failureText(failure), data: { ...failure, ...kind } });
    }
    if (!this.#failed) return null;
    const message = this.#error === null ? this.#adapterText : failureText(this.#error);
    return { code: null, message: message || "The agent reported an error", data: this.#error };
  }

  /** An error with the time at which a limit ends: as reported before, else as read from its text. */
  with(error: EndError): EndError {
    const data = fieldsOf(error.data);
    const resetMs = resetInWords(`${error.message}\n${wordsIn(data["message"])}`, {
      nowMs: this.#nowMs(),
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone, // the agent runs on this machine
    });
    const limit = this.#limit ?? (resetMs === null ? null : { resetsAt: resetMs });
    return limit === null ? error : { ...error, data: { ...data, limit } };
  }
}

function failureText(failure: Fields): string {
  const message = [failure["message"], failure["title"], failure["description"]].find(
    (text) => typeof text === "string",
  );
  return typeof message === "string" ? message : "The agent reported an error";
}

const MICROS = 1_000_000;

/** What each turn of a session cost. Agents report the cost of the whole session so far. */
export class SessionCost {
  /** The cost that turns were charged for; null: the session is older, and its cost so far is unknown. */
  #charged: number | null;
  #reported: number | null = null;

  constructor(isNew: boolean) {
    this.#charged = isNew ? 0 : null;
  }

  read(update: Fields): void {
    const { amount, currency } = fieldsOf(update["cost"]);
    if (typeof amount === "number" && amount >= 0 && currency === "USD")
      this.#reported = Math.round(amount * MICROS);
  }

  /** The usage of a turn that ended, with its cost where that is known. */
  charge(usage: Usage | null): Usage | null {
    const [before, total] = [this.#charged, this.#reported];
    if (total === null) return usage;
    [this.#charged, this.#reported] = [total, null];
    // A lower total is that of a process that counts from 0 again.
    if (before === null || total < before) return usage;
    const costMicros = total - before;
    return usage === null && costMicros === 0 ? null : { ...usage, costMicros };
  }
}
