import type { SpaceId } from "#log/ids";
import { type SpaceStore, type Verb, VERBS } from "./facets.ts";
import type { Store } from "./store.ts";

/** Any verb, where which one does not matter. */
export type AnyVerb = (...args: readonly unknown[]) => unknown;

/** Carries a call out, or not; `verb` says what it is about. */
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

/** Another store in front of a store. What it does not change is forwarded, verbs that come later included. */
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
  // A tail waits for what may never come: it is no call that ends.
  if (verb === "tail") return (request) => space.tail(request as Parameters<SpaceStore["tail"]>[0]);
  return (...args) => around(() => Reflect.apply(space[verb], space, args) as Promise<unknown>, verb);
}
