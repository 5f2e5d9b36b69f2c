import { isLogError, LogError } from "#log/errors";
import {
  type ConversationId,
  parseConversationId,
  parseIdPart,
  parseKey,
  parseSpaceId,
  type SpaceId,
} from "#log/ids";
import type { EntryBody, Parent } from "#log/entry";
import type { Run } from "#log/runs/run-row";
import { type IdsAndTime, prepare, systemIdsAndTime } from "#store/prepare";
import type { Store } from "#store/store";
import type { Backup, CheckRequest, Finding, ConversationRow, RunPage, SearchHit } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { Conversation } from "./conversation.ts";
import {
  filterListed,
  type ListFilter,
  type ListPage,
  type ListPageRequest,
  type OpenTurn,
  readListPage,
  readOpenTurns,
} from "./list-conversations.ts";
import { readRun, readRuns, type RunFilter, type RunPageRequest, runsAlong } from "./read-runs.ts";
import { type ExactRun, hydrateRun, type HydratedRun } from "./hydrate.ts";
import { type ForkedRun, forkRun, type ForkRunOptions } from "./fork-run.ts";
import { OnSpace } from "./on-space.ts";
import { idForKey } from "./id-for-key.ts";
import { type BranchToCompare, type ComparedBranches, type CompareOptions, readDiff } from "./read-diff.ts";
import { type SignedOut, signOut, type SignOutRequest } from "./sign-out.ts";

const LIST_PAGE = 100;
const MATCHES_MAX = 100;
const END_CHARS_MIN = 4; // a shorter end is more likely a mistake

export interface CreateOptions {
  readonly id?: string;
  readonly title?: string;
  readonly cwd?: string;
  /** The conversation that caused this one without being its fork source. */
  readonly parent?: string | Parent;
  /** Makes a retry harmless: the same key is the same conversation. Without an id, the id follows from it. */
  readonly key?: string;
  /** What the log begins with, in one piece: the conversation is never there without it. */
  readonly entries?: readonly (EntryBody | string)[];
  /** It is kept for a program: only lists that ask for such logs show it. */
  readonly unlisted?: boolean;
}

/** One space of a store: where conversations are made, found and searched. */
export class Holdfast extends OnSpace implements AsyncDisposable {
  readonly store: Store;
  readonly spaceId: SpaceId;
  readonly #space: SpaceStore;
  readonly #idsAndTime: IdsAndTime;
  readonly #close: () => Promise<void>;

  /** `close` lets go of what was opened for it; a store that was handed in is closed by whoever opened it. */
  constructor(
    store: Store,
    space: string,
    idsAndTime: IdsAndTime = systemIdsAndTime,
    close: () => Promise<void> = async () => undefined,
  ) {
    const spaceId = parseSpaceId(space);
    const onSpace = store.space(spaceId);
    super(onSpace);
    this.store = store;
    this.spaceId = spaceId;
    this.#space = onSpace;
    this.#close = close;
    this.#idsAndTime = idsAndTime;
  }

  /** An id for an entry or a conversation, made as those are that nobody brings. */
  newId(): string {
    return this.#idsAndTime.newId();
  }

  /** Another space of the same store, for as long as that is open; it closes nothing. */
  inSpace(space: string): Holdfast {
    return new Holdfast(this.store, space, this.#idsAndTime);
  }

  /** Makes a conversation. Its id is written once and outlives every session under it. */
  async create(options: CreateOptions = {}): Promise<Conversation> {
    const { title, cwd, parent, key, entries = [], unlisted = false } = options;
    const caused = typeof parent === "string" ? { conversation: parent } : parent;
    const own = key === undefined ? this.#idsAndTime.newId() : idForKey("new", parseKey(key));
    const id = parseConversationId(options.id ?? own);
    const bodies = [
      {
        type: "conversation",
        ...(cwd === undefined ? {} : { cwd }),
        ...(caused === undefined ? {} : { parent: caused }),
        ...(unlisted ? { unlisted } : {}),
      } as const,
      ...(title === undefined ? [] : [{ type: "title", title } as const]),
      ...entries,
    ];
    return this.#begin(id, bodies, key);
  }

  /** Makes a conversation of a log that was written down elsewhere; its first body is the root. */
  async createFrom(id: string, bodies: readonly (EntryBody | string)[], key?: string): Promise<Conversation> {
    return this.#begin(parseConversationId(id), bodies, key);
  }

  async #begin(
    conversation: ConversationId,
    bodies: readonly (EntryBody | string)[],
    key: string | undefined,
  ): Promise<Conversation> {
    const prepared = prepare(bodies, this.#idsAndTime, key === undefined ? null : parseKey(key));
    const { deduped, differs } = await this.#space.create({ conversation, ...prepared });
    return Object.assign(this.handle(conversation), { deduped, differs });
  }

  /** Opens a conversation that exists. An unknown id is an error, never a silent fresh start. */
  async conversation(id: string): Promise<Conversation> {
    const conversation = parseConversationId(id);
    await this.#space.head(conversation);
    return this.handle(conversation);
  }

  /** A handle without a check that the conversation exists: its first method fails if it does not. */
  handle(id: ConversationId): Conversation {
    return new Conversation(id, this.#space, this.#idsAndTime);
  }

  /** The one conversation whose id is, starts with, or ends with the given text. */
  async find(idOrPart: string): Promise<Conversation> {
    const part = parseIdPart(idOrPart);
    const exact = await this.#exact(part);
    if (exact !== null) return this.handle(exact);
    const starting = await this.listPage({ limit: MATCHES_MAX, filter: { prefix: part } });
    // Ids made at about the same time begin alike, so people name them by their end.
    const { conversations, cursor } =
      starting.conversations.length > 0 || part.length < END_CHARS_MIN
        ? starting
        : await this.listPage({ limit: MATCHES_MAX, filter: { suffix: part } });
    const matches = conversations.map((listed) => listed.conversation);
    const [only] = matches;
    if (only === undefined)
      throw new LogError("conversation_not_found", `Conversation ${part} not found`, {
        conversation: part,
      });
    if (matches.length === 1) return this.handle(only);
    const more = cursor === null ? matches.length : `more than ${matches.length}`;
    throw new LogError("ambiguous_id", `${part} matches ${more} conversations: ${matches.join(", ")}`, {
      matches,
    });
  }

  /** The conversation of exactly this id, sound or damaged; null when there is none, or the text is no id. */
  async #exact(text: string): Promise<ConversationId | null> {
    try {
      const id = parseConversationId(text);
      await this.#space.head(id);
      return id;
    } catch (error) {
      if (isLogError(error) && error.group === "damaged") return parseConversationId(text);
      if (isLogError(error, "conversation_not_found") || isLogError(error, "invalid_id")) return null;
      throw error;
    }
  }

  /** The conversations that lists show, the most recently changed first, without reading a body. */
  async *list(
    options: { readonly prefix?: string; readonly filter?: ListFilter } = {},
  ): AsyncGenerator<ConversationRow> {
    const { filter = {}, prefix = filter.prefix } = options;
    let after: string | null = null;
    do {
      const page: { conversations: readonly ConversationRow[]; next: string | null } = await this.#space.list(
        {
          ...(prefix === undefined ? {} : { prefix }),
          limit: LIST_PAGE,
          unlisted: filter.unlisted === true,
          ...(after === null ? {} : { after }),
        },
      );
      yield* await filterListed(this.#space, page.conversations, filter);
      after = page.next;
    } while (after !== null);
  }

  /** Every conversation: also those that are kept for a program, after the others. */
  async *listAll(): AsyncGenerator<ConversationRow> {
    yield* this.list();
    yield* this.list({ filter: { unlisted: true } });
  }

  /** One page of them, filtered; the cursor a page ends with gives the next. */
  listPage(request: ListPageRequest = {}): Promise<ListPage> {
    return readListPage(this.#space, request);
  }

  /** Every conversation with a turn that has not ended: what a host looks for when it starts again. */
  openTurns(): AsyncGenerator<OpenTurn> {
    return readOpenTurns(this);
  }

  /** Runs of every conversation by the time they began, oldest first. */
  async *runs(filter: RunFilter = {}): AsyncGenerator<Run> {
    const { conversation, along, ...request } = filter;
    if (along !== undefined) {
      if (conversation !== undefined)
        throw new LogError("invalid_request", "Pass `conversation` or `along`, not both");
      return yield* runsAlong(this.#space, parseConversationId(along), request);
    }
    const within = conversation === undefined ? {} : { conversation: parseConversationId(conversation) };
    yield* readRuns(this.#space, { ...request, ...within });
  }

  /** One page of them. `next` of a page gives the one after it as its `cursor`. */
  async runPage(request: RunPageRequest): Promise<RunPage> {
    const { conversation, cursor, ...filter } = request;
    return this.#space.runs({
      ...filter,
      ...(cursor === undefined ? {} : { after: cursor }),
      ...(conversation === undefined ? {} : { conversation: parseConversationId(conversation) }),
    });
  }

  /** The run of this id; null when there is none. Where an import has brought it twice, the conversation says which. */
  async run(run: string, options: { readonly conversation?: string } = {}): Promise<Run | null> {
    const { conversation } = options;
    return readRun(this.#space, run, conversation === undefined ? null : parseConversationId(conversation));
  }

  /**
   * What a process needs that looks into a run or continues it. `conversation`: the one that has the run, or a fork of it,
   * which sees what it inherited.
   */
  async hydrate(run: string, options: { readonly conversation?: string } = {}): Promise<HydratedRun> {
    const { exact: _, ...hydrated } = await this.exactRun(run, options);
    return hydrated;
  }

  /** The same with the entries it was made of, which have the exact text of what a model was sent. */
  async exactRun(run: string, options: { readonly conversation?: string } = {}): Promise<ExactRun> {
    const { conversation } = options;
    return hydrateRun(
      this.#space,
      run,
      conversation === undefined ? null : parseConversationId(conversation),
    );
  }

  /** A fork from any message of a run, in which a run that continues it is begun: with another model, tools or prompt. */
  forkRun(run: string, options: ForkRunOptions = {}): Promise<ForkedRun> {
    return forkRun(this, run, options);
  }

  /** Entries whose text holds every word of the query, newest first. */
  async search(
    query: string,
    options: { readonly limit?: number; readonly conversation?: string } = {},
  ): Promise<readonly SearchHit[]> {
    const { limit = 50, conversation } = options;
    return this.#space.search({
      query,
      limit,
      ...(conversation === undefined ? {} : { conversation: parseConversationId(conversation) }),
    });
  }

  /** What branches did other than one, of any conversations here: each from the last node that all of them share. */
  compare(
    one: BranchToCompare,
    others: readonly BranchToCompare[],
    options: CompareOptions = {},
  ): Promise<readonly ComparedBranches[]> {
    return readDiff(this, one, others, options);
  }

  /**
   * Makes every upstream id of an account unresumable, in every conversation here, and empties each context that holds
   * anything said under the account. One that is damaged, or busy with a turn, does not keep the others from it.
   */
  signOut(input: string | SignOutRequest): Promise<SignedOut> {
    return signOut(this, input);
  }

  check(request: CheckRequest): Promise<readonly Finding[]> {
    return this.#space.check(request);
  }

  /**
   * Copies the whole store, every space of it, while it is in use, to a name nobody has. The copy opens like any store.
   */
  async backup(
    to: string,
    options: { readonly onProgress?: (done: number, total: number) => void } = {},
  ): Promise<Backup> {
    if (this.store.backup === undefined)
      throw new LogError(
        "invalid_request",
        "This store does not support backups. Back up PostgreSQL with pg_dump or base backups. A store in memory cannot be backed up.",
      );
    return this.store.backup({ ...options, to });
  }

  /** Closes the store if `openHoldfast` opened it; one that was handed in stays open. */
  close(): Promise<void> {
    return this.#close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#close();
  }
}
