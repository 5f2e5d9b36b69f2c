import type { StoredEntry } from "#log/entry";

/** A stream, as far as it holds entries. */
export interface Holder {
  readonly token: string;
  /** When its reader last took something, by `performance.now()`. */
  readonly readMs: number;
  /** Ends it at once. Its client can resume behind the last event that it has. */
  cutOff(): void;
}

/** Entries, each with how many streams hold it. */
class Entries {
  readonly #counts = new Map<StoredEntry, number>();
  bytes = 0;

  add(entry: StoredEntry, bytes: number): void {
    const count = this.#counts.get(entry) ?? 0;
    this.#counts.set(entry, count + 1);
    if (count === 0) this.bytes += bytes;
  }

  remove(entry: StoredEntry, bytes: number): void {
    const count = this.#counts.get(entry) ?? 0;
    if (count > 1) return void this.#counts.set(entry, count - 1);
    if (this.#counts.delete(entry)) this.bytes -= bytes;
  }
}

/**
 * The large entries that streams hold until their readers have taken them, each counted once however many streams send it.
 * Where they are too many, the stream whose reader has taken nothing for longest is cut off.
 */
export class LargeEntries {
  readonly #limits: { readonly streamBytes: number; readonly streamBytesPerToken: number };
  readonly #all = new Entries();
  readonly #byToken = new Map<string, Entries>();
  readonly #byHolder = new Map<Holder, Map<StoredEntry, number>>();

  constructor(limits: { readonly streamBytes: number; readonly streamBytesPerToken: number }) {
    this.#limits = limits;
  }

  get bytes(): number {
    return this.#all.bytes;
  }

  add(holder: Holder, entry: StoredEntry, bytes: number): void {
    const entries = this.#byHolder.get(holder) ?? new Map<StoredEntry, number>();
    if (entries.has(entry)) return;
    const own = this.#byToken.get(holder.token) ?? new Entries();
    this.#byToken.set(holder.token, own);
    this.#byHolder.set(holder, entries.set(entry, bytes));
    this.#all.add(entry, bytes);
    own.add(entry, bytes);
    const { streamBytes, streamBytesPerToken } = this.#limits;
    while (
      own.bytes > streamBytesPerToken &&
      this.#cutSlowest(holder, ({ token }) => token === holder.token)
    );
    while (this.#all.bytes > streamBytes && this.#cutSlowest(holder, () => true));
    const isTooMuch = own.bytes > streamBytesPerToken || this.#all.bytes > streamBytes;
    if (isTooMuch && entries.size > 1) this.#cut(holder);
  }

  #cut(holder: Holder): void {
    this.removeAll(holder);
    holder.cutOff();
  }

  /** False: only the holder itself is left. However large one entry is, a stream may send it. */
  #cutSlowest(holder: Holder, isMeant: (one: Holder) => boolean): boolean {
    let slowest: Holder | null = null;
    for (const one of this.#byHolder.keys())
      if (one !== holder && isMeant(one) && (slowest === null || one.readMs < slowest.readMs)) slowest = one;
    if (slowest === null) return false;
    this.#cut(slowest);
    return true;
  }

  remove(holder: Holder, entry: StoredEntry): void {
    const entries = this.#byHolder.get(holder);
    const bytes = entries?.get(entry);
    if (entries === undefined || bytes === undefined) return;
    entries.delete(entry);
    if (entries.size === 0) this.#byHolder.delete(holder);
    this.#all.remove(entry, bytes);
    const own = this.#byToken.get(holder.token);
    own?.remove(entry, bytes);
    if (own?.bytes === 0) this.#byToken.delete(holder.token);
  }

  removeAll(holder: Holder): void {
    for (const entry of this.#byHolder.get(holder)?.keys() ?? []) this.remove(holder, entry);
  }
}
