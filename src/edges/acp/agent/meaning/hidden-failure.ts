import type { Json } from "#log/json/json-text";
import type { EndError } from "#turn/rules/classify";
import { resetInWords } from "#vendors/endings/reset-words";
import type { Dialect, FailureSigns } from "#vendors/vendor";
import { type Fields, fieldsOf, wordsIn } from "#log/json/json-fields";

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

  /** Signs that were told of apart from the updates. */
  add({ error, failed, limit }: FailureSigns): void {
    this.#error = error ?? this.#error;
    this.#failed = failed ?? this.#failed;
    this.#limit = limit ?? this.#limit;
  }

  /** The failure behind a result that calls itself a success; null when there is none. */
  behind(result: Json): EndError | null {
    const failure = ["_meta", "jetbrains", "air", "sessionFailure"].reduce<Fields>(
      (at, name) => fieldsOf(at[name]),
      fieldsOf(result),
    );
    if (failure["severity"] === "error") {
      const kind = failure["category"] === "limit" ? { errorKind: "rate_limit" } : {};
      return this.with({ code: null, message: wordsOf(failure), data: { ...failure, ...kind } });
    }
    if (!this.#failed) return null;
    const message = this.#error === null ? this.#adapterText : wordsOf(this.#error);
    return { code: null, message: message || "The agent reported an error", data: this.#error };
  }

  /** An error with when a limit ends: as it was told before, else as its words say. */
  with(error: EndError): EndError {
    const data = fieldsOf(error.data);
    const said = resetInWords(`${error.message}\n${wordsIn(data["message"])}`, {
      nowMs: this.#nowMs(),
      zone: Intl.DateTimeFormat().resolvedOptions().timeZone, // the agent runs on this machine
    });
    const limit = this.#limit ?? (said === null ? null : { resetsAt: said });
    return limit === null ? error : { ...error, data: { ...data, limit } };
  }
}

function wordsOf(failure: Fields): string {
  const said = [failure["message"], failure["title"], failure["description"]].find(
    (text) => typeof text === "string",
  );
  return typeof said === "string" ? said : "The agent reported an error";
}
