import { bodyLine } from "#log/codec";
import { isNode } from "#log/entry-types";
import type { StoredEntry } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import type { ConversationId, EntryId } from "#log/ids";
import type { SpaceStore } from "#store/facets";
import { prepare, systemIdsAndTime } from "#store/prepare";
import type { IndexedLog } from "./indexed-log.ts";
import type { ReadablePart } from "./readable-parts.ts";

const ENTRIES_STEP = 256; // bodies held at once
/** What an entry that stands for lost ones is called. */
const LOST_ENTRIES = "lost_entries";

/** What became of the entries after a damage. */
export interface SalvagedRest {
  /** How many entries after the first damage were copied. */
  readonly restEntries: number;
  /** The numbers of the entries that cannot be read. */
  readonly lost: readonly LostEntries[];
  /** The numbers of entries that name a lost one, such as a label on it; they were not copied. */
  readonly leftOut: readonly number[];
}

interface LostEntries {
  readonly fromSeq: number;
  readonly toSeq: number;
}

/** Copies a damaged conversation into a store where it is not. */
export async function copyAll(
  to: SpaceStore,
  conversation: ConversationId,
  log: IndexedLog,
): Promise<SalvagedRest> {
  const { origin, headSeq } = log.index.head;
  if (origin !== null)
    throw new LogError(
      "damaged",
      `Conversation ${conversation} is damaged and is a fork of ${origin.source}. Salvage the fork first: \`holdfast doctor --salvage ${conversation}\``,
      { conversation },
    );
  const [root] = await log.fetch([1]);
  if (root !== undefined) await to.create({ conversation, ...prepare([bodyLine(root)], systemIdsAndTime) });
  const copy = new Copy(to, conversation, root?.id ?? "");
  for (let seq = 2; seq <= headSeq; seq += ENTRIES_STEP)
    await copy.add(await log.fetch(log.index.seqs({ after: seq - 1, limit: ENTRIES_STEP })));
  return copyRest(to, conversation, log);
}

/**
 * Appends what follows the damage to a copy of what precedes it. Where an entry belongs whose parent is lost nobody can say: it
 * goes below an entry at the root, or where a fork begins, that says what is lost, and is never attached elsewhere.
 */
export async function copyRest(
  to: SpaceStore,
  conversation: ConversationId,
  log: IndexedLog,
): Promise<SalvagedRest> {
  const [first] = await log.fetch([1]);
  const copy = new Copy(to, conversation, log.index.head.origin?.entry ?? first?.id ?? "");
  const lost: LostEntries[] = [];
  let before = log.index.head.headSeq;
  for (const part of log.rest ?? []) {
    const gap = { fromSeq: before + 1, toSeq: part.firstSeq - 1 };
    if (gap.toSeq >= gap.fromSeq) lost.push(gap);
    copy.beginPart(gap);
    for await (const entries of readPart(log, part)) await copy.add(entries);
    before = part.lastSeq;
  }
  return { restEntries: copy.copied, lost, leftOut: copy.leftOut };
}

async function* readPart(log: IndexedLog, part: ReadablePart): AsyncGenerator<readonly StoredEntry[]> {
  for (let after = part.firstSeq - 1; after < part.lastSeq;) {
    const entries = await log.fetch(part.seqs({ after, limit: ENTRIES_STEP }));
    after = entries.at(-1)?.seq ?? part.lastSeq;
    yield entries;
  }
}

/** Entries on their way into a copy, as many as it can take. */
class Copy {
  readonly #to: SpaceStore;
  readonly #conversation: ConversationId;
  readonly #root: EntryId;
  #gap: LostEntries = { fromSeq: 0, toSeq: 0 };
  /** The entry that says what the present gap is. */
  #marker: EntryId | null = null;
  copied: number = 0;
  readonly leftOut: number[] = [];

  constructor(to: SpaceStore, conversation: ConversationId, root: EntryId) {
    this.#to = to;
    this.#conversation = conversation;
    this.#root = root;
  }

  beginPart(gap: LostEntries): void {
    this.#gap = gap;
    this.#marker = null;
  }

  async add(entries: readonly StoredEntry[]): Promise<void> {
    if (await this.#append(entries.map((entry) => bodyLine(entry)))) {
      this.copied += entries.length;
      return;
    }
    for (const entry of entries) {
      if ((await this.#append([bodyLine(entry)])) || (await this.#appendBelowMarker(entry))) this.copied++;
      else this.leftOut.push(entry.seq);
    }
  }

  async #appendBelowMarker(entry: StoredEntry): Promise<boolean> {
    if (!isNode({ type: entry.type, origin: undefined }) || entry.parentId === null) return false;
    this.#marker ??= await this.#addMarker(entry.time);
    return this.#append([bodyLine({ ...entry, parentId: this.#marker })]);
  }

  async #addMarker(time: string): Promise<EntryId> {
    const id = systemIdsAndTime.newId();
    const { fromSeq, toSeq } = this.#gap;
    const which = fromSeq === toSeq ? `Entry ${fromSeq}` : `Entries ${fromSeq} to ${toSeq}`;
    const text = `${which} of this conversation cannot be read because the file is damaged. The next messages came after them.`;
    const body = {
      type: "custom",
      id,
      parentId: this.#root,
      time,
      customType: LOST_ENTRIES,
      data: { fromSeq, toSeq },
      inContext: true,
      content: [{ type: "text", text }],
    };
    await this.#append([JSON.stringify(body)]);
    return id;
  }

  /** False where the copy cannot take them: they name an entry that is lost. */
  async #append(bodies: readonly string[]): Promise<boolean> {
    if (bodies.length === 0) return true;
    try {
      await this.#to.append({
        conversation: this.#conversation,
        author: { kind: "once" },
        durability: "relaxed",
        ...prepare(bodies, systemIdsAndTime),
      });
      return true;
    } catch (error) {
      if (!isLogError(error) || error.group === "unavailable") throw error;
      return false;
    }
  }
}
