import type { ConversationId } from "#log/ids";
import type { SpaceStore } from "#store/facets";
import type { HeldWeight } from "#turn/pool/choose-evicted";
import type { Pool } from "#turn/pool/pool";
import { type Held, PoolPart } from "#turn/pool/pool-part";
import { liveFacts } from "./facts.ts";
import type { Work } from "#upstream/turn-parts";
import type { Live } from "#upstream/turn-parts";
import type { Upstream } from "#upstream/upstream";

/** The sessions of one conversation, one for each agent, and the facts they are chosen by. */
class HeldSessions implements Held {
  readonly live: Map<Upstream, Live> = new Map();
  readonly facts: Work["facts"];

  constructor(facts: Work["facts"]) {
    this.facts = facts;
  }

  /** Nothing is kept of a conversation that has no session. */
  weight(): HeldWeight | null {
    return this.live.size === 0 ? null : { messages: 0, processes: this.live.size };
  }

  async letGo(): Promise<void> {
    const sessions = [...this.live.values()];
    this.live.clear();
    await Promise.allSettled(sessions.map(({ session }) => session.close()));
  }
}

/** The sessions that are held open, in a pool. */
export class LiveSessions {
  readonly #part: PoolPart<HeldSessions>;
  readonly #space: SpaceStore;

  constructor(pool: Pool, space: SpaceStore) {
    this.#space = space;
    this.#part = new PoolPart(pool, (conversation) => this.#make(conversation));
  }

  #make(conversation: ConversationId): HeldSessions {
    return new HeldSessions(liveFacts(this.#space, conversation));
  }

  /** Works with the sessions of a conversation: none of them goes meanwhile, but by that work itself. */
  use<R>(conversation: ConversationId, work: (facts: Work["facts"]) => Promise<R>): Promise<R> {
    return this.#part.use(conversation, ({ facts }) => work(facts));
  }

  get(conversation: ConversationId, upstream: Upstream): Live | null {
    return this.#part.get(conversation)?.live.get(upstream) ?? null;
  }

  /** Null: none is held any more. */
  keep(conversation: ConversationId, upstream: Upstream, live: Live | null): void {
    const cached = this.#part.get(conversation);
    const sessions = cached ?? this.#make(conversation);
    if (live === null) sessions.live.delete(upstream);
    else sessions.live.set(upstream, live);
    if (cached === null && live !== null) this.#part.put(conversation, sessions);
  }

  /** Whoever works with them closes them all. */
  async closeAll(conversation: ConversationId): Promise<void> {
    await this.#part.get(conversation)?.letGo();
  }

  /** Lets go of them as soon as nobody works with them. */
  release(conversation: ConversationId): Promise<void> {
    return this.#part.letGo(conversation);
  }

  releaseAll(): Promise<void> {
    return this.#part.letAllGo();
  }
}
