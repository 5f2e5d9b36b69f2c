import { type StampedDraft, BATCH_ENTRIES_MAX } from "#log/batch";
import { contentBlobs } from "#log/blob-names";
import { LogError } from "#log/errors";
import type { SpaceStore } from "#store/facets";
import type { ImportBatch, ImportHeader } from "./importers.ts";
import { BlobCheck, type FileBatchEnd } from "./bundle-lines.ts";
import { type Refusal, TrialLog } from "./import-trial.ts";
import { LinkCheck } from "#log/batch-links";
import type { StoredEntry } from "#log/entry";
import { sha256 } from "#store/sha256";

export interface LinePlace {
  readonly line: number;
  readonly byte: number;
}

/** What a file holds of one conversation. */
export interface LogReport {
  readonly header: ImportHeader;
  /** For a fork that is written by its own entries: the conversation of the same file that it grows from. */
  readonly source: string | null;
  readonly entries: number;
  /** As its own entries say last; null where none does. */
  readonly title: string | null;
  /** The digests of the blobs that come along. */
  readonly blobs: ReadonlySet<string>;
  /** Those that entries name and the file does not have: nothing is wrong with the entries themselves. */
  readonly missing: readonly string[];
  /** The seeds that runs name and that are not in the file. */
  readonly missingSeeds: readonly string[];
  readonly links: LinksReport;
}

interface LinksReport {
  /** Its batches have links. */
  readonly linked: boolean;
  /** The last entry that its links hold, all before it among them. */
  readonly soundSeq: number;
  /** The last entry that nothing proved where the file was written; the last of all where it has no links. */
  readonly unprovenSeq: number;
  /** That of its last batch. */
  readonly link: string | null;
  /** Its batches can be appended as they stand. */
  readonly asTheyStand: boolean;
}

/** A conversation of a file while it is being checked. */
export class LogCheck {
  readonly header: ImportHeader;
  readonly #trial: TrialLog<LinePlace>;
  readonly blobs: BlobCheck = new BlobCheck();
  #links: FileLinksCheck;
  readonly #seeds = { there: new Set<string>(), required: new Set<string>() };
  #source: LogCheck | null = null;
  #read: number = 0;
  #title: string | null = null;
  /** Its first entry was read. */
  hasFirst: boolean = false;
  /** The number of the entry that would come next; null where it is not known. */
  expected: number | null = 1;

  constructor(
    header: ImportHeader,
    trial: { readonly space: SpaceStore; readonly number: number },
    onRefused: (refusal: Refusal<LinePlace>) => void,
  ) {
    this.header = header;
    this.#trial = new TrialLog(trial.space, trial.number, onRefused);
    this.#links = new FileLinksCheck(header, "");
  }

  /** The entries of a record. `others`: the conversations that stand before it. Says where numbers are missing. */
  async add(
    { bodies }: ImportBatch,
    place: LinePlace,
    context: { readonly others: ReadonlyMap<string, LogCheck>; readonly sound: boolean },
  ): Promise<readonly string[]> {
    const jumps: string[] = [];
    for (const { seq, body } of bodies) {
      if (seq !== null && this.expected !== null && seq !== this.expected)
        jumps.push(jump(this.expected, seq));
      this.expected = seq === null ? null : seq + 1;
      this.#read++;
      const stamped = await this.#begin(body, place, context.others);
      if (context.sound && jumps.length === 0) this.#links.entry(stamped, seq, place);
      this.#note(stamped);
    }
    return jumps;
  }

  /** What it names, or is named by. */
  #note({ id, draft: { type, body } }: StampedDraft): void {
    for (const digest of contentBlobs(body)) this.blobs.expected.add(digest);
    if (type === "title") this.#title = String(body["title"]);
    if (type === "seed") this.#seeds.there.add(id);
    const { seed } = body;
    if (type === "run_start" && typeof seed === "string") this.#seeds.required.add(seed);
  }

  #hasSeed(id: string): boolean {
    return this.#seeds.there.has(id) || (this.#source !== null && this.#source.#hasSeed(id));
  }

  /** The first entry of a fork says where it grows from, and is made by forking. */
  async #begin(body: string, place: LinePlace, others: ReadonlyMap<string, LogCheck>): Promise<StampedDraft> {
    const first = !this.hasFirst;
    this.hasFirst = true;
    if (!first) return this.#trial.add(body, place);
    const stamped = this.#trial.parse(body);
    const origin = stamped.draft.body["origin"] as Origin | undefined;
    if (stamped.draft.type !== "conversation" || origin === undefined) return this.#trial.add(body, place);
    const source = others.get(origin.conversation);
    if (source === undefined || source === this)
      throw new LogError(
        "damaged",
        `${this.header.conversation} is a fork of ${origin.conversation}, which must come before it in this file`,
      );
    const { entry, head } = origin;
    const start = await this.#trial.fork(stamped, { trial: source.#trial, entry, head });
    this.#source = source;
    this.#links = new FileLinksCheck(this.header, start);
    return stamped;
  }

  batchEnd(end: Parameters<FileLinksCheck["batchEnd"]>[0], place: LinePlace): WrongLink | null {
    return this.#links.batchEnd(end, place);
  }

  flush(): Promise<void> {
    return this.#trial.flush();
  }

  /** Whether as many entries came as the header says. */
  get fewer(): string | null {
    const { entries } = this.header;
    const read = this.expected === null ? this.#read : this.expected - 1;
    return entries === null || read === entries ? null : `The file ends after entry ${read} of ${entries}`;
  }

  endOfLinks(): WrongLink | null {
    return this.#links.end();
  }

  get linked(): boolean {
    return this.#links.linked;
  }

  #has(digest: string): boolean {
    if (this.blobs.whole.has(digest)) return true;
    return this.#source !== null && this.#source.#has(digest);
  }

  result(): LogReport {
    const { linked, soundSeq, unprovenSeq, link, batchesFit, firstEnd } = this.#links;
    const { entries } = this.#trial;
    return {
      header: this.header,
      source: this.#source?.header.conversation ?? null,
      entries,
      title: this.#title,
      blobs: this.blobs.whole,
      missing: [...this.blobs.expected].filter((digest) => !this.#has(digest)),
      missingSeeds: [...this.#seeds.required].filter((id) => !this.#hasSeed(id)),
      links: {
        linked,
        soundSeq,
        unprovenSeq: linked ? unprovenSeq : entries,
        link,
        asTheyStand: batchesFit && (this.#source === null || firstEnd === 1),
      },
    };
  }
}

interface Origin {
  readonly conversation: string;
  readonly entry: string;
  readonly head: number;
}

function jump(expected: number, seq: number): string {
  if (seq < expected) return `Expected entry ${expected}, but found entry ${seq}`;
  return seq === expected + 1
    ? `Entry ${expected} is missing before this line`
    : `Entries ${expected} to ${seq - 1} are missing before this line`;
}

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
class FileLinksCheck {
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
    const [last, start] = [this.#last, this.#place ?? place];
    [this.#last, this.#place] = [null, null];
    if (last?.seq !== end.seq)
      return { ...place, message: `The end of the batch does not match entry ${end.seq}` };
    const message = this.#check.add(last, end);
    if (message !== null) return { ...start, message };
    this.#links = { link: end.link, ownerLink: end.byOwner ? end.link : this.#links.ownerLink };
    if (end.unproven) this.unprovenSeq = end.seq;
    return null;
  }

  /** Returns what is wrong with the end of the log, if anything. */
  end(): WrongLink | null {
    if (!this.linked) return null;
    const place = this.#place ?? NOWHERE;
    if (this.#last !== null) {
      const message = `Entries after ${this.soundSeq} have no batch, so no hash verifies them`;
      return { ...place, message };
    }
    const message = this.#check.end(this.#links);
    return message === null ? null : { ...place, message };
  }
}
