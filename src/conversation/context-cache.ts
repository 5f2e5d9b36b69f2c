import { NODE_TYPES } from "#log/entry-types";
import type { ConversationId } from "#log/ids";
import type { Context } from "#log/projections/context";
import { GrowingContext } from "#log/projections/growing-context";
import type { Projection } from "#log/projections/projection";
import type { Settings } from "#log/projections/settings";
import type { SpaceStore } from "#store/facets";
import type { HeadView } from "#store/requests";
import { LiveProjection } from "./live-projection.ts";
import type { Owner } from "./owner.ts";
import { readGrowingContext } from "./reading.ts";

const ENTRIES_ADDED_MAX = 4_096; // where more has come than a long turn writes, the context is read again

const CONTEXT: Projection<GrowingContext> = {
  types: [...NODE_TYPES, "hide", "leaf"],
  start: () => new GrowingContext(),
  add: (context, entry) => (context.extend(entry) ? context : null),
};

/** The context of a conversation and the head it is of. */
export interface ContextNow {
  readonly context: Context;
  readonly head: HeadView;
}

/** The context of one conversation between reads: it is extended by what was added, or read again where that is not possible. */
export class ContextCache {
  readonly #live: LiveProjection<GrowingContext>;

  constructor(space: SpaceStore, conversation: ConversationId) {
    this.#live = new LiveProjection(space, conversation, CONTEXT, {
      addedMax: ENTRIES_ADDED_MAX,
      begin: async () => {
        const { context: state, head } = await readGrowingContext(space, conversation);
        const after = head.headSeq + 1;
        const types = CONTEXT.types ?? [];
        const [last] = await space.read({ conversation, after, limit: 1, newestFirst: true, types });
        return { state, last: last ?? null, head };
      },
    });
  }

  /** How many messages it holds; null: none were read. */
  get size(): number | null {
    return this.#live.state?.size ?? null;
  }

  follow(owner: Owner): void {
    this.#live.follow(owner);
  }

  /** As the log is now. */
  now(): Promise<ContextNow> {
    return this.#live.readAtHead((context, head) => ({ context: context.context(), head }));
  }

  /** As the log was with the last batch of its owner: the store is called only if somebody else has written. */
  owned(): Promise<Context> {
    return this.#live.readOwned((context) => context.context());
  }

  /** The settings at a head, where the cached context is of that moment; null where it is not. */
  settingsAt(head: HeadView): Settings | null {
    return this.#live.at(head)?.context() ?? null;
  }
}
