import { LogError } from "#log/errors";
import type { HttpAnswer } from "#edges/http/exchange";

/** How long the beginning of an answer may take. What is under way when the time is over goes on by itself, and its answer is dropped. */
export class Deadline {
  readonly #ms: number;
  #timer: NodeJS.Timeout | undefined;

  constructor(ms: number) {
    this.#ms = ms;
  }

  /** The answer, or a failure once the time is over. */
  hold(answering: Promise<HttpAnswer>): Promise<HttpAnswer> {
    return new Promise((resolve, reject) => {
      let isOver = false;
      this.#timer = setTimeout(() => {
        isOver = true;
        reject(new LogError("store_gone", `The store did not respond within ${this.#ms} ms`));
      }, this.#ms);
      answering
        .then((answer) => {
          // Nobody reads a stream that is answered too late.
          if (isOver && answer.body instanceof ReadableStream) void answer.body.cancel();
          return resolve(answer);
        }, reject)
        .finally(() => this.lift());
    });
  }

  /** From here on it takes as long as it takes. */
  lift(): void {
    clearTimeout(this.#timer);
  }
}
