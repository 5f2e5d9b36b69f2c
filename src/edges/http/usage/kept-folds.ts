import type { Conversation } from "#conversation/conversation";
import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import type { SpaceId } from "#log/ids";
import type { Head } from "#log/lineage/head";

/** What is made of a log entry by entry. */
interface Fold {
  add(entry: Entry): void;
}

/** A log, and what its head says of it. */
interface FoldedLog extends Pick<Head, "headSeq" | "createdAt"> {
  readonly conversation: Conversation;
}

interface Kept<F> {
  /** Tells a log from another one that has its name since. */
  readonly createdAt: string;
  readonly fold: F;
  seq: number;
  /** One at a time: what is added twice counts twice. */
  work: Promise<unknown>;
}

/** Logs are only ever added to: what was made of one is kept, and goes on from where it was. */
export class KeptFolds<F extends Fold> {
  readonly #make: () => F;
  readonly #keptMax: number;
  // Those asked for longest ago first.
  readonly #kept = new Map<string, Kept<F>>();

  constructor(make: () => F, keptMax: number) {
    this.#make = make;
    this.#keptMax = keptMax;
  }

  /** What is made of the log, up to `head` at least. Nothing is waited for in `use`: it goes on being added to. */
  read<T>(space: SpaceId, of: FoldedLog, use: (fold: F) => T): Promise<T> {
    const { conversation, headSeq } = of;
    const kept = this.#find(`${space}/${conversation.id}`, of);
    const work = kept.work.then(async () => {
      if (kept.seq < headSeq)
        for await (const stored of conversation.log({ after: kept.seq })) {
          kept.fold.add(decodeEntry(stored));
          kept.seq = stored.seq;
        }
      return use(kept.fold);
    });
    kept.work = work.catch(() => undefined);
    return work;
  }

  #find(name: string, { headSeq, createdAt }: FoldedLog): Kept<F> {
    const known = this.#kept.get(name);
    this.#kept.delete(name);
    // What is behind its head was read a moment ago, or lost by a store that forgot: it is read anew.
    const isSame = known !== undefined && known.createdAt === createdAt && known.seq <= headSeq;
    const kept = isSame ? known : { createdAt, fold: this.#make(), seq: 0, work: Promise.resolve() };
    this.#kept.set(name, kept);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > this.#keptMax && oldest !== undefined) this.#kept.delete(oldest);
    return kept;
  }
}
