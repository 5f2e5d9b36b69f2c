import { setImmediate as nextTick } from "node:timers/promises";
import { readBase64 } from "#conversation/images";
import type { EntryId } from "#log/ids";
import type { Desk } from "#edges/acp/host/desk";
import type { Floor } from "#edges/acp/host/floor";
import { withData } from "./blocks.ts";
import { replayOf } from "./replay.ts";

const UPDATES_AT_ONCE = 200; // then whatever else the bridge has to do goes on, and the host reads

/** The branch of a conversation on its way to the host, each entry once. */
export class ShownHistory {
  readonly #floor: Floor;
  readonly #desk: Desk;
  readonly #shown = new Set<EntryId>();
  #leaf: EntryId | null = null;

  constructor(floor: Floor, desk: Desk) {
    this.#floor = floor;
    this.#desk = desk;
  }

  /** Shows what was not shown yet, and gives the seq up to which that is everything. */
  async show(): Promise<number> {
    const { id } = this.#desk;
    const conversation = await this.#floor.holdfast.conversation(id);
    const { headSeq, leaf } = await conversation.head();
    if (leaf.id === this.#leaf) return headSeq;
    this.#leaf = leaf.id;
    const branch = await conversation.branch();
    const read = (blob: string): Promise<string> => readBase64(this.#floor.holdfast.space, id, blob);
    let count = 0;
    for (const update of replayOf(branch.filter((entry) => !this.#shown.has(entry.id)))) {
      this.#floor.wire.update(id, await withData(update, read));
      if (++count % UPDATES_AT_ONCE === 0) await nextTick();
    }
    for (const entry of branch) this.#shown.add(entry.id);
    return headSeq;
  }
}
