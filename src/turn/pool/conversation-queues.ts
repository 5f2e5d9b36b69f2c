import type { ConversationId } from "#log/ids";

/** What is done in a conversation one after another, in the order it was asked for. */
export class ConversationQueues {
  /** By conversation: settles when everything in its queue has been done. */
  readonly #queues = new Map<ConversationId, Promise<void>>();

  run<T>(conversation: ConversationId, work: () => Promise<T>): Promise<T> {
    const before = this.#queues.get(conversation) ?? Promise.resolve();
    const result = before.then(work);
    const end = (): void => {
      if (this.#queues.get(conversation) === settled) this.#queues.delete(conversation);
    };
    const settled = result.then(end, end);
    this.#queues.set(conversation, settled);
    return result;
  }

  /** Resolves when every queue is empty of what is in it now. */
  async settled(): Promise<void> {
    await Promise.all(this.#queues.values());
  }
}
