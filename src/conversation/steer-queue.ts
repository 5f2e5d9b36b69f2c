import { decodeEntry } from "#log/codec";
import type { Entry, EntryType } from "#log/entry";
import type { ConversationId } from "#log/ids";
import { deliveredBefore, type Queued, queueOf } from "#log/projections/queue";
import type { SpaceStore } from "#store/facets";
import type { Projection } from "#log/projections/projection";
import { LiveProjection } from "./live-projection.ts";
import type { Owner } from "./owner.ts";
import { eachEntry } from "./read-log.ts";

const NEWEST_STEERS = 16; // most conversations have fewer
const FACTS_CACHED_MAX = 256; // of a conversation that is open for weeks: then they are read again
const TURNS_LOOKED_AT = [8, 64]; // behind so many turns that delivered nothing all facts are read

/** Under this key stands the acceptance of words, so that saying them twice is harmless. */
export function steerKey(steer: string): string {
  return `steer/${steer}`;
}

const STEERS: Projection<SteersRead> = {
  types: ["steer"],
  start: () => ({ facts: [], whole: true }),
  add: ({ facts, whole }, fact) => ({ facts: [...facts, fact], whole }),
};

/**
 * The steers that wait to be delivered: of this process and of others. What is read for it does not grow with how many were
 * delivered before.
 */
export class SteerQueue {
  readonly #space: SpaceStore;
  readonly #conversation: ConversationId;
  readonly #live: LiveProjection<SteersRead>;
  #readsAll: boolean = false;

  constructor(space: SpaceStore, conversation: ConversationId) {
    this.#space = space;
    this.#conversation = conversation;
    this.#live = new LiveProjection(space, conversation, STEERS, {
      addedMax: FACTS_CACHED_MAX,
      isTooLarge: ({ facts }) => facts.length > FACTS_CACHED_MAX,
      begin: async () => {
        const state = this.#readsAll
          ? { facts: await readSteersBetween(space, conversation, { after: 0 }), whole: true }
          : await readSteers(space, conversation);
        return { state, last: state.facts.at(-1) ?? null, head: null };
      },
    });
  }

  follow(owner: Owner): void {
    this.#live.follow(owner);
  }

  /** In the order they were accepted, with what others have sent by now. */
  async waiting(): Promise<readonly Queued[]> {
    return (await this.#checked(await this.#live.now())).queue;
  }

  /** The same by the last batch of the owner: nothing is read unless somebody else has written. */
  async owned(): Promise<readonly Queued[]> {
    return (await this.#ownedSteers()).queue;
  }

  /** The facts that decide it; where there are steers, some of them. */
  async facts(): Promise<readonly Entry[]> {
    return (await this.#ownedSteers()).facts;
  }

  async #ownedSteers(): Promise<SteersRead & { readonly queue: readonly Queued[] }> {
    return this.#checked(await this.#live.owned());
  }

  async #checked(read: SteersRead): Promise<SteersRead & { readonly queue: readonly Queued[] }> {
    const queue = queueOf(read.facts);
    if (read.whole || (await this.#areNew(queue))) return { ...read, queue };
    this.#readsAll = true;
    const all = await this.#live.again();
    this.#readsAll = false;
    return { ...all, queue: queueOf(all.facts) };
  }

  /** Whether each was accepted here for the first time, as its key says: a steer that was delivered before is not sent again. */
  async #areNew(queue: readonly Queued[]): Promise<boolean> {
    for (const { steer, seq } of queue) {
      const first = await this.#space.findAppend(this.#conversation, steerKey(steer));
      if (first === null || seq < first.fromSeq || seq > first.toSeq) return false;
    }
    return true;
  }
}

interface SteersRead {
  /** Of all words that may wait, oldest first, and the newest few of the others. */
  readonly facts: readonly Entry[];
  /** There are no others. */
  readonly whole: boolean;
}

/** Reads back to the turn behind which everything was delivered. */
export async function readSteers(space: SpaceStore, conversation: ConversationId): Promise<SteersRead> {
  const read = async (types: readonly EntryType[], limit: number): Promise<readonly Entry[]> => {
    const stored = await space.read({ conversation, limit, newestFirst: true, types });
    return stored.map((entry) => decodeEntry(entry));
  };
  const newest = (await read(["steer"], NEWEST_STEERS)).toReversed();
  const oldest = newest[0];
  if (oldest === undefined || newest.length < NEWEST_STEERS) return { facts: newest, whole: true };
  let after = 0;
  for (const limit of TURNS_LOOKED_AT) {
    const starts = await read(["turn_start"], limit);
    after = deliveredBefore(starts) ?? 0;
    if (after > 0 || starts.length < limit) break;
  }
  if (after >= oldest.seq) return { facts: newest, whole: false };
  const older = await readSteersBetween(space, conversation, { after, upTo: oldest.seq - 1 });
  return { facts: [...older, ...newest], whole: after === 0 };
}

async function readSteersBetween(
  space: SpaceStore,
  conversation: ConversationId,
  range: { readonly after: number; readonly upTo?: number },
): Promise<readonly Entry[]> {
  const facts: Entry[] = [];
  const onEntry = (entry: Entry): unknown => facts.push(entry);
  await eachEntry(space, conversation, { types: ["steer"], ...range, onEntry });
  return facts;
}

/** Those that wait for one of these moments. */
export function dueAt(waiting: readonly Queued[], moments: readonly Queued["when"][]): readonly Queued[] {
  return waiting.filter(({ when }) => moments.includes(when));
}
