import { decodeEntry } from "#log/codec";
import { type Entry, type EntryType, FORMAT_VERSION } from "#log/entry";
import type { ConversationId } from "#log/ids";
import type { Owner, Written } from "#conversation/owner";
import { readSteers } from "#conversation/steer-queue";
import type { HeadView } from "#store/requests";
import type { SpaceStore } from "#store/facets";

const LINKS_READ_MAX = 96; // with their ends: many times what is ever tried; the chain itself is never cut
const TURN_FACTS_READ_MAX = 400; // a link whose last turn lies further back cannot hold the leaf
const FACTS_KEPT_MAX = 2_048; // a session that lives for weeks: then they are read anew, within the bounds above

/**
 * The facts a send is decided on, oldest first. Each kind is read back by itself: a link is as good as ever after a
 * thousand turns on it. A link of which no turn was read, though older ones may exist, is left out.
 */
export async function readFacts(space: SpaceStore, conversation: ConversationId): Promise<readonly Entry[]> {
  const read = async (limit: number, ...types: readonly EntryType[]): Promise<readonly Entry[]> => {
    const stored = await space.read({ conversation, limit, newestFirst: true, types });
    return stored.map((entry) => decodeEntry(entry));
  };
  const [links, turns, steers, hides] = await Promise.all([
    read(LINKS_READ_MAX, "upstream_link", "upstream_end"),
    read(TURN_FACTS_READ_MAX, "turn_start", "attempt", "turn_end"),
    readSteers(space, conversation),
    read(1, "hide"),
  ]);
  const all = [...knownLinks(links, turns), ...turns, ...steers.facts, ...hides];
  return all.toSorted((one, other) => one.seq - other.seq);
}

function knownLinks(links: readonly Entry[], turns: readonly Entry[]): readonly Entry[] {
  if (turns.length < TURN_FACTS_READ_MAX) return links;
  const oldest = turns.at(-1)?.seq ?? 0;
  const carriers = new Set(turns.flatMap((turn) => (turn.type === "attempt" ? [turn.upstream] : [])));
  return links.filter(
    (link) => link.type !== "upstream_link" || link.seq >= oldest || carriers.has(link.upstream),
  );
}

const FACTS_READ: ReadonlySet<EntryType> = new Set([
  "upstream_link",
  "upstream_end",
  "turn_start",
  "attempt",
  "turn_end",
  "steer",
  "hide",
]);

/**
 * The facts of one conversation, for as long as this process has a session of it: read back once, then extended by what
 * each turn itself appends. What others wrote is noticed by the seqs it took, and only that is read.
 */
export class KnownFacts {
  readonly #space: SpaceStore;
  readonly #conversation: ConversationId;
  #known: readonly Entry[] | null = null;
  /** Every fact up to this seq is known. */
  #upTo: number = 0;
  /** The last seq that an append of ours took. */
  #writtenTo: number = 0;
  /** The head that they were last taken up with. */
  #head: HeadView | null = null;

  constructor(space: SpaceStore, conversation: ConversationId) {
    this.#space = space;
    this.#conversation = conversation;
  }

  /** Takes them up for another piece of work: as they are, where nobody wrote since; checked against the log otherwise. */
  async beginWork(owner: Owner): Promise<void> {
    const head = owner.acquiredHead;
    const before = this.#head;
    const isUntouched =
      head.headSeq === this.#upTo &&
      head.createdAt === before?.createdAt &&
      head.epoch === before.epoch + 1 &&
      this.#writtenTo <= this.#upTo;
    if (!isUntouched && !(await this.#isSameLog(head))) this.#known = null;
    if ((this.#known?.length ?? 0) > FACTS_KEPT_MAX) this.#known = null;
    this.#head = head;
    this.#upTo = head.headSeq;
    this.#writtenTo = head.headSeq;
    owner.onWritten = (written) => this.#addWritten(written);
  }

  /** Without asking the store, unless somebody else wrote between what we did. */
  async now(): Promise<readonly Entry[]> {
    if (this.#known !== null && this.#writtenTo <= this.#upTo) return this.#known;
    return this.latest();
  }

  /** With what others have written by now. */
  async latest(): Promise<readonly Entry[]> {
    const { known, upTo } = { known: this.#known, upTo: this.#upTo };
    const more = known === null ? null : await this.#since(upTo);
    const facts =
      known === null || more === null
        ? await readFacts(this.#space, this.#conversation)
        : [...known.filter((fact) => fact.seq <= upTo), ...more];
    this.#known = facts;
    // What was read at one moment leaves nothing out before its last; four reads do not.
    this.#upTo = Math.max(this.#writtenTo, more?.at(-1)?.seq ?? 0, upTo);
    return facts;
  }

  #addWritten({ fromSeq, toSeq, drafts }: Written): void {
    this.#writtenTo = Math.max(this.#writtenTo, toSeq);
    if (this.#known === null || fromSeq !== this.#upTo + 1) return;
    const facts = drafts.flatMap(({ draft, id, time }, at): readonly Entry[] => {
      const { type, payload } = draft;
      if (!FACTS_READ.has(type)) return [];
      return [decodeEntry({ v: FORMAT_VERSION, id, seq: fromSeq + at, parentId: null, time, type, payload })];
    });
    if (facts.length > 0) this.#known = [...this.#known, ...facts];
    if (drafts.length > 0) this.#upTo = toSeq;
  }

  /** A log that was erased and made again under the same id is another one; reads what came since where it is not. */
  async #isSameLog(head: HeadView): Promise<boolean> {
    const last = this.#known?.at(-1);
    if (this.#known === null || last === undefined || head.headSeq < last.seq) return false;
    const read = await this.#since(last.seq - 1);
    if (read?.[0]?.id !== last.id) return false;
    this.#known = [...this.#known.slice(0, -1), ...read];
    return true;
  }

  /** Null when so much has come that it is read anew. */
  async #since(after: number): Promise<readonly Entry[] | null> {
    const [conversation, limit] = [this.#conversation, TURN_FACTS_READ_MAX];
    const stored = await this.#space.read({ conversation, after, limit, types: [...FACTS_READ] });
    return stored.length < limit ? stored.map((entry) => decodeEntry(entry)) : null;
  }
}
