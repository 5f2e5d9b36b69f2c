import type { AppendResult } from "#log/batch";
import type { BatchEndAt } from "#log/batch-links";
import { decodeEntry, presentEntry } from "#log/codec";
import type { Entry, EntryType, StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import { type ConversationId, type EntryId, parseDigest, parseEntryId, parseKey } from "#log/ids";
import { ChainReader, type Link } from "#log/projections/chain";
import type { Context, ExactContext } from "#log/projections/context";
import type { Effect } from "#log/projections/effects";
import { type SentContext, lastSent } from "#log/projections/sent-context";
import type { Issue } from "#log/projections/issues";
import type { Queued } from "#log/projections/queue";
import type { Run } from "#log/runs/run-row";
import type { Settings } from "#log/projections/settings";
import type { Summary, UsageTotals } from "#log/summary";
import type { BatchEndsRequest, HeadView, ReadRequest } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { readChain } from "./read-chain.ts";
import {
  type BranchEntry,
  type HistoryPage,
  type HistoryRequest,
  readCursor,
  readHistory,
} from "./history-pages.ts";
import { type OpenTurn, openTurnAt, readSummary } from "./list-conversations.ts";
import { nodesNamed } from "./find-named.ts";
import { OnSpace } from "./on-space.ts";
import { type NodeAt, readBranch, readContext, readExactContext, readSettings } from "./reading.ts";
import {
  type EffectsPage,
  type EffectsRequest,
  type IssuesPage,
  type IssuesRequest,
  readEffects,
  readIssues,
  readIssuesPage,
} from "./ledger.ts";
import { type LostEntries, readDamaged, readEntries, readInherited, readLog } from "./read-log.ts";
import { readConversationRuns, readLatestRun } from "./read-runs.ts";
import { type ConversationTree, readTree } from "./read-tree.ts";
import { SteerQueue } from "./steer-queue.ts";

const GIVEN_READ_MAX = 1_024; // turns of one session; what it was told before those it has long outgrown

export function answerKey(request: string): string {
  return `answer/${request}`;
}

interface TailOptions {
  readonly after?: number;
  readonly signal?: AbortSignal;
}

/** What a conversation says, as the log is when it is asked. */
export class ConversationReader extends OnSpace {
  readonly id: ConversationId;
  readonly #space: SpaceStore;

  constructor(id: ConversationId, space: SpaceStore) {
    super(space);
    this.id = id;
    this.#space = space;
  }

  /** The conversation's own entries of these types. */
  async facts(types: readonly EntryType[]): Promise<readonly Entry[]> {
    return (await readEntries(this.#space, this.id, types)).map((entry) => presentEntry(entry));
  }

  /** The same of the logs it was forked from, as far as it sees them, oldest log first. */
  inheritedFacts(types: readonly EntryType[]): Promise<readonly Entry[]> {
    return readInherited(this.#space, this.id, types);
  }

  head(): Promise<HeadView> {
    return this.#space.head(this.id);
  }

  async entry(id: string): Promise<Entry> {
    return presentEntry(decodeEntry(await this.#space.entry(this.id, parseEntryId(id))));
  }

  /** The nodes a person may mean by a text: by their label, else by the start or the end of their id. */
  named(text: string): Promise<readonly EntryId[]> {
    return nodesNamed(this.#space, this.id, text);
  }

  /** The append made under this key: look before doing the work it protects. */
  async findAppend(key: string): Promise<Pick<AppendResult, "fromSeq" | "toSeq" | "lastId"> | null> {
    return this.#space.findAppend(this.id, parseKey(key));
  }

  /** The answer to what a turn asked; null while there is none. */
  async findAnswer(request: string): Promise<"allowed" | "denied" | "cancelled" | null> {
    const append = await this.findAppend(answerKey(request));
    const entry = append === null ? null : await this.entry(append.lastId);
    return entry?.type === "permission_answer" ? entry.outcome : null;
  }

  /** Resolves with the answer that any process writes; null when the wait ends before. With `after` only later entries count. */
  async waitForAnswer(
    request: string,
    wait: { readonly signal: AbortSignal; readonly after?: number },
  ): Promise<"allowed" | "denied" | "cancelled" | null> {
    const after = wait.after ?? (await this.head()).headSeq;
    const answer = wait.after === undefined ? await this.findAnswer(request) : null;
    if (answer !== null) return answer;
    for await (const entry of this.tail({ ...wait, after }))
      if (entry.type === "permission_answer" && entry.request === request) return entry.outcome;
    return null;
  }

  /** Null: the leaf, whatever it is by then. */
  async #at(entry: string | undefined): Promise<NodeAt | null> {
    if (entry === undefined) return null;
    const row = await this.#space.entry(this.id, parseEntryId(entry));
    if (row.place === null)
      throw new LogError(
        "unknown_target",
        `Entry ${entry} is an annotation, such as a label, and not on a branch. Use the id of a message.`,
        {
          target: entry,
        },
      );
    return { ...row.place, id: row.id };
  }

  /** Model, config, skills and state at the leaf, or as they were at any node; no message is read for them. */
  async settings(options: { readonly at?: string } = {}): Promise<Settings> {
    return readSettings(this.#space, this.id, await this.#at(options.at));
  }

  /** What the model is to be sent, at the leaf or as it was at any node. */
  async context(options: { readonly at?: string } = {}): Promise<Context> {
    return readContext(this.#space, this.id, await this.#at(options.at));
  }

  /** The same with the entries it was made of, which have its exact text, and at the leaf with what the last upstream was given of it. */
  async exactContext(
    options: { readonly at?: string } = {},
  ): Promise<ExactContext & { readonly given: SentContext | null }> {
    const at = await this.#at(options.at);
    const { context, head } = await readExactContext(this.#space, this.id, at);
    // An upstream is linked before it is asked: most conversations have none, and say so in their head.
    const isAsked = at === null && head.summary?.links !== 0;
    return { ...context, given: isAsked ? await this.lastSent() : null };
  }

  /** The nodes from the root to the leaf, or to any node. */
  async branch(options: { readonly at?: string } = {}): Promise<readonly BranchEntry[]> {
    return readBranch(this.#space, this.id, await this.#at(options.at));
  }

  /** The newest entries of the branch, then, by the cursor a page ends with, those before: "last 50, then older". */
  async history(request: HistoryRequest = {}): Promise<HistoryPage> {
    const from = request.cursor === undefined ? await this.#at(request.at) : readCursor(request.cursor);
    return readHistory(this.#space, this.id, from, request);
  }

  /** The conversation's own entries in order, as stored: exact text included. */
  log(
    options: { readonly after?: number; readonly upTo?: number; readonly types?: readonly EntryType[] } = {},
  ): AsyncIterable<StoredEntry> {
    return readLog(this.#space, this.id, options);
  }

  /** A page of the same: after a seq or, newest first, before one. */
  entries(request: Omit<ReadRequest, "conversation">): Promise<readonly StoredEntry[]> {
    return this.#space.read({ ...request, conversation: this.id });
  }

  /** The same page, decoded. */
  async read<T extends EntryType>(
    request: Omit<ReadRequest, "conversation"> & { readonly types: readonly T[] },
  ): Promise<readonly Extract<Entry, { readonly type: T }>[]> {
    const stored = await this.entries(request);
    return stored.map((entry) => presentEntry(decodeEntry(entry)) as Extract<Entry, { readonly type: T }>);
  }

  /** Its newest entry of these types, or the newest before a seq; null when there is none. */
  async latest<T extends EntryType>(
    types: readonly T[],
    before?: number,
  ): Promise<Extract<Entry, { readonly type: T }> | null> {
    const place = before === undefined ? {} : { after: before };
    const [entry = null] = await this.read({ types, newestFirst: true, limit: 1, ...place });
    return entry;
  }

  /** The same of a damaged log: what can be read of it, and in their order the gaps between. */
  readableLog(options: { readonly after: number }): AsyncIterable<StoredEntry | LostEntries> {
    return readDamaged(this.#space, this.id, options.after);
  }

  /** Where batches end, each with the link that holds everything before it. */
  batchEnds(request: Omit<BatchEndsRequest, "conversation">): Promise<readonly BatchEndAt[]> {
    return this.#space.batchEnds({ ...request, conversation: this.id });
  }

  /**
   * Entries as they become durable, from any process, until the signal or the store's end; waiting for the next one keeps
   * the process alive. Resume with the last seq you saw.
   */
  async *tail(options: TailOptions = {}): AsyncGenerator<Entry> {
    for await (const stored of this.tailStored(options)) yield presentEntry(decodeEntry(stored));
  }

  /** The same as stored: exact text included. */
  tailStored({ after = 0, ...options }: TailOptions = {}): AsyncIterable<StoredEntry> {
    return this.#space.tail({ conversation: this.id, after, ...options });
  }

  tree(): Promise<ConversationTree> {
    return readTree(this.#space, this.id);
  }

  /** The turn that was begun and has not ended; null when there is none. A caller that has the head saves a read of it. */
  async openTurn(head?: HeadView): Promise<OpenTurn | null> {
    return openTurnAt(this, head ?? (await this.head()));
  }

  /** Every upstream id this conversation has held; a fork also shows those of its source, as a record. */
  async chain(): Promise<readonly Link[]> {
    return (await readChain(this, new ChainReader(false))).links();
  }

  /** What the upstream that was asked last was given of the conversation; null when none was asked. */
  async lastSent(): Promise<SentContext | null> {
    const types = ["upstream_link", "attempt"] as const;
    const stored = await this.#space.read({
      conversation: this.id,
      limit: GIVEN_READ_MAX,
      newestFirst: true,
      types,
    });
    return lastSent(stored.map((entry) => decodeEntry(entry)).toReversed());
  }

  /** The links of the upstreams that a message was sent to, or that gave it, in that order. */
  async carriersOf(message: string): Promise<readonly Link[]> {
    const { id } = await this.#space.entry(this.id, parseEntryId(message));
    return (await readChain(this)).carriers().get(id) ?? [];
  }

  /** The messages an upstream was given or gave, in the order of the log. */
  async messagesOf(upstream: string): Promise<readonly Entry[]> {
    const carriers = (await readChain(this)).carriers();
    const ids = [...carriers].flatMap(([id, links]) =>
      links.some((link) => link.id === upstream) ? [id] : [],
    );
    const stored = await Promise.all(ids.map((id) => this.#space.entry(this.id, id)));
    return stored.map((entry) => decodeEntry(entry)).toSorted((one, other) => one.seq - other.seq);
  }

  async effects(): Promise<readonly Effect[]> {
    return (await this.effectsPage()).effects;
  }

  /** The same in pages, in the order of the calls. */
  effectsPage(request: EffectsRequest = {}): Promise<EffectsPage> {
    return readEffects(this, request);
  }

  /** What lists show of it: its last turn, its metadata and what it has used. */
  async summary(): Promise<Summary> {
    const { summary } = await this.head();
    return summary ?? readSummary(this.#space, this.id);
  }

  /** What its own entries cost, on every branch. */
  async usage(): Promise<UsageTotals> {
    return (await this.summary()).usage;
  }

  /** Its own runs with what they have counted until now, oldest first; a fork has none of its source's. */
  runs(): Promise<readonly Run[]> {
    return readConversationRuns(this.#space, this.id);
  }

  /** The run that was begun last; null when there was none. */
  latestRun(): Promise<Run | null> {
    return readLatestRun(this.#space, this.id);
  }

  async queue(): Promise<readonly Queued[]> {
    return new SteerQueue(this.#space, this.id).waiting();
  }

  /** What a person should look at: turns and runs without an end, and what is wrong in the context as it is now. */
  issues(): Promise<readonly Issue[]> {
    return readIssues(this);
  }

  /** The same in pages. */
  issuesPage(request: IssuesRequest = {}): Promise<IssuesPage> {
    return readIssuesPage(this, request);
  }

  async getBlob(digest: string): Promise<Uint8Array> {
    return this.#space.getBlob(this.id, parseDigest(digest));
  }
}
