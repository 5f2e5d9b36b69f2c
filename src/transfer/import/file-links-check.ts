import type { StampedDraft } from "#log/batch";
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

const NOWHERE: Place = { line: 0, byte: 0 };

/** Follows the links of a file, up to the first thing that is wrong with it. */
export class FileLinksCheck {
  readonly #v: number;
  readonly #check = new LinkCheck(sha256, "");
  /** The last entry, until it is known whether its batch ends with it. */
  #last: StoredEntry | null = null;
  /** Where the batch begins that is being read. */
  #place: Place | null = null;
  #links: { link: string | null; ownerLink: string | null } = { link: null, ownerLink: null };
  #ended: boolean = false;
  /** The file has links. */
  linked: boolean;
  /** The last entry of those at the beginning that no link held where the file comes from. */
  unprovenSeq: number = 0;

  constructor({ linked = false, v = 0 }: ImportHeader) {
    this.#v = v;
    this.linked = linked;
  }

  /** The last entry that the links of the file hold. */
  get soundSeq(): number {
    return this.#check.soundSeq;
  }

  entry({ draft, id, time }: StampedDraft, seq: number | null, place: Place): void {
    if (this.#last !== null) this.#check.add(this.#last, null);
    this.#place ??= place;
    const { parentId = null, type, payload } = draft;
    this.#last = { v: this.#v, id, seq: seq ?? 0, parentId, time, type, payload };
  }

  batchEnd(end: FileBatchEnd, place: Place): WrongLink | null {
    this.linked = true;
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

  fileEnd(): void {
    this.#ended = true;
  }

  /** What is wrong with how the file ends. */
  end(): WrongLink | null {
    if (!this.linked) return null;
    const place = this.#place ?? NOWHERE;
    if (this.#last !== null) {
      const message = `The entries after ${this.soundSeq} belong to no batch: no link holds them`;
      return { ...place, message };
    }
    const message = this.#check.end(this.#links);
    if (message !== null) return { ...place, message };
    return this.#ended ? null : { ...NOWHERE, message: "The file was cut off: its last line is missing" };
  }
}
