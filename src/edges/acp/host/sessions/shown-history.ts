import { setImmediate as nextTick } from "node:timers/promises";
import { type BranchEnd, branchPages, sharedDepth } from "#conversation/branch-pages";
import { readBase64 } from "#conversation/image-blobs";
import type { Json } from "#log/json/json-text";
import type { Leaf, Place } from "#log/lineage/head";
import type { ConversationId } from "#log/ids";
import type { BridgeContext } from "#edges/acp/host/open-conversations";
import { type Describe, nothingMore } from "#edges/acp/host/event-updates";
import { withData } from "./blocks.ts";
import { Replay } from "./replay.ts";

const UPDATES_AT_ONCE = 200; // then whatever else the bridge has to do goes on, and the host reads

type Shown = Pick<BridgeContext, "holdfast" | "wire"> & {
  readonly conversations: { readonly isClosed: boolean };
};

/**
 * The branch of a conversation on its way to the host, each entry once, page by page from its beginning: what is held is
 * a page of it, and what the host has not read.
 */
export class ShownHistory {
  readonly #bridge: Shown;
  readonly #id: ConversationId;
  readonly #replay: Replay;
  /** The end of what was shown. */
  #shown: Leaf | null = null;
  #updates: number = 0;

  constructor(bridge: Shown, id: ConversationId, describe: Describe = nothingMore) {
    this.#replay = new Replay(describe);
    this.#bridge = bridge;
    this.#id = id;
  }

  /** Shows what was not shown yet, and gives the seq up to which that is everything. */
  async show(): Promise<number> {
    const { space } = this.#bridge.holdfast;
    const id = this.#id;
    const { headSeq, leaf } = await space.head(id);
    const before = this.#shown;
    if (leaf.id === before?.id) return headSeq;
    this.#shown = leaf;
    const branch = (end: Place): BranchEnd => ({ conversation: id, end });
    const from = before === null ? 0 : (await sharedDepth(space, branch(before), branch(leaf))) + 1;
    for await (const page of branchPages(space, id, leaf, from)) {
      await this.#send(this.#replay.add(page));
      if (this.#bridge.conversations.isClosed) return headSeq;
    }
    await this.#send(this.#replay.end());
    return headSeq;
  }

  async #send(updates: Iterable<{ readonly [name: string]: Json }>): Promise<void> {
    const { wire, holdfast } = this.#bridge;
    const id = this.#id;
    const read = (blob: string): Promise<string> => readBase64(holdfast.space, id, blob);
    for (const update of updates) {
      if (this.#bridge.conversations.isClosed) return;
      wire.update(id, await withData(update, read));
      await wire.resumed();
      if (++this.#updates % UPDATES_AT_ONCE === 0) await nextTick();
    }
  }
}
