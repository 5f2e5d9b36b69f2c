import type { ConversationId } from "#log/ids";
import type { SpaceStore } from "#store/facets";
import type { PoolWeight, Pool } from "#turn/pool";
import { type Pooled, PoolPart } from "#turn/pool-part";
import type { Work, Live } from "#upstream/turn-parts";
import type { Upstream } from "#upstream/upstream";
import { decodeEntry } from "#log/codec";
import type { Entry, EntryType } from "#log/entry";
import { LiveProjection } from "#conversation/live-projection";
import { liveBranchEnd } from "./branch-end.ts";
import { readSteers } from "#conversation/steer-queue";
import type { Projection } from "#log/projections/projection";

/** What a send is decided on, extended by what each turn itself appends. */
export type SendState = Pick<Work, "facts" | "branchEnd">;

/** The sessions of one conversation, one for each agent, and what they are chosen by. */
class PooledSessions implements Pooled {
  readonly live: Map<Upstream, Live> = new Map();
  readonly state: SendState;

  constructor(state: SendState) {
    this.state = state;
  }

  /** Nothing is kept of a conversation that has no session. */
  weight(): PoolWeight | null {
    const messages = this.state.branchEnd.state?.entries.length ?? 0;
    return this.live.size === 0 ? null : { messages, processes: this.live.size };
  }

  async letGo(): Promise<void> {
    const sessions = [...this.live.values()];
    this.live.clear();
    await Promise.allSettled(sessions.map(({ session }) => session.close()));
  }
}

/** The sessions that are held open, in a pool. */
export class LiveSessions {
  readonly #part: PoolPart<PooledSessions>;
  readonly #space: SpaceStore;

  constructor(pool: Pool, space: SpaceStore) {
    this.#space = space;
    this.#part = new PoolPart(pool, (conversation) => this.#make(conversation));
  }

  #make(conversation: ConversationId): PooledSessions {
    const facts = liveFacts(this.#space, conversation);
    return new PooledSessions({ facts, branchEnd: liveBranchEnd(this.#space, conversation) });
  }

  /** Works with the sessions of a conversation: none of them goes meanwhile, but by that work itself. */
  use<R>(conversation: ConversationId, work: (state: SendState) => Promise<R>): Promise<R> {
    return this.#part.use(conversation, ({ state }) => work(state));
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

const LINK_TYPES = ["upstream_link", "upstream_end"] as const;
const TURN_TYPES = ["turn_start", "attempt", "turn_end"] as const;
const LINKS_READ_MAX = 96; // with their ends: many times what is ever tried; the chain itself is never cut
const TURN_FACTS_READ_MAX = 400; // a link whose last turn lies further back cannot hold the leaf
const FACTS_CACHED_MAX = 2_048; // a session that lives for weeks: then they are read again, within the bounds above

/**
 * The facts a send is decided on, oldest first. Turns are read by themselves: a link is as good as ever after a thousand turns on
 * it. Of the others few conversations have many, and then each kind is read by itself too. A link of which no turn was read,
 * though older ones may exist, is left out.
 */
export async function readFacts(space: SpaceStore, conversation: ConversationId): Promise<readonly Entry[]> {
  const read = async (limit: number, types: readonly EntryType[]): Promise<readonly Entry[]> => {
    const stored = await space.read({ conversation, limit, newestFirst: true, types });
    return stored.map((entry) => decodeEntry(entry));
  };
  const [turns, others] = await Promise.all([
    read(TURN_FACTS_READ_MAX, TURN_TYPES),
    read(LINKS_READ_MAX, [...LINK_TYPES, "steer", "hide"]),
  ]);
  const isWhole = others.length < LINKS_READ_MAX;
  const [links, steers, hides] = isWhole
    ? [others, [], []]
    : await Promise.all([
        read(LINKS_READ_MAX, LINK_TYPES),
        readSteers(space, conversation).then(({ facts }) => facts),
        read(1, ["hide"]),
      ]);
  const all = [...knownLinks(links, turns), ...turns, ...steers, ...hides];
  return all.toSorted((one, other) => one.seq - other.seq);
}

function knownLinks(links: readonly Entry[], turns: readonly Entry[]): readonly Entry[] {
  if (turns.length < TURN_FACTS_READ_MAX) return links;
  const oldest = turns.at(-1)?.seq ?? 0;
  const carriers = new Set(turns.flatMap((turn) => (turn.type === "attempt" ? [turn.upstream] : [])));
  return links.filter(
    (link) => link.type !== "upstream_link" || link.seq >= oldest || carriers.has(link.upstream),
  );
}

const FACTS: Projection<readonly Entry[]> = {
  types: [...LINK_TYPES, ...TURN_TYPES, "steer", "hide"],
  start: () => [],
  // Several reads at the start are of several moments: what came after the first is read again.
  add: (facts, entry) => [...facts.slice(0, facts.findLastIndex(({ seq }) => seq < entry.seq) + 1), entry],
};

/**
 * The facts of one conversation, for as long as this process has a session of it: read back once, then extended by what
 * each turn itself appends.
 */
function liveFacts(space: SpaceStore, conversation: ConversationId): LiveProjection<readonly Entry[]> {
  return new LiveProjection(space, conversation, FACTS, {
    addedMax: TURN_FACTS_READ_MAX,
    isTooLarge: (facts) => facts.length > FACTS_CACHED_MAX,
    begin: async (upTo) => {
      const state = await readFacts(space, conversation);
      return { state, last: state.findLast(({ seq }) => seq <= upTo) ?? null, head: null };
    },
  });
}
