import type { StampedDraft } from "#log/batch";
import { decodeEntry } from "#log/codec";
import { type Entry, FORMAT_VERSION } from "#log/entry";
import { isNode } from "#log/entry-types";
import { concernsContext } from "#log/projections/growing-context";
import type { EntryId } from "#log/ids";
import type { HeadView } from "#store/requests";
import type { Owner, Written } from "#conversation/owner";

/** A moment of a log, by which what was read of it is known again. */
export type LogMark = Pick<HeadView, "createdAt" | "headSeq" | "link">;

export function markOf({ createdAt, headSeq, link }: HeadView): LogMark {
  return { createdAt, headSeq, link };
}

/** A link proves everything before it; a log from before there were links is looked at. */
export function isSameHead(one: LogMark, other: LogMark): boolean {
  return one.link !== null && one.link === other.link && one.headSeq === other.headSeq;
}

/**
 * What the owner of a conversation knows of its log without asking: all that came since it was acquired, for as long as the
 * seqs of its own batches follow each other. It is of the moment of the last batch.
 */
export class OwnedLog {
  /** Moments up to which everything is known, oldest first; between two of them lies a batch of the owner. */
  #marks: LogMark[];
  /** Those of them that change a context, and words that people said. */
  #entries: Entry[] = [];
  /** The last node, which the next one grows from. */
  #leaf: string;
  readonly #head: HeadView;
  /** The last entry of the last batch; null: the owner has written nothing. */
  #last: EntryId | null = null;

  constructor(owner: Owner) {
    this.#head = owner.acquiredHead;
    this.#marks = [markOf(this.#head)];
    this.#leaf = this.#head.leaf.id;
    owner.onWritten = (written) => this.#add(written);
  }

  /** The head as it was acquired, as long as the owner has written nothing. */
  get headUnchanged(): HeadView | null {
    return this.#last === null ? this.#head : null;
  }

  /** The moment of the last batch; null where it cannot be known again. */
  get mark(): LogMark | null {
    return this.#marks.at(-1) ?? null;
  }

  /** The entry at that moment, where the owner wrote it. */
  get lastId(): EntryId | null {
    return this.#last;
  }

  /** What concerns the context or its readers and came after a moment, by the last batch; null: others may have written too. */
  since(mark: LogMark): readonly Entry[] | null {
    const isKnown = this.#marks.some((known) => isSameHead(known, mark));
    if (!isKnown || mark.createdAt !== this.#head.createdAt) return null;
    return this.#entries.filter(({ seq }) => seq > mark.headSeq);
  }

  #add({ fromSeq, toSeq, drafts, link }: Written): void {
    this.#last = drafts.at(-1)?.id ?? "";
    const mark = { createdAt: this.#head.createdAt, headSeq: toSeq, link };
    const last = this.#marks.at(-1);
    const follows = last?.headSeq === fromSeq - 1 && drafts.length > 0;
    // Behind what others wrote only this moment is known; a batch that the log had before is of no moment at all.
    if (follows) this.#marks.push(mark);
    else this.#marks = drafts.length === 0 ? [] : [mark];
    if (!follows) this.#entries = [];
    for (const [at, draft] of drafts.entries()) this.#addDraft(draft, fromSeq + at);
  }

  #addDraft({ draft, id, time }: StampedDraft, seq: number): void {
    const { type, payload, body } = draft;
    if (!concernsContext({ type }) && type !== "steer") return;
    const isChild = isNode({ type });
    const parentId = !isChild ? null : draft.parentId === undefined ? this.#leaf : draft.parentId;
    if (isChild) this.#leaf = id;
    if (type === "leaf" && typeof body["target"] === "string") this.#leaf = body["target"];
    this.#entries.push(decodeEntry({ v: FORMAT_VERSION, id, seq, parentId, time, type, payload }));
  }
}
