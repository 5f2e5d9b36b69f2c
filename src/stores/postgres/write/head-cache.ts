import type { ConversationId, SpaceId } from "#log/ids";
import type { State } from "#stores/postgres/tables/rows";

const HEADS_MAX = 4_096;

/** The end of a log after a batch that this store wrote and that is on the disk. */
export interface LogEnd {
  readonly born: string;
  readonly seq: number;
  readonly link: string | null;
}

/** Conversations as this store left them. The database says whether they still are; nothing is refused on the word of this. */
export class HeadCache {
  readonly #states = new Map<string, State>();
  readonly #ends = new Map<string, LogEnd>();
  readonly #turns = new Map<string, Promise<unknown>>();

  get(space: SpaceId, conversation: ConversationId): State | undefined {
    return this.#states.get(nameOf(space, conversation));
  }

  keep(space: SpaceId, state: State): void {
    if (this.#states.size >= HEADS_MAX) this.#states.clear();
    this.#states.set(nameOf(space, state.head.conversation), state);
  }

  /** The acknowledged part: it outlives a lost connection, which the head does not. */
  end(space: SpaceId, conversation: ConversationId): LogEnd | undefined {
    return this.#ends.get(nameOf(space, conversation));
  }

  keepEnd(space: SpaceId, { born, head }: State): void {
    if (this.#ends.size >= HEADS_MAX) this.#ends.clear();
    const { conversation, headSeq: seq, link } = head;
    this.#ends.set(nameOf(space, conversation), { born, seq, link });
  }

  forgetEnd(space: SpaceId, conversation: ConversationId): void {
    this.#ends.delete(nameOf(space, conversation));
  }

  /** One after the other, for what would overtake each other. */
  async inTurn<T>(space: SpaceId, conversation: ConversationId, work: () => Promise<T>): Promise<T> {
    const name = nameOf(space, conversation);
    const before = this.#turns.get(name);
    const mine = before === undefined ? work() : before.then(work, work);
    this.#turns.set(name, mine);
    try {
      return await mine;
    } finally {
      if (this.#turns.get(name) === mine) this.#turns.delete(name);
    }
  }

  forget(space: SpaceId, conversation: ConversationId): void {
    this.#states.delete(nameOf(space, conversation));
  }
}

function nameOf(space: SpaceId, conversation: ConversationId): string {
  return `${space} ${conversation}`; // neither has blanks
}
