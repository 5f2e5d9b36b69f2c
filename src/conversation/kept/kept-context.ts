import { decodeEntry } from "#log/codec";
import type { ConversationId, EntryId } from "#log/ids";
import type { Context } from "#log/projections/context";
import { concernsContext, type GrowingContext } from "#log/projections/growing-context";
import type { Settings } from "#log/projections/settings";
import type { HeadView } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { isSameHead, type LogMark, markOf, type OwnedLog } from "./owned-log.ts";
import { readGrowingContext } from "#conversation/reading";

const ENTRIES_ADDED_MAX = 4_096; // where more has come than a long turn writes, the context is read anew

/** The context of a conversation and the head it is of. */
export interface ContextNow {
  readonly context: Context;
  readonly head: HeadView;
}

interface Kept {
  readonly growing: GrowingContext;
  readonly mark: LogMark;
  /** The entry at the head, by which the log is known again. */
  readonly last: EntryId;
}

/**
 * The context of one conversation, kept between reads. Each asks for the head, or knows it as the owner: what came since, from
 * any process, is added, and what cannot be added is read anew. So it says what the log says, always.
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
    return this.#inTurn(() => this.#now());
  }

  /** As the log was with the last batch of its owner: nothing is read unless somebody else has written. */
  owned(log: OwnedLog): Promise<Context> {
    return this.#inTurn(async () => this.#owned(log) ?? (await this.#now()).context);
  }

  /** Adds what the owner wrote, so that it is known again as it was left; where that cannot be told nothing is done. */
  keepUp(log: OwnedLog): Promise<void> {
    return this.#inTurn(async () => void this.#owned(log)).catch(() => undefined);
  }

  #owned(log: OwnedLog): Context | null {
    const { kept, mark } = { kept: this.#kept, mark: log.mark };
    const added = kept === null ? null : log.since(kept.mark);
    if (kept === null || added === null || mark === null) return null;
    this.#kept = null;
    for (const entry of added) if (concernsContext(entry) && !kept.growing.extend(entry)) return null;
    this.#kept = { ...kept, mark, last: log.lastId ?? kept.last };
    return kept.growing.context();
  }

  #inTurn<T>(read: () => Promise<T>): Promise<T> {
    const reading = this.#reading.then(read);
    this.#reading = reading.catch(() => undefined);
    return reading;
  }

  /** The settings at a head, where the context that is kept is of that moment; null where it is not. */
  settingsAt(head: HeadView): Settings | null {
    const kept = this.#kept;
    return kept !== null && isSameHead(kept.mark, head) ? kept.growing.context() : null;
  }

  async #now(): Promise<ContextNow> {
    const kept = this.#kept;
    const head = kept === null ? null : await this.#space.head(this.#conversation);
    // Whatever fails in between, nothing half extended stays.
    this.#kept = null;
    const extended = kept === null || head === null ? null : await this.#extend(kept, head);
    const now = extended === null || head === null ? await this.#read() : { kept: extended, head };
    this.#kept = now.kept;
    return { context: now.kept.growing.context(), head: now.head };
  }

  async #read(): Promise<{ readonly kept: Kept; readonly head: HeadView }> {
    const { context: growing, head } = await readGrowingContext(this.#space, this.#conversation);
    const [last] = await this.#space.read({
      conversation: this.#conversation,
      after: head.headSeq - 1,
      until: head.headSeq,
      limit: 1,
    });
    return { kept: { growing, mark: markOf(head), last: last?.id ?? head.leaf.id }, head };
  }

  /** Null: what was kept is of another log, or what came is more than an addition. */
  async #extend({ growing, mark: before, last }: Kept, head: HeadView): Promise<Kept | null> {
    const mark = markOf(head);
    if (isSameHead(before, head)) return { growing, mark, last };
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
    return growing.leaf === head.leaf.id ? { growing, mark, last: end.id } : null;
  }
}
