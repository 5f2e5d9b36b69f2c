import assert from "node:assert/strict";
import type { Author, AppendResult } from "#log/batch";
import { decodeEntry } from "#log/codec";
import type { Durability } from "#log/plans/durability";
import type { Entry, EntryBody } from "#log/entry";
import { type ConversationId, type EntryId, parseConversationId, parseEntryId, parseSpaceId } from "#log/ids";
import type { Facet, SpaceStore } from "#store/facets";
import { type IdsAndTime, prepare } from "#store/prepare";
import type { Store } from "#store/store";
import type { HeadView } from "#store/requests";

/** What a store's author brings: a way to open handles on one and the same data, under a clock the cases move. */
export interface ContractSubject {
  open(nowMs: () => number): Promise<Store>;
  /** Takes away what is not on the disk; handles opened before are of no use any more. */
  cutPower?(): Promise<void>;
}

export interface ContractCase {
  readonly group: string;
  readonly name: string;
  /** The facets it is about besides the log: runs only where the store declares them. */
  readonly needs?: readonly Facet[];
  /** It is about what a power cut leaves: `run` refuses a subject that cannot cut it. */
  readonly needsPowerCut?: true;
  run(subject: ContractSubject): Promise<void>;
}

/** A handle with short words for the acts the cases are about. */
export class Rig implements AsyncDisposable {
  readonly #subject: ContractSubject;
  readonly #stores: Store[] = [];
  #nowMs: number = Date.UTC(2026, 0, 1);
  #made: number = 0;
  readonly idsAndTime: IdsAndTime = {
    now: () => new Date(this.#nowMs + this.#made).toISOString(),
    newId: () => `e${String(++this.#made).padStart(6, "0")}`,
  };

  constructor(subject: ContractSubject) {
    this.#subject = subject;
  }

  pass(ms: number): void {
    this.#nowMs += ms;
  }

  /** A new handle on the same data, as another process would have one. */
  async open(): Promise<Store> {
    const store = await this.#subject.open(() => this.#nowMs);
    this.#stores.push(store);
    return store;
  }

  async cutPower(): Promise<void> {
    // A promise that was never put to the test must not count as kept.
    assert.ok(
      this.#subject.cutPower !== undefined,
      "This case needs a subject with cutPower; leave out those that say needsPowerCut",
    );
    this.#stores.length = 0;
    await this.#subject.cutPower();
  }

  async space(name: string = "default"): Promise<SpaceStore> {
    return (await this.open()).space(parseSpaceId(name));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const store of this.#stores) await store.close();
  }

  async create(
    space: SpaceStore,
    id: string,
    bodies: readonly (EntryBody | string)[] = [],
    key: string | null = null,
  ): Promise<AppendResult> {
    const root: EntryBody = { type: "conversation", id: `${id}-root` };
    return space.create({ conversation: conv(id), ...prepare([root, ...bodies], this.idsAndTime, key) });
  }

  async append(
    space: SpaceStore,
    id: string,
    bodies: readonly (EntryBody | string)[],
    options: Partial<{ author: Author; key: string; durability: Durability }> = {},
  ): Promise<AppendResult> {
    const prepared = prepare(bodies, this.idsAndTime, options.key ?? null);
    return space.append({
      conversation: conv(id),
      author: options.author ?? { kind: "once" },
      ...prepared,
      durability: options.durability ?? "full",
    });
  }

  async fork(
    space: SpaceStore,
    source: string,
    target: string,
    more: { entry?: string; key?: string; cwd?: string; head?: number } = {},
  ): Promise<HeadView & { readonly deduped: boolean }> {
    return space.fork({
      source: conv(source),
      conversation: conv(target),
      ...(more.entry === undefined ? {} : { entry: entryId(more.entry) }),
      ...(more.cwd === undefined ? {} : { cwd: more.cwd }),
      ...(more.head === undefined ? {} : { head: more.head }),
      time: this.idsAndTime.now(),
      id: entryId(this.idsAndTime.newId()),
      key: more.key ?? null,
    });
  }
}

export function conv(id: string): ConversationId {
  return parseConversationId(id);
}

export function entryId(id: string): EntryId {
  return parseEntryId(id);
}

export function user(text: string, id?: string): EntryBody {
  return {
    type: "message",
    ...(id === undefined ? {} : { id }),
    message: { role: "user", content: [{ type: "text", text }] },
  };
}

export function assistant(text: string, id?: string): EntryBody {
  return {
    type: "message",
    ...(id === undefined ? {} : { id }),
    message: { role: "assistant", content: [{ type: "text", text }] },
  };
}

/** The whole branch that ends at the leaf, oldest first, read in pages of the given size. */
export async function branch(
  space: SpaceStore,
  id: string,
  limit: number = 1_000,
): Promise<readonly Entry[]> {
  const entries: Entry[] = [];
  let page = await space.page({ conversation: conv(id), limit });
  for (;;) {
    entries.push(...page.entries.map((stored) => decodeEntry(stored)));
    if (page.next === null) return entries.toReversed();
    page = await space.page({ conversation: conv(id), from: page.next, limit });
  }
}

/** The texts of a branch's messages: what most cases are about. */
export async function texts(space: SpaceStore, id: string, limit?: number): Promise<readonly string[]> {
  const entries = await branch(space, id, limit);
  return entries.flatMap((entry) => {
    const block = entry.type === "message" ? entry.message.content[0] : undefined;
    return block?.type === "text" ? [block.text] : [];
  });
}

/** The first `count` entries of a live tail, then lets go of it. */
export async function readTail(
  space: SpaceStore,
  id: string,
  after: number,
  count: number,
): Promise<readonly Entry[]> {
  const stop = new AbortController();
  const entries: Entry[] = [];
  for await (const stored of space.tail({ conversation: conv(id), after, signal: stop.signal })) {
    entries.push(decodeEntry(stored));
    if (entries.length === count) break;
  }
  stop.abort();
  return entries;
}
