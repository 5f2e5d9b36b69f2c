import { type Signal, signal } from "@preact/signals";
import type { Api } from "#edges/http/client/index";
import { client } from "../../data/api-client.ts";
import { live } from "../../data/live-stream.ts";

type RecordPage = Api["listRecords"]["response"];
export type LogRecord = RecordPage["records"][number];

export interface RecordsState {
  /** Of one type: in the order they were found. Of all types: by their seqs, so that a seq that is missing is seen. */
  readonly records: ReadonlyMap<number, LogRecord>;
  readonly headSeq: number;
  readonly damage: RecordPage["damage"];
  /** Null: all that is wanted was found. */
  readonly next: number | null;
  readonly error: unknown;
  readonly isLoaded: boolean;
}

const PAGE = 200;
const NOTHING: RecordsState = {
  records: new Map(),
  headSeq: 0,
  damage: null,
  next: 0,
  error: null,
  isLoaded: false,
};

/** The records of a log near the screen. Rows are places: of all types a record's place is its seq, less one. */
export class RecordStore {
  readonly state: Signal<RecordsState> = signal(NOTHING);
  readonly #conversation: string;
  readonly #type: string | null;
  readonly #stop = new AbortController();
  /** Pages that were asked for, and those that were read, with where the log ended then. */
  readonly #asked = new Map<number, number>();
  readonly #read = new Map<number, number>();
  #unwatch: (() => void) | null = null;

  constructor(conversation: string, type: string | null) {
    this.#conversation = conversation;
    this.#type = type;
    void this.#load(0, 0);
  }

  close(): void {
    this.#stop.abort();
    this.#unwatch?.();
  }

  rows(): number {
    const { records, headSeq, next } = this.state.value;
    return this.#type === null ? headSeq : records.size + (next === null ? 0 : 1);
  }

  at(place: number): LogRecord | null {
    return this.state.value.records.get(this.#type === null ? place + 1 : place) ?? null;
  }

  /** Whether the page that a place is on was read: what is not there then is not in the log. */
  isRead(place: number): boolean {
    return place < (this.#read.get(Math.floor(place / PAGE)) ?? 0);
  }

  /** Asks for what these places lack. */
  ensure(first: number, last: number): void {
    const { headSeq, next, isLoaded, records } = this.state.value;
    if (!isLoaded) return;
    if (this.#type !== null) {
      if (next !== null && last >= records.size - 1 && !this.#asked.has(next)) void this.#load(next, next);
      return;
    }
    const end = Math.min(last, headSeq - 1);
    for (let page = Math.floor(Math.max(0, first) / PAGE); page * PAGE <= end; page++) {
      const until = this.#asked.get(page);
      if (until === undefined || (until < headSeq && until < (page + 1) * PAGE))
        void this.#load(page, page * PAGE);
    }
  }

  async #load(page: number, after: number): Promise<void> {
    this.#asked.set(page, this.state.value.headSeq);
    const types = this.#type === null ? {} : { types: [this.#type] };
    try {
      const found = await client.listRecords(
        { conversation: this.#conversation, after, limit: PAGE, ...types },
        { signal: this.#stop.signal },
      );
      // Of one type the same place is asked for again once the log has grown.
      if (this.#type === null) this.#asked.set(page, found.headSeq);
      else this.#asked.delete(page);
      this.#read.set(page, found.headSeq);
      this.#take(found);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#asked.delete(page);
      this.state.value = { ...this.state.value, error, isLoaded: true };
    }
  }

  #take({ records: found, headSeq, damage, next }: RecordPage): void {
    const was = this.state.value;
    const records = new Map(was.records);
    for (const record of found) records.set(this.#type === null ? record.seq : records.size, record);
    // What was written while it was asked for lies behind it.
    const behind = this.#type !== null && headSeq < was.headSeq ? headSeq : null;
    this.state.value = {
      records,
      damage,
      next: next ?? behind,
      headSeq: Math.max(headSeq, was.headSeq),
      error: null,
      isLoaded: true,
    };
    if (damage === null)
      this.#unwatch ??= live.watch(this.#conversation, headSeq, ({ seq }) => this.#grow(seq));
  }

  #grow(headSeq: number): void {
    const was = this.state.value;
    if (headSeq <= was.headSeq) return;
    // What was found of one type ended where the log did: behind that it goes on.
    const next = this.#type === null ? was.next : (was.next ?? was.headSeq);
    this.state.value = { ...was, headSeq, next };
  }
}
