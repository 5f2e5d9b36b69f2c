import type { SpaceId, ConversationId } from "#log/ids";
import { type SpaceStore, type Verb, VERBS } from "./facets.ts";
import type { Store } from "./store.ts";
import type { StampedDraft } from "#log/batch";

/** Any verb, where which one does not matter. */
export type AnyVerb = (...args: readonly unknown[]) => unknown;

/** Runs a call or rejects it; `verb` is the name of the call. */
type Around = <T>(call: () => Promise<T>, verb: string) => Promise<T>;

export interface Decoration {
  /** Goes around every call that answers by a promise: those of the store and those of its spaces. */
  readonly around?: Around;
  /** The verbs of a space that are answered otherwise; all others are forwarded. */
  readonly verbs?: (space: SpaceStore, id: SpaceId) => Partial<SpaceStore>;
}

/** A space made of one function per verb of the port. */
export function spaceOfVerbs(make: (verb: Verb) => AnyVerb): SpaceStore {
  return Object.fromEntries(VERBS.map((verb) => [verb, make(verb)])) as unknown as SpaceStore;
}

/** Wraps a store. Verbs that are not overridden are forwarded, including future ones. */
export function decorateStore(store: Store, decoration: Decoration): Store {
  const { around = (call) => call(), verbs = () => ({}) } = decoration;
  const close = (): Promise<void> => around(() => store.close(), "close");
  const backup = store.backup?.bind(store);
  const health = store.health?.bind(store);
  return {
    facets: store.facets,
    space(id) {
      const space = store.space(id);
      return { ...spaceOfVerbs((verb) => forward(space, verb, around)), ...verbs(space, id) };
    },
    spaces: () => around(() => store.spaces(), "spaces"),
    ...(backup === undefined ? {} : { backup: (request) => around(() => backup(request), "backup") }),
    ...(health === undefined ? {} : { health }),
    close,
    [Symbol.asyncDispose]: close,
  };
}

function forward(space: SpaceStore, verb: Verb, around: Around): AnyVerb {
  // A tail may wait forever: it is not a call that ends.
  if (verb === "tail") return (request) => space.tail(request as Parameters<SpaceStore["tail"]>[0]);
  return (...args) => around(() => Reflect.apply(space[verb], space, args) as Promise<unknown>, verb);
}

/** A batch that is in the log, as it was given. */
export interface WrittenBatch {
  readonly space: SpaceId;
  readonly conversation: ConversationId;
  readonly drafts: readonly StampedDraft[];
  /** How long the store took. */
  readonly ms: number;
}

/** A call that the store did not carry out. */
export interface StoreFailure {
  readonly verb: string;
  readonly error: unknown;
  /** The conversation that was written to, where that is what failed. */
  readonly written: Pick<WrittenBatch, "space" | "conversation"> | null;
}

/** Receives each write of a store once it is done. Its errors are ignored. */
export interface StoreObserver {
  wrote(batch: WrittenBatch): void;
  failed(failure: StoreFailure): void;
  closed(): void;
}

/** The same store, with observers that receive its writes. A repeated write under the same key is not reported again. */
export function observeStore(store: Store, observers: readonly StoreObserver[]): Store {
  const tell = (say: (observer: StoreObserver) => void): void => {
    for (const observer of observers)
      try {
        say(observer);
      } catch {
        // An observer may not stop what it observes.
      }
  };
  const failing = async <T>(call: () => Promise<T>, about: Omit<StoreFailure, "error">): Promise<T> => {
    try {
      return await call();
    } catch (error) {
      tell((observer) => observer.failed({ ...about, error }));
      throw error;
    }
  };
  const writing =
    (space: SpaceStore, id: SpaceId, verb: "append" | "create") =>
    (request: never): ReturnType<SpaceStore["append"]> => {
      const { conversation, drafts } = request as Parameters<SpaceStore["create"]>[0];
      const written = { space: id, conversation };
      return failing(
        async () => {
          const sinceMs = performance.now();
          const result = await space[verb](request);
          const ms = performance.now() - sinceMs;
          if (!result.deduped) tell((observer) => observer.wrote({ ...written, drafts, ms }));
          return result;
        },
        { verb, written },
      );
    };
  return decorateStore(store, {
    around: async (call, verb) => {
      const result = await failing(call, { verb, written: null });
      if (verb === "close") tell((observer) => observer.closed());
      return result;
    },
    verbs: (space, id) => ({
      append: writing(space, id, "append"),
      create: writing(space, id, "create"),
    }),
  });
}
