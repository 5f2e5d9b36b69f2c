const KEPT_MAX = 4;
const KEPT_ITEMS_MAX = 50_000; // of one log: some 20 MB
const KEPT_MS = 30_000;

interface Reading {
  readonly headSeq: number;
  readonly items: number;
}

/**
 * What follows from a log as a whole, kept for half a minute: what is asked for by pages costs one reading, not one for each, and another
 * once the log has grown.
 */
export class KeptReadings<T extends Reading> {
  readonly #kept = new Map<string, T>();

  async read(name: string, headSeq: number, read: () => Promise<T>): Promise<T> {
    const known = this.#kept.get(name);
    if (known?.headSeq === headSeq) return known;
    const found = await read();
    this.#keep(name, found);
    return found;
  }

  #keep(name: string, found: T): void {
    this.#kept.delete(name);
    if (found.items > KEPT_ITEMS_MAX) return;
    this.#kept.set(name, found);
    const [oldest] = this.#kept.keys();
    if (this.#kept.size > KEPT_MAX && oldest !== undefined) this.#kept.delete(oldest);
    setTimeout(() => this.#kept.get(name) === found && this.#kept.delete(name), KEPT_MS).unref();
  }
}
