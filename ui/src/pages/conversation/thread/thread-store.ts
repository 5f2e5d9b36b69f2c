import { type Signal, signal } from "@preact/signals";
import type { LiveWords } from "#edges/http/client/index";
import type { Entry } from "#log/entry";
import { client } from "../../../data/api-client.ts";
import { live, TEXT_MAX } from "../../../data/live-stream.ts";
import { type BranchNodes, missingPages, nodesOf, withoutFar, withPage } from "./branch-nodes.ts";
import { liveTurnAfter, liveTurnHearing, NO_TURN } from "./live-turn.ts";
import { readSiblings } from "./siblings.ts";
import { afterEntry, NO_THREAD, type ThreadState, withCut, withFacts, withLabels } from "./thread-state.ts";
import { FACT_TYPES } from "./turn-facts.ts";

const PAGE = 60;
const FACTS_PAGE = 500;
const TAIL_PAGES_MAX = 8;
const LABELS_MAX = 500;
const WORDS_MS = 40; // what is written is drawn so often, however fast it comes
const STAMPS_AT_ONCE = 100;
const KEPT_MAX = 4_000; // nodes; beyond it those far from the screen are let go of

export interface ThreadWanted {
  readonly conversation: string;
  /** The end of the branch that is shown; null: the conversation's own. */
  readonly leaf: string | null;
  /** The entry that is to be on the screen. */
  readonly at: string | null;
}

/** A branch of a conversation as it is shown: read by the screen, kept up with what happens. */
export class ThreadStore {
  readonly state: Signal<ThreadState> = signal(NO_THREAD);
  readonly #wanted: ThreadWanted;
  readonly #stop = new AbortController();
  readonly #asked = new Set<number>();
  #unwatch: () => void = () => undefined;
  #isStale = false;
  #heard: LiveWords[] = [];
  #hearing: ReturnType<typeof setTimeout> | undefined;
  #isReading = false;

  constructor(wanted: ThreadWanted) {
    this.#wanted = wanted;
    void this.#open();
  }

  get conversation(): string {
    return this.#wanted.conversation;
  }

  close(): void {
    this.#stop.abort();
    clearTimeout(this.#hearing);
    this.#unwatch();
  }

  /** Reads what is missing of a stretch. */
  ensure(first: number, last: number): void {
    const { branch } = this.state.value;
    if (branch === null) return;
    if (branch.nodes.size > KEPT_MAX)
      this.#set((was) => ({ ...was, branch: withoutFar(branch, first - KEPT_MAX / 4, last + KEPT_MAX / 4) }));
    for (const from of missingPages(branch, first, last, PAGE)) {
      if (this.#asked.has(from)) continue;
      this.#asked.add(from);
      void this.#readPage(branch, from).finally(() => this.#asked.delete(from));
    }
  }

  #set(change: (was: ThreadState) => ThreadState): void {
    if (!this.#stop.signal.aborted) this.state.value = change(this.state.value);
  }

  get #options(): { readonly signal: AbortSignal } {
    return { signal: this.#stop.signal };
  }

  async #open(): Promise<void> {
    const { conversation, leaf, at } = this.#wanted;
    try {
      const page = await client.listBranch(
        {
          conversation,
          limit: PAGE,
          textMax: TEXT_MAX,
          ...(leaf === null ? {} : { leaf }),
          ...(at === null ? {} : { at }),
        },
        this.#options,
      );
      const branch = nodesOf(page);
      this.#set((was) => ({ ...was, branch }));
      this.#unwatch = live.watch(
        conversation,
        page.headSeq,
        (entry, cut) => this.#tell(entry, cut),
        leaf === null ? (words) => this.#hear(words) : null,
      );
      await Promise.all([this.#readFacts(branch, page.from, page.entries), this.#readTail(branch)]);
      await this.#readRest();
    } catch (error) {
      this.#set((was) => ({ ...was, error }));
    }
  }

  /** What is seen beside the messages, once they are there. */
  async #readRest(): Promise<void> {
    const { conversation } = this.#wanted;
    const [{ links }, labels, view] = await Promise.all([
      client.getChain({ conversation }, this.#options),
      client.listEntries({ conversation, types: ["label"], limit: LABELS_MAX }, this.#options),
      client.getConversation({ conversation }, this.#options),
    ]);
    this.#set((was) => withLabels({ ...was, links }, labels.entries));
    await this.#readStamps();
    if ((view.summary?.branches ?? 2) < 2 && view.origin === null) return;
    const siblings = await readSiblings(conversation, this.#stop.signal);
    this.#set((was) => ({ ...was, siblings }));
  }

  async #readPage({ leaf }: BranchNodes, from: number): Promise<void> {
    const { conversation } = this.#wanted;
    const first = Math.max(0, from - 1);
    const asked = { conversation, leaf, from: first, limit: PAGE + 1, textMax: TEXT_MAX };
    const page = await client.listBranch(asked, this.#options).catch(() => null);
    if (page === null) return;
    this.#set((was) => (was.branch === null ? was : { ...was, branch: withPage(was.branch, page) }));
    const { branch } = this.state.value;
    if (branch === null) return;
    await this.#readFacts(branch, page.from, page.entries).catch(() => undefined);
    await this.#readStamps().catch(() => undefined);
  }

  /** Who carried each message that is there, and again those of the last turn; where there is one session, its range says it. */
  async #readStamps(): Promise<void> {
    const { branch, links, stamps } = this.state.value;
    if (branch === null || links.length < 2) return;
    const ids = [...branch.nodes].flatMap(([place, { type, id }]) =>
      type === "message" && (!stamps.has(id) || place >= branch.length - PAGE) ? [id] : [],
    );
    for (let from = 0; from < ids.length; from += STAMPS_AT_ONCE) {
      const asked = {
        conversation: this.#wanted.conversation,
        entries: ids.slice(from, from + STAMPS_AT_ONCE),
      };
      const page = await client.listStamps(asked, this.#options);
      this.#set((was) => {
        const next = new Map(was.stamps);
        for (const { entry, upstreams } of page.stamps)
          next.set(
            entry,
            upstreams.map(({ link }) => link),
          );
        return { ...was, stamps: next };
      });
    }
  }

  /** The facts between the nodes of a stretch; what a fork inherited are entries of another log. */
  async #readFacts(branch: BranchNodes, from: number, entries: readonly Entry[]): Promise<void> {
    const own = entries.slice(Math.max(0, branch.inherited - from));
    const [first, last] = [own[0], own.at(-1)];
    if (first === undefined || last === undefined) return;
    let after = Math.max(0, first.seq - 1);
    while (after < last.seq) {
      const page = await client.listEntries(
        { conversation: this.#wanted.conversation, after, types: FACT_TYPES, limit: FACTS_PAGE },
        this.#options,
      );
      this.#set((was) => withFacts(was, page.entries));
      if (page.next === null) return;
      after = page.next;
    }
  }

  /** Behind the last node: how the last turn ended, or what is said in the one that runs. */
  async #readTail(branch: BranchNodes): Promise<void> {
    const { conversation, leaf } = this.#wanted;
    const view = await client.getConversation({ conversation }, this.#options);
    if (leaf !== null || view.openTurn === null) return this.#readEnd(branch);
    const [start] = (
      await client.listEntries(
        { conversation, types: ["turn_start"], before: view.headSeq + 1, limit: 1 },
        this.#options,
      )
    ).entries;
    let after = (start?.seq ?? 1) - 1;
    for (let pages = 0; pages < TAIL_PAGES_MAX; pages++) {
      const page = await client.listEntries({ conversation, after, limit: FACTS_PAGE }, this.#options);
      this.#set((was) => {
        let turn = was.live.turn === null ? { ...NO_TURN, turn: view.openTurn?.turn ?? null } : was.live;
        for (const entry of page.entries) turn = liveTurnAfter(turn, entry);
        return withFacts({ ...was, live: turn }, page.entries);
      });
      if (page.next === null) return;
      after = page.next;
    }
  }

  async #readEnd({ nodes, length, inherited }: BranchNodes): Promise<void> {
    const last = nodes.get(length - 1);
    if (last === undefined || length - 1 < inherited) return;
    const { conversation } = this.#wanted;
    const asked = { conversation, after: last.seq, types: FACT_TYPES, limit: FACTS_PAGE };
    const page = await client.listEntries(asked, this.#options);
    this.#set((was) => withFacts(was, page.entries));
  }

  #hear(words: LiveWords): void {
    this.#heard.push(words);
    this.#hearing ??= setTimeout(() => this.#showHeard(), WORDS_MS);
  }

  #showHeard(): void {
    clearTimeout(this.#hearing);
    this.#hearing = undefined;
    const heard = this.#heard.splice(0);
    if (heard.length > 0) this.#set((was) => ({ ...was, live: heard.reduce(liveTurnHearing, was.live) }));
  }

  #tell(entry: Entry, cut: number | null): void {
    this.#showHeard(); // in the order in which it came
    const { state, stale } = afterEntry(this.state.value, entry, this.#wanted.leaf !== null);
    this.#set(() => (cut === null ? state : withCut(state, entry.id, cut)));
    if (stale) void this.#reread();
    if (entry.type === "upstream_link" || entry.type === "turn_end") void this.#reloadLinks();
  }

  async #reloadLinks(): Promise<void> {
    const { conversation } = this.#wanted;
    const found = await client.getChain({ conversation }, this.#options).catch(() => null);
    if (found === null) return;
    this.#set((was) => ({ ...was, links: found.links }));
    await this.#readStamps().catch(() => undefined);
  }

  /** One reading at a time: what comes meanwhile asks for another, so that the last one counts. */
  async #reread(): Promise<void> {
    this.#isStale = true;
    if (this.#isReading) return;
    this.#isReading = true;
    while (this.#isStale && !this.#stop.signal.aborted) {
      this.#isStale = false;
      const asked = { conversation: this.#wanted.conversation, limit: PAGE, textMax: TEXT_MAX };
      const page = await client.listBranch(asked, this.#options).catch(() => null);
      if (page !== null) this.#set((was) => ({ ...was, branch: nodesOf(page) }));
      if (page !== null) await this.#readFacts(nodesOf(page), page.from, page.entries).catch(() => undefined);
    }
    this.#isReading = false;
    await this.#readRest().catch(() => undefined);
  }
}
