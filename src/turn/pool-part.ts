import type { ConversationId } from "#log/ids";
import type { PoolWeight, Pool, PoolItem } from "./pool.ts";

/** What is held of a conversation. Everything that counts is in the log: it may go whenever nobody uses it. */
export interface Pooled {
  /** What it costs now; null: there is nothing left to hold. */
  weight(): PoolWeight | null;
  /** Gives back what it occupies. */
  letGo(): Promise<void>;
}

const NOTHING: PoolWeight = { messages: 0, processes: 0 };

/** One thing that is held, or made to be. */
class PooledItem<T extends Pooled> implements PoolItem {
  readonly making: Promise<T>;
  /** Once it is made. */
  value: T | null = null;
  users: number = 0;
  /** It goes as soon as nobody uses it. */
  isLeaving: boolean = false;
  weight: PoolWeight = NOTHING;
  usedAtMs: number = 0;
  readonly evict: () => void;

  constructor(making: Promise<T>, evict: (item: PooledItem<T>) => void) {
    this.making = making;
    this.evict = () => evict(this);
  }

  get inUse(): boolean {
    return this.users > 0;
  }
}

/** What one user of a pool holds of conversations: one thing each. */
export class PoolPart<T extends Pooled> {
  readonly #pool: Pool;
  readonly #make: (conversation: ConversationId) => T | Promise<T>;
  readonly #items = new Map<ConversationId, PooledItem<T>>();
  /** Those of a conversation that are let go of: another is made when that is done. */
  readonly #leaving = new Map<ConversationId, Promise<void>>();

  /** `make` may take its time; whoever asks for another conversation does not wait for it. */
  constructor(pool: Pool, make: (conversation: ConversationId) => T | Promise<T>) {
    this.#pool = pool;
    this.#make = make;
  }

  /** Where the host of the pool is reached. */
  get pool(): Pool {
    return this.#pool;
  }

  /**
   * Works with what is held of a conversation, which stays for that time. Where nothing is held it is made, once for all who
   * ask meanwhile; one that cannot be made leaves nothing behind.
   */
  async use<R>(conversation: ConversationId, work: (value: T) => Promise<R>): Promise<R> {
    const item = this.#items.get(conversation) ?? this.#begin(conversation);
    item.users++;
    this.#pool.used(item, item.weight);
    try {
      return await work(await item.making);
    } finally {
      item.users--;
      this.#release(conversation, item);
      // Whoever was asked to leave it has left it when this is over; what is evicted is waited for by nobody.
      if (item.isLeaving) await this.#leaving.get(conversation);
    }
  }

  /** What is held of it now. */
  get(conversation: ConversationId): T | null {
    return this.#items.get(conversation)?.value ?? null;
  }

  /** Holds what was made elsewhere, of a conversation that nothing is held of. */
  put(conversation: ConversationId, value: T): void {
    const item = this.#add(conversation, Promise.resolve(value));
    item.value = value;
    this.#pool.used(item, value.weight() ?? NOTHING);
  }

  /** Lets go of it: now, or when nobody uses it any more. Resolves when it is gone, or its users are told to leave it. */
  async letGo(conversation: ConversationId): Promise<void> {
    const item = this.#items.get(conversation);
    if (item === undefined) return this.#leaving.get(conversation);
    item.isLeaving = true;
    if (item.inUse) return;
    this.#evict(conversation, item);
    await this.#leaving.get(conversation);
  }

  /** The same for all. */
  async letAllGo(): Promise<void> {
    await Promise.all([...this.#items.keys()].map((conversation) => this.letGo(conversation)));
    await Promise.all(this.#leaving.values());
  }

  #begin(conversation: ConversationId): PooledItem<T> {
    const item = this.#add(conversation, this.#build(conversation));
    item.making.then(
      (value) => (item.value = value),
      () => this.#forget(conversation, item),
    );
    return item;
  }

  #add(conversation: ConversationId, making: Promise<T>): PooledItem<T> {
    const item = new PooledItem(making, (evicted) => this.#evict(conversation, evicted));
    this.#items.set(conversation, item);
    return item;
  }

  async #build(conversation: ConversationId): Promise<T> {
    await this.#leaving.get(conversation);
    return this.#make(conversation);
  }

  #release(conversation: ConversationId, item: PooledItem<T>): void {
    if (item.inUse || this.#items.get(conversation) !== item) return;
    const weight = item.value?.weight() ?? null;
    if (weight === null || item.isLeaving) this.#evict(conversation, item);
    else this.#pool.used(item, weight);
  }

  #forget(conversation: ConversationId, item: PooledItem<T>): void {
    this.#pool.dropped(item);
    if (this.#items.get(conversation) === item) this.#items.delete(conversation);
  }

  #evict(conversation: ConversationId, item: PooledItem<T>): void {
    this.#forget(conversation, item);
    const { value: held } = item;
    if (held === null) return;
    // What cannot be given back is given up: the log has everything.
    const gone = held.letGo().catch(() => undefined);
    this.#leaving.set(conversation, gone);
    this.#pool.leaving(gone);
    void gone.finally(() => {
      if (this.#leaving.get(conversation) === gone) this.#leaving.delete(conversation);
    });
  }
}
