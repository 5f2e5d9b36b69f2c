import { type Signal, signal } from "@preact/signals";
import type { LiveWords, ThreadPage } from "#edges/http/client/views";
import type { Entry } from "#log/entry";
import { liveTurnAfter, liveTurnHearing, NO_TURN } from "#log/projections/live-turn";
import { AGAIN_MS, isPassing, patientClient as client } from "../../../data/api-client.ts";
import { live, TEXT_MAX } from "../../../data/live-stream.ts";
import { failHeader, noteTold, takeHeader } from "../opened-conversation.ts";
import { type ChangedRows, changedRows, type ReadSeqs } from "./changed-rows.ts";
import {
  continued,
  missingPages,
  NO_THREAD,
  opened,
  type ThreadState,
  withoutFar,
  withRows,
} from "./thread-state.ts";

const PAGE = 60;
const AROUND = 20; // rows beyond the screen that are read with it
const WORDS_MS = 40; // what is written is drawn so often, however fast it comes
const KEPT_MAX = 4_000; // rows; beyond it those far from the screen are let go of

export interface ThreadWanted {
  readonly conversation: string;
  /** The end of the branch that is shown; null: the conversation's own. */
  readonly leaf: string | null;
  /** The entry that is to be on the screen. */
  readonly at: string | null;
}

/** What the stream told: an entry, or words that the log does not have yet. */
type Told = { readonly entry: Entry } | { readonly words: LiveWords };

/** A branch of a conversation as it is shown: read by the screen, kept up with what happens. */
export class ThreadStore {
  readonly state: Signal<ThreadState> = signal(NO_THREAD);
  /** The places on the screen. */
  readonly shown: Signal<{ readonly first: number; readonly last: number }> = signal({ first: 0, last: 0 });
  readonly #wanted: ThreadWanted;
  readonly #stop = new AbortController();
  /** The pages of this branch that are on their way; another branch has a set of its own. */
  #asked = new Set<number>();
  /** In the order in which it came; it waits while the branch is read, for it stands behind what is read. */
  readonly #told: Told[] = [];
  #isReading = true;
  #readSeqs: ReadSeqs = { end: 0, turn: 0 };
  /** The last entry that could not be read. */
  #failedSeq = 0;
  #unwatch: (() => void) | null = null;
  #hearing: ReturnType<typeof setTimeout> | undefined;

  constructor(wanted: ThreadWanted) {
    this.#wanted = wanted;
    void this.#open();
  }

  /** Whether it shows the branch to an end; null: the conversation's own. */
  shows(conversation: string, leaf: string | null): boolean {
    return conversation === this.#wanted.conversation && leaf === this.#leaf;
  }

  /** The end of the branch of an entry that is not on the conversation's own; null: it is on it, or was not asked for. */
  branchOf(entry: string): string | null {
    const { page } = this.state.value;
    const isAsked = this.#wanted.leaf === null && this.#wanted.at === entry;
    return isAsked && page?.own === false ? page.leaf : null;
  }

  close(): void {
    this.#stop.abort();
    clearTimeout(this.#hearing);
    this.#unwatch?.();
  }

  /** The rows that are on the screen: what is missing of them, and around them, is read. */
  ensure(firstShown: number, lastShown: number): void {
    this.shown.value = { first: firstShown, last: lastShown };
    const [first, last] = [firstShown - AROUND, lastShown + AROUND];
    const { page, rows } = this.state.value;
    if (page === null) return;
    if (rows.size > KEPT_MAX) this.#set((was) => withoutFar(was, first - KEPT_MAX / 4, last + KEPT_MAX / 4));
    const asked = this.#asked;
    for (const from of missingPages(this.state.value, { first, last, size: PAGE })) {
      if (asked.has(from)) continue;
      asked.add(from);
      void this.#readMore(page.leaf, from).finally(() => asked.delete(from));
    }
  }

  #set(change: (was: ThreadState) => ThreadState): void {
    if (!this.#stop.signal.aborted) this.state.value = change(this.state.value);
  }

  #read(place: {
    readonly leaf?: string | null;
    readonly at?: string | null;
    readonly from?: number;
    readonly limit?: number;
  }): Promise<ThreadPage> {
    const { leaf = this.#leaf, at = null, ...rest } = place;
    const { conversation } = this.#wanted;
    const request = { conversation, textMax: TEXT_MAX, ...rest };
    return client.getThread(
      { ...request, ...(leaf === null ? {} : { leaf }), ...(at === null ? {} : { at }) },
      { signal: this.#stop.signal },
    );
  }

  /** Null while the branch is that of the conversation itself. */
  get #leaf(): string | null {
    const { page } = this.state.value;
    return page?.own === false && this.#wanted.at !== null ? page.leaf : this.#wanted.leaf;
  }

  get #isPinned(): boolean {
    return this.#leaf !== null;
  }

  async #open(): Promise<void> {
    const { conversation, at } = this.#wanted;
    try {
      this.#take(await this.#read({ at }), opened);
      const { page } = this.state.value;
      if (page === null || this.#stop.signal.aborted) return;
      const hear = this.#isPinned ? null : (words: LiveWords): void => this.#hear({ words });
      this.#unwatch = live.watch(conversation, page.headSeq, (entry) => this.#tell({ entry }), hear);
    } catch (error) {
      if (this.#stop.signal.aborted) return;
      this.#set((was) => ({ ...was, error }));
      failHeader(conversation, error);
    }
    this.#isReading = false;
    this.#drain();
  }

  #take(page: ThreadPage, change: (was: ThreadState, page: ThreadPage) => ThreadState): void {
    if (this.#stop.signal.aborted) return;
    const isFirst = change === opened;
    if (isFirst) this.#asked = new Set();
    if (isFirst) this.#readSeqs = { end: page.headSeq, turn: page.headSeq };
    this.#set((was) => {
      const next = change(was, page);
      return isFirst && was.page === null ? { ...next, live: page.live ?? NO_TURN } : next;
    });
    takeHeader(page);
  }

  async #readMore(leaf: string, from: number): Promise<void> {
    const asked = this.#asked;
    const page = await this.#read({ leaf, from, limit: PAGE }).catch(() => null);
    if (page !== null && asked === this.#asked) this.#set((was) => withRows(was, page));
  }

  /** Rows that changed, and the branch as it is now; where it is another one, that one. */
  async #readChanged({ from, limit, reach }: ChangedRows, seq: number): Promise<void> {
    this.#isReading = true;
    try {
      const page = await this.#read({ from, limit });
      const next = continued(this.state.value, page);
      if (next === null) {
        this.#take(await this.#read({}), opened);
      } else {
        this.#take(page, () => next);
        const { headSeq } = page;
        if (reach !== "some") this.#readSeqs = { ...this.#readSeqs, end: headSeq, [reach]: headSeq };
      }
      if (page.headSeq < seq) this.#failedSeq = seq; // a store that is behind is not asked forever
    } catch (error) {
      // Nobody answers, or this browser is not known for now: it is asked again.
      if (isPassing(error)) await new Promise((over) => setTimeout(over, AGAIN_MS));
      else this.#failedSeq = seq;
    } finally {
      this.#isReading = false;
    }
    this.ensure(this.shown.peek().first, this.shown.peek().last);
    this.#drain();
  }

  #hear(told: Told): void {
    this.#told.push(told);
    this.#hearing ??= setTimeout(() => this.#drain(), WORDS_MS);
  }

  #tell(told: Told & { readonly entry: Entry }): void {
    noteTold(this.#wanted.conversation, told.entry);
    this.#told.push(told);
    this.#drain();
  }

  #drain(): void {
    clearTimeout(this.#hearing);
    this.#hearing = undefined;
    while (!this.#isReading && !this.#stop.signal.aborted) {
      const told = this.#told[0];
      if (told === undefined) break;
      const changed = "entry" in told ? this.#changedBy(told.entry) : null;
      if (changed !== null && "entry" in told) {
        void this.#readChanged(changed, told.entry.seq);
        break;
      }
      this.#told.shift();
      this.#set((was) => ({ ...was, live: this.#liveAfter(was, told) }));
    }
  }

  #changedBy(entry: Entry): ChangedRows | null {
    if (entry.seq <= this.#failedSeq) return null;
    return changedRows(this.state.value, entry, { isPinned: this.#isPinned, readSeqs: this.#readSeqs });
  }

  /** What is being said stands at the end of the conversation's own branch, and of no other. */
  #liveAfter({ live: was }: ThreadState, told: Told): ThreadState["live"] {
    if ("words" in told) return liveTurnHearing(was, told.words);
    return this.#isPinned ? was : liveTurnAfter(was, told.entry);
  }
}
