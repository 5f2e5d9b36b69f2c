import { type Signal, signal } from "@preact/signals";
import { ApiError } from "#edges/http/client/index";
import type { BranchPage } from "#edges/http/client/views";
import { AnswerOrder } from "../../../data/answer-order.ts";
import { patientClient as client } from "../../../data/api-client.ts";
import { live, TEXT_MAX } from "../../../data/live-stream.ts";
import {
  type BranchNodes,
  factRanges,
  missingPages,
  nodesOf,
  rangeBehind,
  withoutFar,
  withPage,
} from "./branch-nodes.ts";
import { liveTurnAfter } from "#log/thread/live-turn";
import { readSiblings } from "./siblings.ts";
import { afterTold, NO_THREAD, type ThreadState, type Told, withFacts, withLabels } from "./thread-state.ts";
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
  /** The pages of this branch that are on their way; another branch has a set of its own. */
  #asked = new Set<number>();
  readonly #order = { siblings: new AnswerOrder(), links: new AnswerOrder() };
  /** In the order in which it came; it waits while the branch is read, for it stands behind what is read. */
  readonly #told: Told[] = [];
  #isReading = true;
  #unwatch: (() => void) | null = null;
  #hearing: ReturnType<typeof setTimeout> | undefined;

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
    this.#unwatch?.();
  }

  /** Reads what is missing of a stretch. */
  ensure(first: number, last: number): void {
    const { branch } = this.state.value;
    if (branch === null) return;
    if (branch.nodes.size > KEPT_MAX)
      this.#set((was) => ({ ...was, branch: withoutFar(branch, first - KEPT_MAX / 4, last + KEPT_MAX / 4) }));
    const asked = this.#asked;
    for (const from of missingPages(branch, first, last, PAGE)) {
      if (asked.has(from)) continue;
      asked.add(from);
      void this.#readPage(branch, from).finally(() => asked.delete(from));
    }
  }

  #set(change: (was: ThreadState) => ThreadState): void {
    if (!this.#stop.signal.aborted) this.state.value = change(this.state.value);
  }

  get #options(): { readonly signal: AbortSignal } {
    return { signal: this.#stop.signal };
  }

  async #open(): Promise<void> {
    try {
      const branch = await this.#readBranch(this.#wanted);
      await this.#readTail(branch);
    } catch (error) {
      this.#set((was) => ({ ...was, error }));
    }
    await this.#goOn();
  }

  /** The branch as it is now, with the facts between its nodes. */
  async #readBranch({ leaf, at }: Pick<ThreadWanted, "leaf" | "at">): Promise<BranchNodes> {
    const page = await client.listBranch(
      {
        conversation: this.#wanted.conversation,
        limit: PAGE,
        textMax: TEXT_MAX,
        ...(leaf === null ? {} : { leaf }),
        ...(at === null ? {} : { at }),
      },
      this.#options,
    );
    const branch = nodesOf(page);
    this.#asked = new Set();
    this.#set((was) => ({ ...was, branch }));
    this.#watch(branch.headSeq);
    await this.#readFacts(page);
    return branch;
  }

  /** From the moment its nodes are known, whatever becomes of the rest that is read. */
  #watch(headSeq: number): void {
    if (this.#stop.signal.aborted) return;
    const { conversation, leaf } = this.#wanted;
    this.#unwatch ??= live.watch(
      conversation,
      headSeq,
      (entry, cut) => this.#tell({ entry, cut }),
      leaf === null ? (words) => this.#hear({ words }) : null,
    );
  }

  /** The branch has been read: what was told meanwhile counts behind it, and then what is seen beside the messages is asked for. */
  async #goOn(): Promise<void> {
    this.#isReading = false;
    this.#drain();
    if (!this.#isReading) await this.#readRest().catch(() => undefined);
  }

  async #readRest(): Promise<void> {
    const { conversation } = this.#wanted;
    const [labels, view] = await Promise.all([
      client.listEntries({ conversation, types: ["label"], limit: LABELS_MAX }, this.#options),
      client.getConversation({ conversation }, this.#options),
      this.#readLinks(),
    ]);
    this.#set((was) => withLabels(was, labels.entries));
    if ((view.summary?.branches ?? 2) > 1 || view.origin !== null) await this.#readSiblings();
  }

  #readSiblings(): Promise<void> {
    return this.#readLatest(
      this.#order.siblings,
      () => readSiblings(this.#wanted.conversation, this.#stop.signal),
      (was, siblings) => ({ ...was, siblings }),
    );
  }

  async #readLinks(): Promise<void> {
    await this.#readLatest(
      this.#order.links,
      () => client.getChain({ conversation: this.#wanted.conversation }, this.#options),
      (was, { links }) => ({ ...was, links }),
    );
    await this.#readStamps();
  }

  async #readLatest<T>(
    order: AnswerOrder,
    read: () => Promise<T>,
    change: (was: ThreadState, found: T) => ThreadState,
  ): Promise<void> {
    const isTaken = order.ask();
    const found = await read();
    if (isTaken()) this.#set((was) => change(was, found));
  }

  async #readPage({ leaf }: BranchNodes, from: number): Promise<void> {
    const { conversation } = this.#wanted;
    const first = Math.max(0, from - 1);
    const place = { conversation, leaf, from: first, limit: PAGE + 1, textMax: TEXT_MAX };
    const asked = this.#asked;
    const page = await client.listBranch(place, this.#options).catch(() => null);
    if (page === null || asked !== this.#asked) return;
    this.#set((was) => (was.branch === null ? was : { ...was, branch: withPage(was.branch, page) }));
    await this.#readFacts(page).catch(() => undefined);
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

  /** The facts between the nodes of a page, each in the log that holds it. */
  async #readFacts(page: BranchPage): Promise<void> {
    for (const { source, after, until } of factRanges(page))
      for (let next: number | null = after; next !== null && next < until;)
        next = await this.#readFactsBehind(source, next);
  }

  /** A page of facts; gives the seq that the next one begins behind. Of a source that was erased, no facts are left. */
  async #readFactsBehind(source: string | null, after: number): Promise<number | null> {
    const conversation = source ?? this.#wanted.conversation;
    const asked = { conversation, after, types: FACT_TYPES, limit: FACTS_PAGE };
    const page = await client.listEntries(asked, this.#options).catch((error: unknown) => {
      if (source !== null && error instanceof ApiError && error.code === "conversation_not_found")
        return null;
      throw error;
    });
    if (page === null) return null;
    this.#set((was) => withFacts(was, page.entries, source));
    return page.next;
  }

  /** Behind the last node: how the last turn ended, or what is said in the one that runs. */
  async #readTail(branch: BranchNodes): Promise<void> {
    const { conversation, leaf } = this.#wanted;
    const before = branch.headSeq + 1;
    const types = ["turn_start", "turn_end"] as const;
    const asked = { conversation, types, before, limit: 1 };
    const [last] = leaf === null ? (await client.listEntries(asked, this.#options)).entries : [];
    if (last?.type !== "turn_start") return this.#readEnd(branch);
    let after = last.seq - 1;
    for (let pages = 0; pages < TAIL_PAGES_MAX && after < branch.headSeq; pages++) {
      const page = await client.listEntries({ conversation, after, limit: FACTS_PAGE }, this.#options);
      // What came since is told.
      const known = page.entries.filter(({ seq }) => seq < before);
      this.#set((was) => withFacts({ ...was, live: known.reduce(liveTurnAfter, was.live) }, known));
      if (page.next === null) return;
      after = page.next;
    }
  }

  async #readEnd(branch: BranchNodes): Promise<void> {
    const behind = rangeBehind(branch, branch.length - 1);
    if (behind !== null) await this.#readFactsBehind(behind.source, behind.after);
  }

  #hear(told: Told): void {
    this.#told.push(told);
    this.#hearing ??= setTimeout(() => this.#drain(), WORDS_MS);
  }

  #tell(told: Told): void {
    this.#told.push(told);
    this.#drain();
  }

  #drain(): void {
    clearTimeout(this.#hearing);
    this.#hearing = undefined;
    let [hasParted, hasMoved] = [false, false];
    while (!this.#isReading && !this.#stop.signal.aborted) {
      const told = this.#told.shift();
      if (told === undefined) break;
      const { state, isStale, isParted } = afterTold(this.state.value, told, this.#wanted.leaf !== null);
      this.#set(() => state);
      hasParted ||= isParted;
      hasMoved ||= "entry" in told && (told.entry.type === "upstream_link" || told.entry.type === "turn_end");
      if (isStale) void this.#reread();
    }
    if (hasParted) void this.#readRest().catch(() => undefined);
    else if (hasMoved) void this.#readLinks().catch(() => undefined);
  }

  /** What does not follow on the branch that is shown belongs to another, which is shown from now on. */
  async #reread(): Promise<void> {
    this.#isReading = true;
    await this.#readBranch({ leaf: null, at: null }).catch(() => undefined);
    await this.#goOn();
  }
}
