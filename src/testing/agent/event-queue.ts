import type { PromptEvent } from "#upstream/upstream";

/** The pipe between an agent and whoever reads it: in order, ended by `end`, closed for good after it. */
export class EventQueue {
  #waiting: PromptEvent[] = [];
  #wake: (() => void) | null = null;
  #closed: boolean = false;
  readonly #resolvers = new Map<PromptEvent, () => void>();

  push(event: PromptEvent): void {
    if (this.#closed) return;
    this.#closed = event.type === "end";
    this.#waiting.push(event);
    this.#wake?.();
  }

  /** Resolves when the reader asks for what follows this event; never when nobody does. */
  async pushAndWait(event: PromptEvent): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#resolvers.set(event, resolve);
    this.push(event);
    await promise;
  }

  async *read(): AsyncGenerator<PromptEvent> {
    for (;;) {
      const event = this.#waiting.shift();
      if (event !== undefined) {
        yield event;
        this.#resolvers.get(event)?.();
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
