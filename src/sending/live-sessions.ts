import type { ConversationId } from "#log/ids";
import type { Live } from "./choose.ts";
import type { Upstream } from "./upstream.ts";

/** The sessions that are held open, one for each agent of a conversation. */
export class LiveSessions {
  readonly #live = new Map<ConversationId, Map<Upstream, Live>>();

  get(conversation: ConversationId, upstream: Upstream): Live | null {
    return this.#live.get(conversation)?.get(upstream) ?? null;
  }

  /** Null: none is held any more. */
  keep(conversation: ConversationId, upstream: Upstream, live: Live | null): void {
    const held = this.#live.get(conversation) ?? new Map<Upstream, Live>();
    if (live === null) held.delete(upstream);
    else held.set(upstream, live);
    this.#live.set(conversation, held);
  }

  async letGo(conversation: ConversationId): Promise<void> {
    const held = [...(this.#live.get(conversation)?.values() ?? [])];
    this.#live.delete(conversation);
    await Promise.allSettled(held.map(({ session }) => session.close()));
  }

  async letAllGo(): Promise<void> {
    await Promise.all([...this.#live.keys()].map((conversation) => this.letGo(conversation)));
  }
}
