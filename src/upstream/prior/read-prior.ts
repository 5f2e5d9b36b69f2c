import { decodeEntry } from "#log/codec";
import type { Place } from "#log/lineage/head";
import type { ConversationId, EntryId } from "#log/ids";
import { firstRequests } from "#upstream/rules/outline";
import type { PriorBudget } from "#upstream/rules/prior-budget";
import { type PriorContext, PriorReader } from "#upstream/rules/prior-context";
import { PathNotes, readElsewhere } from "./read-elsewhere.ts";
import type { SpaceStore } from "#store/facets";

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
