import type { AppendResult, Author } from "../log/batch.ts";
import type { Durability } from "../log/durability.ts";
import type { EntryBody } from "../log/entry.ts";
import type { HeadView, SpaceStore } from "../store/store.ts";

export interface AppendOptions {
  /** Makes the append idempotent: the same key is written once, whatever fails in between. */
  readonly key?: string;
  /** The last seq you have seen; refused when an owner wrote after it. */
  readonly expected?: number;
  readonly durability?: Durability;
}

interface Hands {
  readonly space: SpaceStore;
  readonly leaseMs: number;
  append(
    bodies: EntryBody | string | readonly (EntryBody | string)[],
    author: Author,
    options: AppendOptions,
  ): Promise<AppendResult>;
}

/** The one writer of a turn. Its epoch fences it off once another takes over; disposing lets the lease go. */
export class Owner implements AsyncDisposable {
  readonly epoch: number;
  readonly #head: HeadView;
  readonly #hands: Hands;
  #seen: number;
  #line: Promise<unknown> = Promise.resolve();

  constructor(head: HeadView, hands: Hands) {
    this.epoch = head.epoch;
    this.#head = head;
    this.#hands = hands;
    this.#seen = head.headSeq;
  }

  /** Appends follow each other, also when they are not waited for: each expects the head the one before left. */
  append(
    bodies: EntryBody | string | readonly (EntryBody | string)[],
    options: Omit<AppendOptions, "expected"> = {},
  ): Promise<AppendResult> {
    const run = this.#line.then(() => this.#append(bodies, options));
    this.#line = run.catch(() => undefined);
    return run;
  }

  async #append(
    bodies: EntryBody | string | readonly (EntryBody | string)[],
    options: Omit<AppendOptions, "expected">,
  ): Promise<AppendResult> {
    const author: Author = { kind: "owner", epoch: this.epoch, expected: this.#seen };
    const result = await this.#hands.append(bodies, author, options);
    this.#seen = Math.max(this.#seen, result.toSeq);
    return result;
  }

  /** Keeps the lease alive through a long step. */
  async renew(leaseMs: number = this.#hands.leaseMs): Promise<void> {
    await this.#hands.space.renew({ conversation: this.#head.conversation, epoch: this.epoch, leaseMs });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { conversation } = this.#head;
    // Whoever took over has the lease now; there is nothing left to let go of.
    await this.#hands.space.renew({ conversation, epoch: this.epoch, leaseMs: 0 }).catch(() => undefined);
  }
}
