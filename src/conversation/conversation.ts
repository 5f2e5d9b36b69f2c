import type { AppendResult, Author, StampedDraft } from "#log/batch";
import { decodeEntry, presentEntry } from "#log/codec";
import type { Entry, EntryBody, EntryType, StoredEntry } from "#log/entry";
import type { ContentBlock } from "#log/message";
import { LogError } from "#log/errors";
import {
  type ConversationId,
  type Digest,
  type EntryId,
  parseConversationId,
  parseDigest,
  parseEntryId,
  parseKey,
} from "#log/ids";
import { ChainReader, type Link } from "#log/projections/chain";
import type { Context, ExactContext } from "#log/projections/context";
import { type Effect, EffectLedger } from "#log/projections/effects";
import { type Given, givenOf } from "#log/projections/given";
import type { Issue } from "#log/projections/issue";
import { IssueFinder } from "#log/projections/issues";
import { type Queued, queueOf } from "#log/projections/queue";
import { type Run, runsOf } from "#log/projections/runs";
import type { Settings } from "#log/projections/settings";
import type { UsageTotals } from "#log/summary";
import { type IdsAndTime, prepare } from "#store/prepare";
import type { HeadView } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { readChain } from "./read-chain.ts";
import {
  type BranchEntry,
  type HistoryPage,
  type HistoryRequest,
  readCursor,
  readHistory,
} from "./history-pages.ts";
import { type OpenTurn, readOpenTurn, readSummary } from "./list-conversations.ts";
import { idForKey } from "./id-for-key.ts";
import { idleClock } from "./keep-lease.ts";
import { nodesNamed } from "./find-named.ts";
import { type AppendOptions, Owner } from "./owner.ts";
import {
  eachEntry,
  type NodeAt,
  readBranch,
  readContext,
  readContextIssues,
  readEntries,
  readExactContext,
  readInherited,
  readLog,
  readSettings,
} from "./reading.ts";
import type { Clock } from "./clock.ts";
import { type ConversationTree, readTree } from "./read-tree.ts";

const GIVEN_READ_MAX = 1_024; // turns of one session; what it was told before those it has long outgrown

export interface ForkOptions {
  /** The node the fork grows from; the leaf when absent. */
  readonly at?: string;
  readonly id?: string;
  readonly cwd?: string;
  /** Makes a retry harmless: the same key is the same fork. Without an id, the id follows from it. */
  readonly key?: string;
}

export interface OwnOptions {
  readonly writer: string;
  /** How long others wait for a writer that is gone; a living one renews it. */
  readonly leaseMs: number;
  /** By which it is renewed; real time unless given. */
  readonly clock?: Pick<Clock, "sleep">;
}

/** One conversation: a handle that holds no state of its own, so every call sees the log as it is. */
export class Conversation {
  readonly id: ConversationId;
  readonly #space: SpaceStore;
  readonly #idsAndTime: IdsAndTime;

  constructor(id: ConversationId, space: SpaceStore, idsAndTime: IdsAndTime) {
    this.id = id;
    this.#space = space;
    this.#idsAndTime = idsAndTime;
  }

  /** The port itself, for those who build on it. */
  get space(): SpaceStore {
    return this.#space;
  }

  /** Appends bodies as one atomic batch. A string is taken as the exact JSON text of a body. */
  async append(
    bodies: EntryBody | string | readonly (EntryBody | string)[],
    options: AppendOptions = {},
  ): Promise<AppendResult> {
    const { expected } = options;
    const author: Author = { kind: "once", ...(expected === undefined ? {} : { expected }) };
    return (await this.#append(bodies, author, options)).result;
  }

  async #append(
    bodies: EntryBody | string | readonly (EntryBody | string)[],
    author: Author,
    options: AppendOptions,
  ): Promise<{ readonly result: AppendResult; readonly drafts: readonly StampedDraft[] }> {
    const list = typeof bodies === "string" || !isList(bodies) ? [bodies] : bodies;
    const prepared = prepare(
      list,
      this.#idsAndTime,
      options.key === undefined ? null : parseKey(options.key),
    );
    const { durability = "full" } = options;
    const result = await this.#space.append({ conversation: this.id, author, ...prepared, durability });
    return { result, drafts: prepared.drafts };
  }

  /**
   * Takes the conversation for a turn; others are busy until it is let go of, or its process is gone and the lease has
   * lapsed.
   */
  async own(options: OwnOptions): Promise<Owner> {
    const { writer, leaseMs, clock = idleClock } = options;
    const head = await this.#space.acquire({ conversation: this.id, writer, leaseMs });
    return new Owner(head, {
      space: this.#space,
      leaseMs,
      clock,
      append: (bodies, author, more) => this.#append(bodies, author, more),
    });
  }

  /** Appends facts from outside a turn (steer, hide, label, title): they never move the leaf nor disturb its owner. */
  async appendOutside(
    bodies: EntryBody | string | readonly (EntryBody | string)[],
    options: Pick<AppendOptions, "key"> = {},
  ): Promise<AppendResult> {
    return (await this.#append(bodies, { kind: "outside" }, options)).result;
  }

  title(title: string): Promise<AppendResult> {
    return this.appendOutside({ type: "title", title });
  }

  /** Names a node; null takes the name away. */
  label(entry: string, label: string | null): Promise<AppendResult> {
    return this.appendOutside({ type: "label", target: entry, label });
  }

  /** Takes a node out of the context, or brings it back; the log keeps it either way. */
  hide(entry: string, hidden: boolean = true): Promise<AppendResult> {
    return this.appendOutside({ type: "hide", target: entry, ...(hidden ? {} : { hidden }) });
  }

  /** Leaves a message for the running turn; durable when this resolves. */
  steer(steer: string, content: readonly ContentBlock[]): Promise<AppendResult> {
    return this.appendOutside(
      { type: "steer", steer, state: "accepted", content },
      { key: `steer/${steer}` },
    );
  }

  /** Declares an upstream id unusable: it stays in the chain and is not resumed. */
  endUpstream(upstream: string, reason: string): Promise<AppendResult> {
    return this.appendOutside({ type: "upstream_end", upstream, reason });
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

  /** Null: the leaf, whatever it is by then. */
  async #at(entry: string | undefined): Promise<NodeAt | null> {
    if (entry === undefined) return null;
    const found = await this.#space.entry(this.id, parseEntryId(entry));
    if (found.place === null)
      throw new LogError("unknown_target", `${entry} is a fact; only nodes lie on a branch`, {
        target: entry,
      });
    return { ...found.place, id: found.id };
  }

  /** Model, config, skills and state at the leaf, or as they were at any node; no message is read for them. */
  async settings(options: { readonly at?: string } = {}): Promise<Settings> {
    return readSettings(this.#space, this.id, await this.#at(options.at));
  }

  /** What the model is to be sent, at the leaf or as it was at any node. */
  async context(options: { readonly at?: string } = {}): Promise<Context> {
    return readContext(this.#space, this.id, await this.#at(options.at));
  }

  /** The same with the entries it was made of, for whoever needs the exact text of what was given. */
  async exactContext(options: { readonly at?: string } = {}): Promise<ExactContext> {
    return readExactContext(this.#space, this.id, await this.#at(options.at));
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
    options: { readonly after?: number; readonly types?: readonly EntryType[] } = {},
  ): AsyncIterable<StoredEntry> {
    return readLog(this.#space, this.id, options);
  }

  /**
   * Entries as they become durable, from any process, until the signal or the store's end; waiting for the next one keeps
   * the process alive. Resume with the last seq you saw.
   */
  async *tail(
    options: { readonly after?: number; readonly signal?: AbortSignal } = {},
  ): AsyncGenerator<Entry> {
    const { after = 0, signal } = options;
    for await (const stored of this.#space.tail({
      conversation: this.id,
      after,
      ...(signal === undefined ? {} : { signal }),
    })) {
      yield presentEntry(decodeEntry(stored));
    }
  }

  /** Moves the leaf to another node; what is appended next grows from there. */
  goTo(entry: string, options: AppendOptions = {}): Promise<AppendResult> {
    return this.append({ type: "leaf", target: entry }, options);
  }

  /** Begins anew in the same conversation: nothing earlier reaches a model, no session is resumed, history stays readable. */
  newChat(options: Pick<AppendOptions, "key"> = {}): Promise<AppendResult> {
    return this.append({ type: "reset", reason: "new_chat" }, options);
  }

  /** A new conversation that shares this one up to a node and never changes it. */
  async fork(options: ForkOptions = {}): Promise<Conversation> {
    const { at, id, cwd, key } = options;
    const own = key === undefined ? this.#idsAndTime.newId() : idForKey("fork", this.id, parseKey(key));
    const conversation = parseConversationId(id ?? own);
    await this.#space.fork({
      source: this.id,
      conversation,
      ...(at === undefined ? {} : { entry: parseEntryId(at) }),
      ...(cwd === undefined ? {} : { cwd }),
      time: this.#idsAndTime.now(),
      id: parseEntryId(this.#idsAndTime.newId()),
      key: key === undefined ? null : parseKey(key),
    });
    return new Conversation(conversation, this.#space, this.#idsAndTime);
  }

  tree(): Promise<ConversationTree> {
    return readTree(this.#space, this.id);
  }

  /** The turn that was begun and has not ended; null when there is none. */
  openTurn(): Promise<OpenTurn | null> {
    return readOpenTurn(this.#space, this.id);
  }

  /** Every upstream id this conversation has held; a fork also shows those of its source, as a record. */
  async chain(): Promise<readonly Link[]> {
    return (await readChain(this.#space, this.id, new ChainReader(false))).links();
  }

  /** What the upstream that was asked last was given of the conversation; null when none was asked. */
  async given(): Promise<Given | null> {
    const types = ["upstream_link", "attempt"] as const;
    const stored = await this.#space.read({
      conversation: this.id,
      limit: GIVEN_READ_MAX,
      newestFirst: true,
      types,
    });
    return givenOf(stored.map((entry) => decodeEntry(entry)).toReversed());
  }

  /** The links of the upstreams that a message was sent to, or that gave it, in that order. */
  async carriersOf(message: string): Promise<readonly Link[]> {
    const { id } = await this.#space.entry(this.id, parseEntryId(message));
    return (await readChain(this.#space, this.id)).carriers().get(id) ?? [];
  }

  /** The messages an upstream was given or gave, in the order of the log. */
  async messagesOf(upstream: string): Promise<readonly Entry[]> {
    const carriers = (await readChain(this.#space, this.id)).carriers();
    const ids = [...carriers].flatMap(([id, links]) =>
      links.some((link) => link.id === upstream) ? [id] : [],
    );
    const stored = await Promise.all(ids.map((id) => this.#space.entry(this.id, id)));
    return stored.map((entry) => decodeEntry(entry)).toSorted((one, other) => one.seq - other.seq);
  }

  async effects(): Promise<readonly Effect[]> {
    const ledger = new EffectLedger();
    const types = ["tool_intent", "message"] as const;
    await eachEntry(this.#space, this.id, { types, onEntry: (entry) => ledger.add(entry) });
    return ledger.result();
  }

  /** What its own entries cost, on every branch. */
  async usage(): Promise<UsageTotals> {
    const { summary } = await this.#space.head(this.id);
    return (summary ?? (await readSummary(this.#space, this.id))).usage;
  }

  async runs(): Promise<readonly Run[]> {
    return runsOf(await readEntries(this.#space, this.id, ["run_start", "run_end", "turn_start"]));
  }

  async queue(): Promise<readonly Queued[]> {
    return queueOf(await readEntries(this.#space, this.id, ["steer"]));
  }

  /** What a person should look at: in the whole log, and in the context as it is now. */
  async issues(): Promise<readonly Issue[]> {
    const finder = new IssueFinder();
    await eachEntry(this.#space, this.id, { onEntry: (entry) => finder.add(entry) });
    return [...finder.result(), ...(await readContextIssues(this.#space, this.id))];
  }

  putBlob(bytes: Uint8Array): Promise<Digest> {
    return this.#space.putBlob(this.id, bytes);
  }

  async getBlob(digest: string): Promise<Uint8Array> {
    return this.#space.getBlob(this.id, parseDigest(digest));
  }

  /** Removes the conversation for good. Forks keep what they inherited. */
  erase(): Promise<void> {
    return this.#space.erase(this.id);
  }
}

function isList(
  bodies: EntryBody | readonly (EntryBody | string)[],
): bodies is readonly (EntryBody | string)[] {
  return Array.isArray(bodies);
}
