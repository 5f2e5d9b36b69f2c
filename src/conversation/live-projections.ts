import type { ConversationId } from "#log/ids";
import type { Projection } from "#log/projections/projection";
import type { HeadView } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import type { Holdfast } from "./holdfast.ts";
import { type LiveOptions, LiveProjection } from "./live-projection.ts";

export interface LogBounds<State> {
  /** How many logs. The one that was used longest ago goes first. */
  readonly logs: number;
  /** A state is dropped after this time; absent: never. */
  readonly maxAgeMs?: number;
  /** Whether a state takes too much memory to stay. */
  readonly isTooLarge?: (state: State) => boolean;
}

/** One projection of many logs, in bounded memory. */
export class LiveProjections<State> {
  readonly #projection: Projection<State>;
  readonly #bounds: LogBounds<State>;
  readonly #options: (space: SpaceStore, conversation: ConversationId) => LiveOptions<State>;
  readonly #live = new Map<string, LiveProjection<State>>();

  constructor(
    projection: Projection<State>,
    bounds: LogBounds<State>,
    options: (space: SpaceStore, conversation: ConversationId) => LiveOptions<State> = () => ({}),
  ) {
    this.#projection = projection;
    this.#bounds = bounds;
    this.#options = options;
  }

  of({ space, spaceId }: Holdfast, conversation: ConversationId): LiveProjection<State> {
    const name = `${spaceId}/${conversation}`;
    const projection = this.#live.get(name);
    const live =
      projection ??
      new LiveProjection(space, conversation, this.#projection, this.#options(space, conversation));
    this.#live.delete(name);
    this.#live.set(name, live);
    const { logs, maxAgeMs } = this.#bounds;
    const [oldest] = this.#live.keys();
    if (this.#live.size > logs && oldest !== undefined) this.#live.delete(oldest);
    if (projection === undefined && maxAgeMs !== undefined)
      setTimeout(() => this.#drop(name, live), maxAgeMs).unref();
    return live;
  }

  /** See `LiveProjection.readAtHead`. */
  async readAtHead<T>(
    holdfast: Holdfast,
    conversation: ConversationId,
    use: (state: State, head: HeadView) => T | Promise<T>,
  ): Promise<T> {
    const live = this.of(holdfast, conversation);
    const result = await live.readAtHead(use);
    if (live.state !== null && this.#bounds.isTooLarge?.(live.state) === true)
      this.#drop(`${holdfast.spaceId}/${conversation}`, live);
    return result;
  }

  #drop(name: string, live: LiveProjection<State>): void {
    if (this.#live.get(name) === live) this.#live.delete(name);
  }
}
