import { LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import type { SpaceStore } from "#store/facets";
import type { HeadView } from "#store/requests";
import type { KnownEnd } from "#conversation/owner";

const ENDS_MAX = 4_096;

/**
 * How this host left the logs that it wrote. A log may come back shorter, or with other entries in the same places: a standby
 * took over that had not heard of everything, or a copy was restored. Then what is held of it here is of another log.
 */
export class KnownEnds {
  readonly #space: SpaceStore;
  /** Least recently used first. */
  readonly #ends = new Map<ConversationId, KnownEnd>();

  constructor(space: SpaceStore) {
    this.#space = space;
  }

  keep(conversation: ConversationId, end: KnownEnd): void {
    this.#ends.delete(conversation);
    this.#ends.set(conversation, end);
    const [oldest] = this.#ends.keys();
    if (this.#ends.size > ENDS_MAX && oldest !== undefined) this.#ends.delete(oldest);
  }

  forget(conversation: ConversationId): void {
    this.#ends.delete(conversation);
  }

  /** Refuses, once, to go on with a log that has lost what this host was told was written; nothing is asked where nobody else wrote. */
  async check(head: HeadView): Promise<void> {
    const { conversation } = head;
    const end = this.#ends.get(conversation);
    if (end === undefined || end.createdAt !== head.createdAt) return this.forget(conversation);
    if (isAsLeft(end, head)) return;
    if (!mayHold(end, head) || !(await this.#holds(conversation, end))) {
      this.forget(conversation);
      throw lostEnd(conversation, end);
    }
  }

  async #holds(conversation: ConversationId, { seq, id }: KnownEnd): Promise<boolean> {
    if (id === null) return true;
    const [stored] = await this.#space.read({ conversation, after: seq - 1, until: seq, limit: 1 });
    return stored?.id === id;
  }
}

function isAsLeft(end: KnownEnd, head: HeadView): boolean {
  return mayHold(end, head) && end.link !== null && end.link === head.ownerLink;
}

/** Every owner takes the next epoch, and logs only grow. */
function mayHold({ epoch, seq }: KnownEnd, head: HeadView): boolean {
  return head.epoch >= epoch && head.headSeq >= seq;
}

function lostEnd(conversation: ConversationId, { seq }: KnownEnd): LogError {
  return new LogError(
    "diverged",
    `Conversation ${conversation} is not as this host left it: entry ${seq}, which was acknowledged, is lost or another. A standby that had not heard of it took over, or a copy was restored. Nothing was written; look at the log, and ask again to go on from what it has`,
    { conversation, seq },
  );
}
