import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { readChain } from "#conversation/read-chain";
import type { Stamp } from "#edges/http/routes/record-api";

const LOGS_MAX = 4;
const STAMPS_MAX = 50_000; // of one log: some 20 MB
const MAX_AGE_MS = 30_000;

interface CachedStamps {
  readonly headSeq: number;
  /** By the ids of messages, in the order of the log. */
  readonly stamps: ReadonlyMap<string, Stamp>;
}

/**
 * Which sessions carried each message. It follows from the whole log, so it is read once for all pages that are asked for in a
 * row, and again once the log has grown: a message that belongs to no turn yet may be the prompt of the next one.
 */
export class StampCache {
  readonly #cached = new Map<string, CachedStamps>();

  async read({ space, spaceId }: Holdfast, conversation: Conversation): Promise<CachedStamps["stamps"]> {
    const name = `${spaceId}/${conversation.id}`;
    const { headSeq } = await conversation.head();
    const cached = this.#cached.get(name);
    if (cached?.headSeq === headSeq) return cached.stamps;
    const chain = await readChain(space, conversation.id);
    const places = new Map(chain.links().map((link, place) => [link, place]));
    const stamps = new Map<string, Stamp>();
    for (const [entry, links] of chain.carriers())
      stamps.set(entry, {
        entry,
        upstreams: links.map((link) => {
          const { id, agent, account } = link;
          return { id, agent, account, link: places.get(link) ?? 0 };
        }),
      });
    this.#keep(name, { headSeq, stamps });
    return stamps;
  }

  #keep(name: string, read: CachedStamps): void {
    this.#cached.delete(name);
    if (read.stamps.size > STAMPS_MAX) return;
    this.#cached.set(name, read);
    const [oldest] = this.#cached.keys();
    if (this.#cached.size > LOGS_MAX && oldest !== undefined) this.#cached.delete(oldest);
    setTimeout(() => this.#cached.get(name) === read && this.#cached.delete(name), MAX_AGE_MS).unref();
  }
}
