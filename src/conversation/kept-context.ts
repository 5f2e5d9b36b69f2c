import { decodeEntry } from "#log/codec";
import type { ConversationId, EntryId } from "#log/ids";
import type { Context } from "#log/projections/context";
import { concernsContext, type GrowingContext } from "#log/projections/growing-context";
import type { HeadView } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { readGrowingContext } from "./reading.ts";

const ENTRIES_ADDED_MAX = 4_096; // where more has come than a long turn writes, the context is read anew

/** The context of a conversation and the head it is of. */
export interface ContextNow {
  readonly context: Context;
  readonly head: HeadView;
}

interface Kept {
  readonly growing: GrowingContext;
  readonly head: HeadView;
  /** The entry at the head, by which the log is known again. */
  readonly last: EntryId;
}

/**
 * The context of one conversation, kept between reads. Each asks for the head: what came since, from any process, is added,
 * and what cannot be added is read anew. So it says what the log says, always.
 */
export class KeptContext {
  readonly #space: SpaceStore;
  readonly #conversation: ConversationId;
  #kept: Kept | null = null;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(space: SpaceStore, conversation: ConversationId) {
    this.#space = space;
    this.#conversation = conversation;
  }

  /** How many messages are kept; null: nothing was read yet, or it could not be. */
  get size(): number | null {
    return this.#kept?.growing.size ?? null;
  }

  /** As the log is now; one read at a time. */
  now(): Promise<ContextNow> {
    const reading = this.#reading.then(() => this.#now());
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  async #now(): Promise<ContextNow> {
    const kept = this.#kept;
    const head = kept === null ? null : await this.#space.head(this.#conversation);
    // Whatever fails in between, nothing half extended stays.
    this.#kept = null;
    const now =
      kept === null || head === null
        ? await this.#read()
        : ((await this.#extend(kept, head)) ?? (await this.#read()));
    this.#kept = now;
    return { context: now.growing.context(), head: now.head };
  }

  async #read(): Promise<Kept> {
    const { context: growing, head } = await readGrowingContext(this.#space, this.#conversation);
    const [last] = await this.#space.read({
      conversation: this.#conversation,
      after: head.headSeq - 1,
      until: head.headSeq,
      limit: 1,
    });
    return { growing, head, last: last?.id ?? head.leaf.id };
  }

  /** Null: what was kept is of another log, or what came is more than an addition. */
  async #extend({ growing, head: before, last }: Kept, head: HeadView): Promise<Kept | null> {
    if (isSameHead(before, head)) return { growing, head, last };
    if (head.createdAt !== before.createdAt || head.headSeq < before.headSeq) return null;
    // The last one that is known comes along, to see that it is the same log.
    const read = await this.#space.read({
      conversation: this.#conversation,
      after: before.headSeq - 1,
      until: head.headSeq,
      limit: ENTRIES_ADDED_MAX,
    });
    const [known, ...added] = read;
    const end = read.at(-1);
    if (known?.id !== last || end?.seq !== head.headSeq) return null;
    for (const stored of added)
      if (concernsContext(stored) && !growing.extend(decodeEntry(stored))) return null;
    return growing.leaf === head.leaf.id ? { growing, head, last: end.id } : null;
  }
}

/** A link proves everything before it; a log from before there were links is looked at. */
export function isSameHead(one: HeadView, other: HeadView): boolean {
  return one.link !== null && one.link === other.link && one.headSeq === other.headSeq;
}
