import type { Entry, EntryOf } from "#log/entry";
import type { ConversationId, EntryId } from "#log/ids";

// Entries written by the rules stay below these; a log that was filled in another way is read in bounded memory.
const LIVE_MAX = 2_000;
const REMOVED_MAX = 1_000;
const SUMMARIES_MAX = 100;

/** Something that is remembered beyond a conversation. */
export interface Remembered {
  readonly key: string;
  readonly kind: string;
  readonly title: string;
  readonly content: string;
  readonly tags: readonly string[];
  readonly keywords: readonly string[];
  /** Who saved it. A memory saved by a user stays the user's, whoever changes it. */
  readonly by: string | null;
  /** The conversation it was last saved in; null: outside of any. */
  readonly conversation: ConversationId | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** Set where it was removed, and may be restored. */
  readonly removedAt: string | null;
  /** The entry that says so, and its place in the order of things. */
  readonly entry: EntryId;
  readonly seq: number;
}

/** Where the summary of a conversation is found. */
export interface SummaryPointer {
  readonly conversation: ConversationId;
  readonly entry: EntryId;
  readonly time: string;
}

/** What a log of memory says: the last change of a key counts. Fed in order of seq, a part at a time. */
export class MemoryReader {
  // In the order in which they were changed, oldest first.
  readonly #live = new Map<string, Remembered>();
  readonly #removed = new Map<string, Remembered>();
  readonly #summaries = new Map<ConversationId, SummaryPointer>();
  #erasing: { readonly keys: ReadonlySet<string>; readonly seq: number } | null = null;
  #leftOut: number = 0;

  /** The current memories, the oldest change first. */
  get live(): ReadonlyMap<string, Remembered> {
    return this.#live;
  }

  /** Removed memories that can be restored, oldest first. */
  get removed(): ReadonlyMap<string, Remembered> {
    return this.#removed;
  }

  /** The newest summary of each conversation, the oldest first. */
  get summaries(): readonly SummaryPointer[] {
    return [...this.#summaries.values()];
  }

  /** The log ends here: what stays goes into another. */
  get erasing(): { readonly keys: ReadonlySet<string>; readonly seq: number } | null {
    return this.#erasing;
  }

  /** How often there were too many live ones to hold another; the log has them all. */
  get leftOut(): number {
    return this.#leftOut;
  }

  add(entry: Entry): void {
    if (entry.type !== "memory" || this.#erasing !== null) return;
    const { key = "" } = entry;
    switch (entry.change) {
      case "saved":
        return this.#save(entry);
      case "removed":
        return this.#move(key, entry.time, { from: this.#live, to: this.#removed });
      case "restored":
        return this.#move(key, null, { from: this.#removed, to: this.#live });
      case "summarised":
        return this.#summarise(entry);
      case "erasing":
        this.#erasing = { keys: new Set(entry.keys), seq: entry.seq };
        for (const gone of this.#erasing.keys) {
          this.#live.delete(gone);
          this.#removed.delete(gone);
        }
    }
  }

  #save(entry: EntryOf<"memory">): void {
    const { key = "", kind = "note", title = "", content = "", tags = [], keywords = [], time } = entry;
    const before = this.#live.get(key);
    const by = before?.by === "person" ? before.by : (entry.by ?? null);
    const createdAt = before?.createdAt ?? time;
    this.#live.delete(key);
    this.#removed.delete(key);
    const { conversation = null } = entry;
    const own = { key, kind, title, content, tags, keywords, by, conversation, createdAt };
    this.#live.set(key, { ...own, updatedAt: time, removedAt: null, entry: entry.id, seq: entry.seq });
    this.#bound();
  }

  #move(
    key: string,
    removedAt: string | null,
    way: { readonly from: Map<string, Remembered>; readonly to: Map<string, Remembered> },
  ): void {
    const memory = way.from.get(key);
    if (memory === undefined) return;
    way.from.delete(key);
    way.to.set(key, { ...memory, removedAt });
    this.#bound();
  }

  #summarise({ conversation = "", entry = "", time }: EntryOf<"memory">): void {
    this.#summaries.delete(conversation);
    this.#summaries.set(conversation, { conversation, entry, time });
    this.#bound();
  }

  #bound(): void {
    if (this.#live.size > LIVE_MAX) this.#leftOut++;
    dropOldest(this.#live, LIVE_MAX);
    dropOldest(this.#removed, REMOVED_MAX);
    dropOldest(this.#summaries, SUMMARIES_MAX);
  }
}

function dropOldest(map: Map<string, unknown>, sizeMax: number): void {
  const [oldest] = map.size > sizeMax ? map.keys() : [];
  if (oldest !== undefined) map.delete(oldest);
}

/** The same of a log that is held whole. */
export function memoriesOf(entries: Iterable<Entry>): MemoryReader {
  const reader = new MemoryReader();
  for (const entry of entries) reader.add(entry);
  return reader;
}
