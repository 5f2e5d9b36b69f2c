import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import { type Queued, queueOf } from "#log/projections/queue";
import type { Conversation } from "#conversation/conversation";

const PAGE_ENTRIES = 256;

/** The words people have said that wait to be delivered: of this process and of others. */
export class WaitingWords {
  readonly #conversation: Conversation;
  readonly #facts: Entry[] = [];
  #after: number = 0;

  constructor(conversation: Conversation) {
    this.#conversation = conversation;
  }

  /** Those that wait for one of these moments, in the order they were accepted. */
  async due(moments: readonly Queued["when"][]): Promise<readonly Queued[]> {
    const { space, id: conversation } = this.#conversation;
    for (;;) {
      const page = await space.read({
        conversation,
        after: this.#after,
        limit: PAGE_ENTRIES,
        types: ["steer"],
      });
      this.#facts.push(...page.map((stored) => decodeEntry(stored)));
      this.#after = page.at(-1)?.seq ?? this.#after;
      if (page.length < PAGE_ENTRIES) break;
    }
    return queueOf(this.#facts).filter(({ when }) => moments.includes(when));
  }

  /** All facts about them by now, for `accept`. */
  async facts(): Promise<readonly Entry[]> {
    await this.due([]);
    return this.#facts;
  }
}
