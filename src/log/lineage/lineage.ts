import type { EntryType } from "#log/entry";
import { LogError } from "#log/errors";
import type { EntryPosition, Place } from "./head.ts";
import type { ConversationId, EntryId } from "#log/ids";
import type { IndexedEntry, LogIndex } from "./log-index.ts";

/** A conversation's index together with those of the conversations it was forked from, all the way up. */
export type Lineage = ReadonlyMap<ConversationId, LogIndex>;

export interface LogNode extends IndexedEntry {
  readonly conversation: ConversationId;
  readonly place: Place;
}

function indexIn(lineage: Lineage, conversation: ConversationId): LogIndex {
  const index = lineage.get(conversation);
  if (index !== undefined) return index;
  throw new LogError("damaged", `Conversation ${conversation}, the source of this fork, is missing`, {
    conversation,
  });
}

/** The place one node up the branch; null at the root. */
function placeAbove(lineage: Lineage, place: Place): Place | null {
  const index = indexIn(lineage, place.conversation);
  return place.depth > index.startOf(place.segment)
    ? { ...place, depth: place.depth - 1 }
    : index.ancestorOf(place.segment);
}

/** The place of a depth on the branch that ends at `from`; `from` itself when the branch is not that long. */
export function placeAt(lineage: Lineage, from: Place, depth: number): Place {
  let place = from;
  while (depth < place.depth) {
    const index = indexIn(lineage, place.conversation);
    const above = index.ancestorOf(place.segment);
    if (above === null || depth > above.depth) return { ...place, depth: Math.max(depth, 0) };
    place = above;
  }
  return place;
}

/** Up to `limit` nodes from `from` towards the root, newest first, and where the next stretch starts. */
export function pageBack(
  lineage: Lineage,
  from: Place,
  limit: number,
): { readonly nodes: readonly LogNode[]; readonly next: Place | null } {
  const nodes: LogNode[] = [];
  let place: Place | null = from;
  while (place !== null && nodes.length < limit) {
    const node = indexIn(lineage, place.conversation).entryAt(place);
    if (node === undefined)
      throw new LogError(
        "damaged",
        `Conversation ${place.conversation} lacks the entry at depth ${place.depth} of a branch`,
        { depth: place.depth },
      );
    nodes.push({ ...node, conversation: place.conversation, place });
    place = placeAbove(lineage, place);
  }
  return { nodes, next: place };
}

/** Whether `place` lies on the branch that ends at `from`, hopping from segment to segment. */
function isOnBranch(lineage: Lineage, from: Place, place: Place): boolean {
  let ancestor: Place | null = from;
  while (ancestor !== null && ancestor.depth >= place.depth) {
    if (ancestor.conversation === place.conversation && ancestor.segment === place.segment) return true;
    ancestor = indexIn(lineage, ancestor.conversation).ancestorOf(ancestor.segment);
  }
  return false;
}

/**
 * A place as it is now. Inherited nodes lie on one path, so there a depth alone says which is meant: the segments of a
 * source may have been numbered anew, by an erase, since the place was given out.
 */
export function currentPlace(
  lineage: Lineage,
  conversation: ConversationId,
  place: Place,
): Place | undefined {
  if (place.conversation === conversation) return place;
  if (!lineage.has(place.conversation)) return undefined;
  let origin: Place | null = indexIn(lineage, conversation).head.origin;
  while (origin !== null && origin.depth >= place.depth) {
    const index = indexIn(lineage, origin.conversation);
    if (place.depth >= index.startOf(origin.segment))
      return { conversation: origin.conversation, segment: origin.segment, depth: place.depth };
    origin = index.ancestorOf(origin.segment);
  }
  return undefined;
}

/** What a conversation may know of an id: its own entries, and the nodes it inherited. */
export function findVisible(
  lineage: Lineage,
  conversation: ConversationId,
  id: EntryId,
): (EntryPosition & { readonly holder: ConversationId }) | undefined {
  const own = indexIn(lineage, conversation);
  const mine = own.find(id);
  if (mine !== undefined) return { ...mine, holder: conversation };
  const { origin } = own.head;
  if (origin === null) return undefined;
  for (const [holder, index] of lineage) {
    const place = index.find(id)?.place;
    // Inherited nodes are never a tip here: the next node opens its own segment.
    if (place && isOnBranch(lineage, origin, place)) return { id, place, tip: false, holder };
  }
  return undefined;
}

/** The latest node of a type on the branch that ends at `from`; costs what there are of forks above, not of segments. */
export function latestOnBranch(lineage: Lineage, from: Place, type: EntryType): LogNode | undefined {
  let place: Place | null = from;
  while (place !== null) {
    const index = indexIn(lineage, place.conversation);
    const latest = index.latestSetting(type, place);
    if (latest?.place) return { ...latest, conversation: place.conversation, place: latest.place };
    place = index.sourceOf(place.segment);
  }
  return undefined;
}

/**
 * Those of the nodes that are hidden for a conversation. Its own word wins, else what its source had said when it was
 * forked, and so on up to whoever holds the node: what lies above may mean another node by the same id. Goes up the
 * forks once for all nodes.
 */
export function hiddenAmong(
  lineage: Lineage,
  conversation: ConversationId,
  nodes: readonly Pick<LogNode, "id" | "conversation">[],
): ReadonlySet<EntryId> {
  const hidden = new Set<EntryId>();
  const open = new Map<ConversationId, EntryId[]>();
  for (const { id, conversation: holder } of nodes) {
    const ids = open.get(holder);
    if (ids === undefined) open.set(holder, [id]);
    else ids.push(id);
  }
  let upTo = Number.POSITIVE_INFINITY;
  let log: LogIndex | undefined = lineage.get(conversation);
  while (log !== undefined && open.size > 0) {
    if (log.hides)
      for (const [holder, ids] of open) {
        const undecided = ids.filter((id) => !isSaid(log, id, upTo, hidden));
        open.set(holder, undecided);
      }
    const { origin, conversation: holder }: LogIndex["head"] = log.head;
    open.delete(holder);
    upTo = origin?.head ?? 0;
    log = origin === null ? undefined : lineage.get(origin.source);
  }
  return hidden;
}

/** Whether the log has a word on the entry; one that is hidden is added to those that are. */
function isSaid(log: LogIndex | undefined, id: EntryId, upTo: number, hidden: Set<EntryId>): boolean {
  const decision = log?.hidden(id, upTo);
  if (decision === true) hidden.add(id);
  return decision !== undefined;
}

/** A hide fact about a node, and the conversation that holds the node. */
export interface HideFact {
  readonly holder: string | number;
  readonly target: EntryId;
  readonly hidden: boolean;
}

/**
 * Those of the nodes that facts hide. Of several facts about a node the last counts: the facts of a conversation follow those of
 * its sources, each in the order of its log.
 */
export function hiddenBy(
  facts: readonly HideFact[],
  nodes: readonly Pick<HideFact, "holder" | "target">[],
): ReadonlySet<EntryId> {
  const hidden = new Map(facts.map((fact) => [`${fact.holder} ${fact.target}`, fact.hidden]));
  return new Set(
    nodes.flatMap(({ holder, target }) => (hidden.get(`${holder} ${target}`) === true ? [target] : [])),
  );
}
