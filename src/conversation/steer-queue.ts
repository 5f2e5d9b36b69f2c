import { decodeEntry } from "#log/codec";
import type { Entry, EntryType } from "#log/entry";
import type { ConversationId } from "#log/ids";
import { deliveredBefore, type Queued, queueOf } from "#log/projections/queue";
import type { SpaceStore } from "#store/facets";
import type { LogMark, OwnedLog } from "./kept/owned-log.ts";
import { eachEntry } from "./read-log.ts";

const NEWEST_STEERS = 16; // most conversations have fewer
const FACTS_KEPT_MAX = 256; // of a conversation that is held for weeks: then they are read anew
const TURNS_LOOKED_AT = [8, 64]; // behind so many turns that delivered nothing all facts are read

/** Under this key stands the acceptance of words, so that saying them twice is harmless. */
export function steerKey(steer: string): string {
  return `steer/${steer}`;
}

/**
 * The words people have said that wait to be delivered: of this process and of others. What is read for it does not grow
 * with how many were delivered before.
 */
export class SteerQueue {
  readonly #space: SpaceStore;
  readonly #conversation: ConversationId;
  #read: SteersRead | null = null;
  #log: OwnedLog | null = null;
  /** All words up to this moment are known. */
  #mark: LogMark | null = null;

  constructor(space: SpaceStore, conversation: ConversationId) {
    this.#space = space;
    this.#conversation = conversation;
  }

  /** Goes on with what is known where it is of the log that was acquired, and nobody has written since. */
  follow(log: OwnedLog): void {
    const isKnown = this.#mark !== null && log.since(this.#mark) !== null;
    if (!isKnown || (this.#read?.facts.length ?? 0) > FACTS_KEPT_MAX) this.#read = null;
    this.#log = log;
  }

  /** In the order they were accepted, with what others have said by now. */
  async waiting(): Promise<readonly Queued[]> {
    const mark = this.#log?.mark ?? null;
    const known = this.#read ?? (await readSteers(this.#space, this.#conversation));
    const newer = this.#read === null ? [] : await this.#all(known.facts.at(-1)?.seq ?? 0);
    this.#mark = mark;
    return this.#queue({ ...known, facts: [...known.facts, ...newer] });
  }

  /** The same by the last batch of the owner: nothing is read unless somebody else has written. */
  async known(): Promise<readonly Queued[]> {
    const [read, mark, log] = [this.#read, this.#mark, this.#log];
    const added = mark === null ? null : (log?.since(mark) ?? null);
    if (read === null || added === null) return this.waiting();
    const last = read.facts.at(-1)?.seq ?? 0;
    const newer = added.filter(({ type, seq }) => type === "steer" && seq > last);
    this.#mark = log?.mark ?? null;
    return this.#queue({ ...read, facts: [...read.facts, ...newer] });
  }

  async #queue(read: SteersRead): Promise<readonly Queued[]> {
    this.#read = read;
    const queue = queueOf(read.facts);
    if (read.whole || (await this.#areNew(queue))) return queue;
    this.#read = { facts: await this.#all(0), whole: true };
    return queueOf(this.#read.facts);
  }

  /** The facts that decide it, as known; where there are steers, some of them. */
  async facts(): Promise<readonly Entry[]> {
    await this.known();
    return this.#read?.facts ?? [];
  }

  #all(after: number): Promise<readonly Entry[]> {
    return readSteersBetween(this.#space, this.#conversation, { after });
  }

  /** Whether each was accepted here for the first time, as its key says: words that were delivered before are not again. */
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
