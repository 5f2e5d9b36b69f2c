import { decodeEntry } from "#log/codec";
import type { Place } from "#log/lineage/head";
import type { ConversationId, EntryId } from "#log/ids";
import { firstRequests } from "./rules/outline.ts";
import type { PriorBudget } from "./rules/prior-budget.ts";
import {
  type PriorContext,
  PriorReader,
  effectsElsewhere,
  type PathRead,
  type PriorEffect,
} from "./rules/prior-context.ts";
import type { SpaceStore } from "#store/facets";
import type { Entry, EntryType } from "#log/entry";
import type { HeadView } from "#store/requests";

const PAGE_NODES = 64;
const PAGE_NODES_MAX = 1_024;
const PAGE_CHARS = 1_048_576; // pages of more than this do not grow: results of tools can be large
const FIRST_MESSAGES = 8;
const FIRST_ENTRIES = 64; // a conversation that begins with more than this of other things has no beginning to tell

interface PriorWanted {
  readonly from: Place;
  readonly budget: PriorBudget;
  /** The last node the upstream holds already; nothing up to it is told. */
  readonly since?: EntryId | null;
  /** Nodes whose content no session may be given. */
  readonly poisoned?: ReadonlySet<EntryId>;
}

/** The prior context at a place, read back only as far as its budget reaches. */
export async function readPriorContext(
  space: SpaceStore,
  conversation: ConversationId,
  wanted: PriorWanted,
): Promise<PriorContext> {
  const reader = new PriorReader(wanted.budget, wanted);
  const head = await space.head(conversation);
  const path = new PathNotes(head, wanted.since ?? null);
  let next: Place | null = wanted.from;
  for (let limit = PAGE_NODES; next !== null && !reader.done;) {
    const page = await space.page({ conversation, from: next, limit });
    const entries = page.entries.map((stored) => decodeEntry(stored));
    reader.add(entries, page.hidden);
    if (head.segments > 1) path.add(entries, next.depth);
    next = page.next;
    const chars = page.entries.reduce((sum, { payload }) => sum + payload.length, 0);
    if (chars < PAGE_CHARS) limit = Math.min(limit * 2, PAGE_NODES_MAX);
  }
  const elsewhere = await readElsewhere(space, head, { path: path.read, budget: wanted.budget });
  if (!reader.wantsSummary || next === null) return { ...reader.result(), elsewhere };
  const began = await readBeginning(space, conversation, { from: wanted.from, behind: next, reader });
  return { ...reader.result(began), elsewhere };
}

/**
 * What lies behind what the budget reaches: the path's latest summary, else the first requests. Those are found from the
 * other end, as long as the path has not left the line it began on since.
 */
async function readBeginning(
  space: SpaceStore,
  conversation: ConversationId,
  at: { readonly from: Place; readonly behind: Place; readonly reader: PriorReader },
): Promise<readonly string[]> {
  const { settings } = await space.window({
    conversation,
    from: at.from,
    limit: 0,
    settings: ["compaction", "reset"],
  });
  const [compaction, reset] = [settings.get("compaction"), settings.get("reset")];
  if (compaction !== undefined && compaction.place.depth > (reset?.place.depth ?? -1)) {
    const { hidden } = await space.page({ conversation, from: compaction.place, limit: 1 });
    const entry = decodeEntry(compaction);
    if (entry.type === "compaction" && !hidden.has(entry.id)) {
      at.reader.summarise(entry.summary);
      return [];
    }
  }
  const after = reset?.place.conversation === conversation ? reset.seq : 0;
  const until = after + FIRST_ENTRIES;
  const [first] = await space.read({ conversation, after, until, limit: 1, types: ["message"] });
  const place = first === undefined ? null : (await space.entry(conversation, first.id)).place;
  const { behind } = at;
  const isOnPath = place?.segment === behind.segment && place.conversation === behind.conversation;
  if (place === null || !isOnPath || place.depth > behind.depth) return [];
  const depth = Math.min(behind.depth, place.depth + FIRST_MESSAGES - 1);
  const page = await space.page({
    conversation,
    from: { ...place, depth },
    limit: depth - place.depth + 1,
  });
  const entries = page.entries.filter(({ id }) => !page.hidden.has(id)).toReversed();
  return firstRequests(entries.map((stored) => decodeEntry(stored)));
}

const MESSAGES_READ_MAX = 512;
const HIDES_READ_MAX = 512;
const ENTRIES_MAX = 4_096; // that they are looked for among: updates, facts and custom nodes may lie between them

/** What was done on branches that were left, among the latest messages; nothing is read where no branch was. */
async function readElsewhere(
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
  const effects = effectsElsewhere(messages, at.path, { hidden: new Set(), budget: at.budget });
  if (effects.length === 0) return [];
  const hidden = new Set<EntryId>();
  for (const hide of await readLatest(space, conversation, { type: "hide", limit: HIDES_READ_MAX })) {
    if (hide.type !== "hide") continue;
    if (hide.hidden === false) hidden.delete(hide.target);
    else hidden.add(hide.target);
  }
  return hidden.size === 0 ? effects : effectsElsewhere(messages, at.path, { hidden, budget: at.budget });
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
class PathNotes {
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
