import { BATCH_ENTRIES_MAX, type StampedDraft } from "#log/batch";
import { LinkCheck } from "#log/batch-links";
import type { StoredEntry } from "#log/entry";
import { sha256 } from "#store/sha256";
import type { ImportHeader } from "#transfer/importers/importer";
import type { FileBatchEnd } from "#transfer/lines/batch-lines";

interface Place {
  readonly line: number;
  readonly byte: number;
}

export interface WrongLink extends Place {
  readonly message: string;
}

const BATCH_CHARS_HELD = 67_108_864; // 64 Mi characters: what is larger is appended in pieces, under new links
const NOWHERE: Place = { line: 0, byte: 0 };

/** Follows the links of a conversation in a file, up to the first thing that is wrong with it. */
export class FileLinksCheck {
  readonly #v: number;
  readonly #check: LinkCheck;
  /** The last entry, until it is known whether its batch ends with it. */
  #last: StoredEntry | null = null;
  /** Where the batch begins that is being read. */
  #place: Place | null = null;
  #links: { link: string | null; ownerLink: string | null } = { link: null, ownerLink: null };
  /** What the batch that is being read weighs. */
  #batch: { entries: number; chars: number } = { entries: 0, chars: 0 };
  /** Every batch is one that can be held and appended as it is. */
  batchesFit: boolean = true;
  /** Where the first batch ends. */
  firstEnd: number = 0;
  /** The file has links. */
  linked: boolean;
  /** The last entry of those at the beginning that no link held where the file comes from. */
  unprovenSeq: number = 0;

  /** `start`: the digest of the node that a fork grows from. */
  constructor({ linked = false, v = 0 }: ImportHeader, start: string) {
    this.#check = new LinkCheck(sha256, start);
    this.#v = v;
    this.linked = linked;
  }

  /** That of the last batch. */
  get link(): string | null {
    return this.#links.link;
  }

  /** The last entry that the links of the file hold. */
  get soundSeq(): number {
    return this.#check.soundSeq;
  }

  entry({ draft, id, time }: StampedDraft, seq: number | null, place: Place): void {
    if (this.#last !== null) this.#check.add(this.#last, null);
    this.#place ??= place;
    this.#batch.entries++;
    this.#batch.chars += draft.payload.length;
    const { entries, chars } = this.#batch;
    if (entries > BATCH_ENTRIES_MAX || chars > BATCH_CHARS_HELD) this.batchesFit = false;
    const { parentId = null, type, payload } = draft;
    this.#last = { v: this.#v, id, seq: seq ?? 0, parentId, time, type, payload };
  }

  batchEnd(end: FileBatchEnd, place: Place): WrongLink | null {
    this.linked = true;
    this.#batch = { entries: 0, chars: 0 };
    if (this.firstEnd === 0) this.firstEnd = end.seq;
    const [last, begun] = [this.#last, this.#place ?? place];
    [this.#last, this.#place] = [null, null];
    if (last?.seq !== end.seq)
      return { ...place, message: `The batch that ends with entry ${end.seq} ends elsewhere` };
    const message = this.#check.add(last, end);
    if (message !== null) return { ...begun, message };
    this.#links = { link: end.link, ownerLink: end.byOwner ? end.link : this.#links.ownerLink };
    if (end.unproven) this.unprovenSeq = end.seq;
    return null;
  }

  /** What is wrong with how it ends. */
  end(): WrongLink | null {
    if (!this.linked) return null;
    const place = this.#place ?? NOWHERE;
    if (this.#last !== null) {
      const message = `The entries after ${this.soundSeq} belong to no batch: no link holds them`;
      return { ...place, message };
    }
    const message = this.#check.end(this.#links);
    return message === null ? null : { ...place, message };
  }
}
