import { decorateStore } from "#store/decorate";
import type { Store } from "#store/store";
import { type Timeline, whileAlive } from "./timeline.ts";

/** A store that answers only the living, and holds time still while it works; not for a tail, which has no end. */
export function killableStore(store: Store, timeline: Timeline, death: AbortSignal): Store {
  return decorateStore(store, {
    around: <T>(call: () => Promise<T>): Promise<T> =>
      death.aborted ? new Promise<T>(() => undefined) : whileAlive(timeline.freeze(call()), death),
  });
}
