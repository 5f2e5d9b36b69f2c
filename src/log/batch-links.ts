import type { StoredEntry } from "./entry.ts";

/** SHA-256 in hex over parts, each preceded by its length: its bytes in UTF-8 as a number, and a colon. */
export type Hash = (parts: readonly string[]) => string;

type Content = Pick<StoredEntry, "id" | "time" | "type" | "payload">;

/** The digest of an entry's own text, as stored. Its place is covered by the link of its batch. */
export function entryDigest(hash: Hash, content: Content): string {
  return hash(digestedParts(content));
}

/** What the digest of an entry is the hash of. */
export function digestedParts({ id, time, type, payload }: Content): readonly string[] {
  return [id, time, type, payload];
}

export interface BatchToLink {
  readonly v: number;
  /** The link of the batch before it. */
  readonly previous: string;
  readonly firstSeq: number;
  readonly byOwner: boolean;
  readonly entries: readonly { readonly parentId: string | null; readonly digest: string }[];
}

/** The link of a batch: it holds all of it, and the link before it. */
export function batchLink(hash: Hash, batch: BatchToLink): string {
  const { v, previous, firstSeq, byOwner, entries } = batch;
  const parts = [String(v), previous, String(firstSeq), byOwner ? "owner" : "outside"];
  for (const { parentId, digest } of entries) parts.push(parentId ?? "", digest);
  return hash(parts);
}

/** The first version whose batches have links. */
export const LINKED_VERSION = 2;

/** A stretch of entries that stands as one batch, and its link. */
export interface LinkedRun {
  readonly entries: readonly StoredEntry[];
  readonly link: string | null;
}

/**
 * What is left of an erased log, as new batches: a link of before would be a digest of what was erased. A batch is a run
 * without gaps, of one version.
 */
export function* relink(hash: Hash, entries: Iterable<StoredEntry>): Generator<LinkedRun> {
  let previous = "";
  for (const run of runsOf(entries)) {
    const [first] = run;
    const last = run.at(-1);
    if (first === undefined || last === undefined) continue;
    const linked = first.v >= LINKED_VERSION;
    const digests = run.map((one) => ({ parentId: one.parentId, digest: entryDigest(hash, one) }));
    const { v, seq: firstSeq } = first;
    const link = linked ? batchLink(hash, { v, previous, firstSeq, byOwner: true, entries: digests }) : null;
    previous = link ?? digests.at(-1)?.digest ?? previous;
    yield { entries: run, link };
  }
}

const RUN_ENTRIES_MAX = 256; // held in memory at once

function* runsOf(entries: Iterable<StoredEntry>): Generator<readonly StoredEntry[]> {
  let run: StoredEntry[] = [];
  for (const entry of entries) {
    const last = run.at(-1);
    const goesOn = last?.v === entry.v && last.seq === entry.seq - 1 && run.length < RUN_ENTRIES_MAX;
    if (!goesOn && run.length > 0) yield run;
    if (goesOn) run.push(entry);
    else run = [entry];
  }
  if (run.length > 0) yield run;
}

/** How a batch ended in the log: its link, and by whom it was. */
export interface BatchEnd {
  readonly link: string;
  readonly byOwner: boolean;
}

/** Which entry was its last. */
export interface BatchEndAt extends BatchEnd {
  readonly seq: number;
}

/**
 * Follows the links of a log from its first entry on. Entries from before there were links prove nothing; the first link
 * after them holds the last of them.
 */
export class LinkCheck {
  readonly #hash: Hash;
  #previous: string;
  /** Of the batch that is being read, what its link is made of: a batch may be large. */
  #batch: { readonly seq: number; readonly parentId: string | null; readonly digest: string }[] = [];
  /** The last entry of before there were links. */
  #before: StoredEntry | null = null;
  #ownerLink: string | null = null;
  #linked: boolean = false;
  /** The last entry that no link holds; 0 when links hold all of them. */
  unprovenSeq: number = 0;
  #provenSeq: number = 0;

  /**
   * `start`: what the first link goes on from; a fork's from the digest of the node it grew from. Behind entries that are
   * proven already: their last link, and the last of an owner's batch.
   */
  constructor(hash: Hash, start: string, ownerLink: string | null = null) {
    this.#hash = hash;
    this.#previous = start;
    this.#ownerLink = ownerLink;
  }

  /** The last entry that nothing speaks against. */
  get soundSeq(): number {
    return Math.max(this.#provenSeq, this.unprovenSeq);
  }

  /** Takes the next entry, and the end of its batch if it is the last one. Returns the problem, or null. */
  add(entry: StoredEntry, end: BatchEnd | null): string | null {
    // Of the entries without a link only the last counts: the first link continues from it.
    if (!this.#linked && entry.v < LINKED_VERSION) [this.#before, this.#batch] = [entry, []];
    else {
      const { seq, parentId } = entry;
      this.#batch.push({ seq, parentId, digest: entryDigest(this.#hash, entry) });
    }
    if (end === null) return null;
    if (this.#before !== null) {
      this.unprovenSeq = this.#before.seq;
      this.#previous = entryDigest(this.#hash, this.#before);
      this.#before = null;
    }
    const batch = this.#batch;
    const link = batchLink(this.#hash, {
      v: entry.v,
      previous: this.#previous,
      firstSeq: batch[0]?.seq ?? 0,
      byOwner: end.byOwner,
      entries: batch,
    });
    if (link !== end.link) {
      const first = batch[0]?.seq ?? entry.seq;
      return `Entries ${first} to ${entry.seq} were changed after they were written: their batch has another hash`;
    }
    this.#previous = link;
    this.#linked = true;
    this.#batch = [];
    if (end.byOwner) this.#ownerLink = link;
    this.#provenSeq = entry.seq;
    return null;
  }

  /** What is wrong with the end of the log, given what its head remembers of it. */
  end(head: { readonly link: string | null; readonly ownerLink: string | null }): string | null {
    const last = this.#batch.at(-1);
    if (this.#linked && last !== undefined)
      return `Entries after ${this.#provenSeq} have no batch, so no hash verifies them`;
    if (!this.#linked) this.unprovenSeq = (last ?? this.#before)?.seq ?? 0;
    const link = this.#linked ? this.#previous : null;
    if (head.link !== link || head.ownerLink !== this.#ownerLink)
      return `The log does not end with the batch recorded in its head: entries after ${this.#provenSeq} are missing or were replaced`;
    return null;
  }
}
