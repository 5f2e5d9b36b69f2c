import { isLogError, LogError } from "../log/errors.ts";
import {
  type ConversationId,
  parseConversationId,
  parseIdPrefix,
  parseKey,
  parseSpaceId,
  type SpaceId,
} from "../log/ids.ts";
import type { EntryBody } from "../log/entry.ts";
import { type Mint, prepare, systemMint } from "../store/prepare.ts";
import type { Backup, CheckRequest, Finding, Listed, SearchHit, SpaceStore, Store } from "../store/store.ts";
import { Conversation } from "./conversation.ts";

const LIST_PAGE = 100;

export interface CreateOptions {
  readonly id?: string;
  readonly title?: string;
  readonly cwd?: string;
  readonly key?: string;
  /** What the log begins with, in one piece: the conversation is never there without it. */
  readonly entries?: readonly (EntryBody | string)[];
}

/** One space of a store: where conversations are made, found and searched. */
export class Hold implements AsyncDisposable {
  readonly store: Store;
  /** The port itself, for those who build on it. */
  readonly space: SpaceStore;
  /** What the space is called. */
  readonly spaceId: SpaceId;
  readonly #mint: Mint;

  constructor(store: Store, space: string, mint: Mint = systemMint) {
    this.store = store;
    this.spaceId = parseSpaceId(space);
    this.space = store.space(this.spaceId);
    this.#mint = mint;
  }

  /** Makes a conversation. Its id is written once and outlives every session under it. */
  async create(options: CreateOptions = {}): Promise<Conversation> {
    const id = parseConversationId(options.id ?? this.#mint.newId());
    const { title, cwd, key, entries = [] } = options;
    const bodies = [
      { type: "conversation", ...(cwd === undefined ? {} : { cwd }) } as const,
      ...(title === undefined ? [] : [{ type: "title", title } as const]),
      ...entries,
    ];
    await this.space.create({
      conversation: id,
      ...prepare(bodies, this.#mint, key === undefined ? null : parseKey(key)),
    });
    return this.#handle(id);
  }

  /** Opens a conversation that exists. An unknown id is an error, never a silent fresh start. */
  async conversation(id: string): Promise<Conversation> {
    const conversation = parseConversationId(id);
    await this.space.head(conversation);
    return this.#handle(conversation);
  }

  #handle(id: ConversationId): Conversation {
    return new Conversation(id, this.space, this.#mint);
  }

  /** The one conversation whose id is, or starts with, the given text. */
  async find(idOrPrefix: string): Promise<Conversation> {
    const prefix = parseIdPrefix(idOrPrefix);
    const exact = await this.#exact(prefix);
    if (exact !== null) return this.#handle(exact);
    const { conversations, next } = await this.space.list({ limit: LIST_PAGE, prefix });
    const [only] = conversations;
    if (only === undefined) {
      throw new LogError("conversation_not_found", `There is no conversation ${prefix} here`, {
        conversation: prefix,
      });
    }
    if (conversations.length === 1) return this.#handle(only.conversation);
    const matches = conversations.map((listed) => listed.conversation);
    throw new LogError(
      "ambiguous_id",
      `${prefix} matches ${next === null ? matches.length : `more than ${matches.length}`} conversations: ${matches.join(", ")}`,
      { matches },
    );
  }

  /** The conversation of exactly this id, sound or damaged; null when there is none, or the text is no id. */
  async #exact(text: string): Promise<ConversationId | null> {
    try {
      const id = parseConversationId(text);
      await this.space.head(id);
      return id;
    } catch (error) {
      if (isLogError(error) && error.group === "damaged") return parseConversationId(text);
      if (isLogError(error, "conversation_not_found") || isLogError(error, "invalid_id")) return null;
      throw error;
    }
  }

  /** All conversations, the most recently changed first, without reading a body. */
  async *list(options: { readonly prefix?: string } = {}): AsyncGenerator<Listed> {
    let after: string | null = null;
    do {
      const page: { conversations: readonly Listed[]; next: string | null } = await this.space.list({
        ...options,
        limit: LIST_PAGE,
        ...(after === null ? {} : { after }),
      });
      yield* page.conversations;
      after = page.next;
    } while (after !== null);
  }

  /** Entries whose text holds every word of the query, newest first. */
  async search(
    query: string,
    options: { readonly limit?: number; readonly conversation?: string } = {},
  ): Promise<readonly SearchHit[]> {
    const { limit = 50, conversation } = options;
    return this.space.search({
      query,
      limit,
      ...(conversation === undefined ? {} : { conversation: parseConversationId(conversation) }),
    });
  }

  check(request: CheckRequest): Promise<readonly Finding[]> {
    return this.space.check(request);
  }

  /**
   * Copies the whole store, every space of it, while it is in use, to a name nobody has. The copy opens like any store.
   */
  async backup(
    to: string,
    options: { readonly onProgress?: (done: number, total: number) => void } = {},
  ): Promise<Backup> {
    if (this.store.backup === undefined)
      throw new LogError("invalid_request", "This store keeps nothing that could be backed up");
    return this.store.backup({ ...options, to });
  }

  close(): Promise<void> {
    return this.store.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.store.close();
  }
}
