import type { PromptEvent } from "../../conversation/sending/upstream.ts";

/** The pipe between an agent and whoever reads it: in order, ended by `end`, closed for good after it. */
export class EventQueue {
  #waiting: PromptEvent[] = [];
  #wake: (() => void) | null = null;
  #closed: boolean = false;

  push(event: PromptEvent): void {
    if (this.#closed) return;
    this.#closed = event.type === "end";
    this.#waiting.push(event);
    this.#wake?.();
  }

  async *read(): AsyncGenerator<PromptEvent> {
    for (;;) {
      const event = this.#waiting.shift();
      if (event !== undefined) {
        yield event;
        if (event.type === "end") return;
        continue;
      }
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = null;
    }
  }
}
