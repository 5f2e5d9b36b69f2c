import type { StampedDraft } from "#log/batch";
import type { ConversationId, SpaceId } from "#log/ids";
import { decorateStore } from "./decorate.ts";
import type { SpaceStore } from "./facets.ts";
import type { Store } from "./store.ts";

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

/** Is told what a store was given, once it is done; what it throws disturbs nobody. */
export interface StoreObserver {
  wrote(batch: WrittenBatch): void;
  failed(failure: StoreFailure): void;
  closed(): void;
}

/** The same store, and observers that are told what is written to it. What was written before, under its key, is not told again. */
export function observeStore(store: Store, observers: readonly StoreObserver[]): Store {
  const tell = (say: (observer: StoreObserver) => void): void => {
    for (const observer of observers)
      try {
        say(observer);
      } catch {
        // Nothing that watches may stop what it watches.
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
