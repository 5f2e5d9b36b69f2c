import type { SpaceStore } from "#store/facets";

let read: (of: OnSpace) => SpaceStore;

/** What works on the store of a space, and gives it to this package alone. */
export abstract class OnSpace {
  readonly #space: SpaceStore;

  constructor(space: SpaceStore) {
    this.#space = space;
  }

  static {
    read = (of) => of.#space;
  }
}

/** The store under a `Holdfast` or a `Conversation`: for the layers that stand on the port, not for operations and edges. */
export function spaceOf(of: OnSpace): SpaceStore {
  return read(of);
}
