import { durabilityOf } from "#log/plans/durability";
import { LogError } from "#log/errors";
import {
  type ConversationId,
  parseConversationId,
  parseDigest,
  parseEntryId,
  parseKey,
  parseListCursor,
  parseSpaceId,
  type SpaceId,
} from "#log/ids";
import type { StoredEntry } from "#log/entry";
import { type AnyVerb, spaceOfVerbs } from "./decorate.ts";
import { FACET_OF, type SpaceStore, type Tail, type Verb } from "./facets.ts";
import type { TailRequest } from "./requests.ts";
import { checkRuns } from "./run-pages.ts";
import type { Store, StoreDriver } from "./store.ts";

/**
 * The door of every store: what must be the same whatever lies behind it. Ids are plain strings out here, and are
 * checked before anything is made of them. A verb answers by a promise, also when it
 * fails at once. A batch is as durable as the rules say, whatever was asked for. What the store does not bring is said
 * plainly. After `close` every verb is refused, and the store lets go once all that was begun before has ended.
 */
export function storePort(driver: StoreDriver): Store {
  const work = new Work();
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closing ??= work.end().then(() => driver.close());
    return closing;
  };
  const backup = driver.backup?.bind(driver);
  const health = driver.health?.bind(driver);
  return {
    facets: driver.facets,
    space: (id) => portOfSpace(driver, id, work),
    spaces: () => work.run(() => driver.spaces()),
    ...(backup === undefined ? {} : { backup: (request) => work.run(() => backup(request)) }),
    ...(health === undefined ? {} : { health: () => work.run(() => health()) }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function portOfSpace(driver: StoreDriver, id: SpaceId, work: Work): SpaceStore {
  const space = driver.space(parseSpaceId(id));
  return spaceOfVerbs((verb) => {
    const brought = space[verb] !== undefined && driver.facets.includes(FACET_OF[verb]);
    if (verb === "tail")
      return (request) => tail(brought ? (space as Tail) : null, request as TailRequest, work);
    const check = CHECKED[verb] as (...args: readonly unknown[]) => readonly unknown[];
    return (...args) =>
      work.run(async () => {
        if (!brought) throw facetMissing(verb);
        return Reflect.apply(space[verb] as AnyVerb, space, [...check(...args)]);
      });
  });
}

function facetMissing(verb: Verb): LogError {
  const facet = FACET_OF[verb];
  return new LogError(
    "facet_missing",
    `This store does not support \`${verb}\`: it lacks the capability "${facet}"`,
    {
      facet,
      verb,
    },
  );
}

type Checked = {
  readonly [V in Exclude<Verb, "tail">]: (...args: Parameters<SpaceStore[V]>) => Parameters<SpaceStore[V]>;
};

/** What each verb is given, once it was checked. */
const CHECKED: Checked = {
  create: (request) => [checked(request)],
  fork: (request) => [checked(request)],
  append: (request) => [
    { ...checked(request), durability: durabilityOf(request.drafts, request.durability) },
  ],
  findAppend: (conversation, key) => [parseConversationId(conversation), parseKey(key)],
  acquire: (request) => [checked(request)],
  renew: (request) => [checked(request)],
  head: (conversation) => [parseConversationId(conversation)],
  entry: (conversation, entry) => [parseConversationId(conversation), parseEntryId(entry)],
  window: (request) => [checked(request)],
  page: (request) => [checked(request)],
  read: (request) => [checked(request)],
  batchEnds: (request) => [checked(request)],
  list: (request) => {
    if (request.after !== undefined) parseListCursor(request.after);
    return [request];
  },
  ids: (request) => [checked(request)],
  labelled: (request) => [checked(request)],
  runs: (request) => {
    if (request.conversation !== undefined) parseConversationId(request.conversation);
    return [checkRuns(request)];
  },
  search: (request) => {
    if (request.conversation !== undefined) parseConversationId(request.conversation);
    return [request];
  },
  putBlob: (conversation, bytes) => [parseConversationId(conversation), bytes],
  getBlob: (conversation, digest) => [parseConversationId(conversation), parseDigest(digest)],
  erase: (conversation) => [parseConversationId(conversation)],
  check: (request) => [request],
};

function checked<Request extends { readonly conversation: ConversationId; readonly source?: ConversationId }>(
  request: Request,
): Request {
  parseConversationId(request.conversation);
  if (request.source !== undefined) parseConversationId(request.source);
  return request;
}

/** A tail that is under way when the store is closed ends like one whose signal fired. */
async function* tail(space: Tail | null, request: TailRequest, work: Work): AsyncGenerator<StoredEntry> {
  const stop = work.stopper();
  if (space === null) throw facetMissing("tail");
  const onAbort = (): void => stop.abort("over");
  if (request.signal?.aborted) stop.abort("over");
  request.signal?.addEventListener("abort", onAbort, { once: true });
  const entries = space.tail({ ...checked(request), signal: stop.signal })[Symbol.asyncIterator]();
  try {
    while (!stop.signal.aborted) {
      const next = await work.run(() => entries.next());
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    request.signal?.removeEventListener("abort", onAbort);
    work.over(stop);
    stop.abort("over");
    await entries.return?.();
  }
}

/** The running calls of a store, so that closing it can wait for them and reject new ones. */
class Work {
  #running: number = 0;
  #ended: boolean = false;
  #idle: () => void = () => undefined;
  readonly #stoppers = new Set<AbortController>();

  #checkOpen(): void {
    if (this.#ended) throw new LogError("store_gone", "This store is closed");
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    this.#checkOpen();
    this.#running++;
    try {
      return await work();
    } finally {
      if (--this.#running === 0) this.#idle();
    }
  }

  /** Fires when the store is closed; to be released once the work it stops is over. */
  stopper(): AbortController {
    this.#checkOpen();
    const stop = new AbortController();
    this.#stoppers.add(stop);
    return stop;
  }

  over(stop: AbortController): void {
    this.#stoppers.delete(stop);
  }

  /** Refuses what comes from here on; resolves when nothing is under way. */
  async end(): Promise<void> {
    this.#ended = true;
    for (const stop of this.#stoppers) stop.abort();
    if (this.#running === 0) return;
    await new Promise<void>((resolve) => (this.#idle = resolve));
  }
}
