import type { Conversation } from "#conversation/conversation";
import { readChain } from "#conversation/read-chain";
import type { Stamp } from "#edges/http/routes/record-api";
import type { SpaceId } from "#log/ids";
import { KeptReadings } from "./kept-readings.ts";

interface ReadStamps {
  readonly headSeq: number;
  readonly items: number;
  /** By the ids of messages, in the order of the log. */
  readonly stamps: ReadonlyMap<string, Stamp>;
}

/** Which sessions carried each message follows from the whole of a log: it is read once for all pages that ask in a row. */
export class KeptStamps {
  readonly #kept = new KeptReadings<ReadStamps>();

  async read(space: SpaceId, conversation: Conversation): Promise<ReadonlyMap<string, Stamp>> {
    const { headSeq } = await conversation.head();
    const { stamps } = await this.#kept.read(`${space}/${conversation.id}`, headSeq, async () => {
      const chain = await readChain(conversation.space, conversation.id);
      const places = new Map(chain.links().map((link, place) => [link, place]));
      const read = [...chain.carriers()].map(([entry, links]): readonly [string, Stamp] => [
        entry,
        {
          entry,
          upstreams: links.map((link) => {
            const { id, agent, account } = link;
            return { id, agent, account, link: places.get(link) ?? 0 };
          }),
        },
      ]);
      return { headSeq, items: read.length, stamps: new Map(read) };
    });
    return stamps;
  }
}
