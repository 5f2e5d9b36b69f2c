import { decodeEntry } from "#log/codec";
import type { Entry, EntryType } from "#log/entry";
import type { ConversationId, EntryId } from "#log/ids";
import { effectsElsewhere, type PathRead, type PriorEffect } from "#upstream/rules/prior-context";
import type { PriorBudget } from "#upstream/rules/prior-budget";
import type { HeadView } from "#store/requests";
import type { SpaceStore } from "#store/facets";

const MESSAGES_READ_MAX = 512;
const HIDES_READ_MAX = 512;
const ENTRIES_MAX = 4_096; // that they are looked for among: updates, facts and custom nodes may lie between them

/** What was done on branches that were left, among the latest messages; nothing is read where no branch was. */
export async function readElsewhere(
  space: SpaceStore,
  head: HeadView,
  at: { readonly path: PathRead; readonly budget: PriorBudget },
): Promise<readonly PriorEffect[]> {
  if (head.segments < 2) return [];
  const { conversation } = head;
  const until = head.headSeq - ENTRIES_MAX;
  const messages = await readLatest(space, conversation, {
    type: "message",
    limit: MESSAGES_READ_MAX,
    until,
  });
  const found = effectsElsewhere(messages, at.path, { hidden: new Set(), budget: at.budget });
  if (found.length === 0) return [];
  const hidden = new Set<EntryId>();
  for (const hide of await readLatest(space, conversation, { type: "hide", limit: HIDES_READ_MAX })) {
    if (hide.type !== "hide") continue;
    if (hide.hidden === false) hidden.delete(hide.target);
    else hidden.add(hide.target);
  }
  return hidden.size === 0 ? found : effectsElsewhere(messages, at.path, { hidden, budget: at.budget });
}

/** The latest entries of a type, oldest first. */
async function readLatest(
  space: SpaceStore,
  conversation: ConversationId,
  { type, ...wanted }: { readonly type: EntryType; readonly limit: number; readonly until?: number },
): Promise<readonly Entry[]> {
  const stored = await space.read({ conversation, ...wanted, newestFirst: true, types: [type] });
  return stored.map((entry) => decodeEntry(entry)).toReversed();
}

/** Notes which nodes of the conversation's own log lie on a path, as it is read back page by page. */
export class PathNotes {
  readonly #nodes = new Set<EntryId>();
  readonly #ownFrom: number;
  readonly #since: EntryId | null;
  #afterSeq: number = Number.POSITIVE_INFINITY;
  #ended: boolean = false;

  constructor({ origin }: HeadView, since: EntryId | null) {
    this.#ownFrom = origin === null ? 0 : origin.depth + 1;
    this.#since = since;
  }

  /** Takes a page, newest first, whose first node lies at this depth. What lies before a reset counts as little as what
   * was done before a node that the upstream holds. */
  add(entries: readonly Entry[], depth: number): void {
    for (const [at, entry] of entries.entries()) {
      if (this.#ended) return;
      if (depth - at < this.#ownFrom) {
        this.#afterSeq = 0;
        this.#ended = true;
        return;
      }
      this.#nodes.add(entry.id);
      this.#afterSeq = Math.min(this.#afterSeq, entry.seq);
      this.#ended = entry.type === "reset" || entry.id === this.#since;
    }
  }

  get read(): PathRead {
    return { nodes: this.#nodes, afterSeq: this.#afterSeq };
  }
}
