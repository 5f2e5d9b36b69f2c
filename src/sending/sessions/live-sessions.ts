import type { ConversationId } from "#log/ids";
import type { SpaceStore } from "#store/facets";
import { KnownFacts } from "./facts.ts";
import type { Live } from "#sending/turn-parts";
import type { Upstream } from "#sending/upstream";

/** The sessions that are held open, one for each agent of a conversation, and the facts they are chosen by. */
export class LiveSessions {
  readonly #live = new Map<ConversationId, Map<Upstream, Live>>();
  readonly #facts = new Map<ConversationId, KnownFacts>();

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

  factsOf(conversation: ConversationId, space: SpaceStore): KnownFacts {
    const known = this.#facts.get(conversation) ?? new KnownFacts(space, conversation);
    this.#facts.set(conversation, known);
    return known;
  }

  /** Nothing is kept of a conversation that has no session. */
  dropUnused(conversation: ConversationId): void {
    if ((this.#live.get(conversation)?.size ?? 0) > 0) return;
    this.#live.delete(conversation);
    this.#facts.delete(conversation);
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
