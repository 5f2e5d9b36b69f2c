import type { Clock } from "#conversation/clock";
import type { Durability } from "#log/plans/durability";
import type { AuditLine } from "#operations/server";

const PAUSE_MS = 25; // for which lines gather before they are stored together
const LINES_AT_ONCE = 256;
const LINES_MAX = 4_096;

/** Appends lines to one log. */
export type AppendLines = (lines: readonly AuditLine[], durability: Durability) => Promise<void>;

/** The lines of one log that are not stored yet. Those that come while some are stored go into the next append. */
export class AuditQueue {
  readonly #append: AppendLines;
  readonly #clock: Clock;
  readonly #onError: (error: unknown) => void;
  readonly #waiting = new Set<AuditLine>();
  /** Lines that an act waits for until they are on disk. */
  readonly #urgent = new Set<AuditLine>();
  #storing: Promise<void> | null = null;
  #pause: AbortController | null = null;
  #isFailing = false;

  constructor(append: AppendLines, clock: Clock, onError: (error: unknown) => void) {
    this.#append = append;
    this.#clock = clock;
    this.#onError = onError;
  }

  get isIdle(): boolean {
    return this.#waiting.size === 0 && this.#pause === null && this.#storing === null;
  }

  add(line: AuditLine): void {
    // Nothing is done while lines cannot be stored, so a line that says more than that is never left out.
    if (this.#waiting.size >= LINES_MAX && line.outcome !== "done") return;
    this.#waiting.add(line);
    if (this.#pause === null && !this.#isFailing) void this.#storeSoon();
  }

  /** The lines are on disk when this resolves; where that fails they are dropped. */
  async store(lines: readonly AuditLine[]): Promise<void> {
    for (const line of lines) {
      this.#urgent.add(line);
      this.#waiting.add(line);
    }
    try {
      await this.flush();
    } finally {
      for (const line of lines) {
        this.#urgent.delete(line);
        this.#waiting.delete(line);
      }
    }
  }

  /** Throws when lines wait that cannot be stored. */
  async check(): Promise<void> {
    if (this.#isFailing || this.#waiting.size >= LINES_MAX) await this.flush();
  }

  /** Stores the lines that wait now. */
  async flush(): Promise<void> {
    this.#pause?.abort();
    const lines = [...this.#waiting];
    while (lines.some((line) => this.#waiting.has(line))) {
      this.#storing ??= this.#store().finally(() => void (this.#storing = null));
      await this.#storing;
    }
  }

  async #storeSoon(): Promise<void> {
    const pause = new AbortController();
    this.#pause = pause;
    await this.#clock.sleep(PAUSE_MS, pause.signal);
    this.#pause = null;
    await this.flush().catch(() => undefined); // it is reported, and tried again before anything more is done
  }

  async #store(): Promise<void> {
    const lines = [...this.#waiting].slice(0, LINES_AT_ONCE);
    const isUrgent = lines.some((line) => this.#urgent.has(line));
    try {
      await this.#append(lines, isUrgent ? "full" : "relaxed");
    } catch (error) {
      if (!this.#isFailing) this.#onError(error);
      this.#isFailing = true;
      throw error;
    }
    this.#isFailing = false;
    for (const line of lines) this.#waiting.delete(line);
  }
}
