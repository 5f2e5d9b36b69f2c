import { durabilityOf } from "#log/plans/durability";
import { LogError } from "#log/errors";
import {
  type ConversationId,
  parseConversationId,
  parseDigest,
  parseEntryId,
  parseKey,
  parseSpaceId,
  type SpaceId,
} from "#log/ids";
import type { StoredEntry } from "#log/entry";
import type { SpaceStore, Store, TailRequest } from "./store.ts";

/**
 * The door of every store: what must be the same whatever lies behind it. Ids are plain strings out here, and are
 * checked before anything is made of them. A verb answers by a promise, also when it
 * fails at once. A batch is as durable as the rules say, whatever was asked for. After `close` every verb is refused,
 * and the store lets go once all that was begun before has ended.
 */
export function storePort(store: Store): Store {
  const work = new Work();
  let closing: Promise<void> | null = null;
  const close = (): Promise<void> => {
    closing ??= work.end().then(() => store.close());
    return closing;
  };
  const backup = store.backup?.bind(store);
  return {
    space: (id) => portOfSpace(store, id, work),
    spaces: () => work.run(() => store.spaces()),
    ...(backup === undefined ? {} : { backup: (request) => work.run(() => backup(request)) }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function portOfSpace(store: Store, id: SpaceId, work: Work): SpaceStore {
  const space = store.space(parseSpaceId(id));
  return {
    create: (request) => work.run(() => space.create(checked(request))),
    fork: (request) => work.run(() => space.fork(checked(request))),
    append: (request) =>
      work.run(() =>
        space.append({ ...checked(request), durability: durabilityOf(request.drafts, request.durability) }),
      ),
    findAppend: (conversation, key) =>
      work.run(() => space.findAppend(parseConversationId(conversation), parseKey(key))),
    acquire: (request) => work.run(() => space.acquire(checked(request))),
    renew: (request) => work.run(() => space.renew(checked(request))),
    head: (conversation) => work.run(() => space.head(parseConversationId(conversation))),
    entry: (conversation, entry) =>
      work.run(() => space.entry(parseConversationId(conversation), parseEntryId(entry))),
    ids: (request) => work.run(() => space.ids(checked(request))),
    labelled: (request) => work.run(() => space.labelled(checked(request))),
    page: (request) => work.run(() => space.page(checked(request))),
    latest: (request) => work.run(() => space.latest(checked(request))),
    read: (request) => work.run(() => space.read(checked(request))),
    tail: (request) => tail(space, request, work),
    list: (request) => work.run(() => space.list(request)),
    search: (request) =>
      work.run(() =>
        space.search(
          request.conversation === undefined
            ? request
            : checked({ ...request, conversation: request.conversation }),
        ),
      ),
    putBlob: (conversation, bytes) => work.run(() => space.putBlob(parseConversationId(conversation), bytes)),
    getBlob: (conversation, digest) =>
      work.run(() => space.getBlob(parseConversationId(conversation), parseDigest(digest))),
    erase: (conversation) => work.run(() => space.erase(parseConversationId(conversation))),
    check: (request) => work.run(() => space.check(request)),
  };
}

function checked<Request extends { readonly conversation: ConversationId; readonly source?: ConversationId }>(
  request: Request,
): Request {
  parseConversationId(request.conversation);
  if (request.source !== undefined) parseConversationId(request.source);
  return request;
}

/** A tail that is under way when the store is closed ends like one whose signal fired. */
async function* tail(space: SpaceStore, request: TailRequest, work: Work): AsyncGenerator<StoredEntry> {
  const stop = work.stopper();
  const onAbort = (): void => stop.abort();
  if (request.signal?.aborted) stop.abort();
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
    stop.abort();
    await entries.return?.();
  }
}

/** What is under way in a store, so that closing it can wait for that and refuse the rest. */
class Work {
  #running: number = 0;
  #ended: boolean = false;
  #idle: () => void = () => undefined;
  readonly #stoppers = new Set<AbortController>();

  #checkOpen(): void {
    if (this.#ended) throw new LogError("store_gone", "This store was closed");
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

  /** Fires when the store is closed; to be handed back when what it stops is over. */
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
