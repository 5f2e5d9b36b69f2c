import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import { LogError } from "#log/errors";
import type { Leaf, Place } from "#log/lineage/head";
import { type ConversationId, type EntryId, parseEntryId } from "#log/ids";
import { type CutPoint, cutPoint } from "#log/projections/cut-point";
import type { SpaceStore } from "#store/facets";
import type { Conversation, ForkOptions } from "./conversation.ts";
import { spaceOf } from "./on-space.ts";

const NODES_AROUND = 32; // a reply and its results, as a rule
const PAGE_NODES = 512;

/**
 * Forks at the cut of an entry, or at the end: a fork at a message of the user begins before it. The fork works in the folder of its
 * source unless `cwd` names another.
 */
export async function forkAtCut(
  source: Conversation,
  { at: entry, ...options }: ForkOptions,
): Promise<CutPoint & { readonly conversation: Conversation }> {
  const { at, editable } = await cutAt(source, entry);
  const cwd = options.cwd ?? (await source.head()).cwd;
  const conversation = await source.fork({ ...options, at, ...(cwd === null ? {} : { cwd }) });
  return { conversation, at, editable };
}

/** The cut of an entry; without one, the leaf. */
export async function cutAt(conversation: Conversation, entry: string | undefined): Promise<CutPoint> {
  if (entry !== undefined) return readCut(conversation, entry);
  return { at: (await conversation.head()).leaf.id, editable: null };
}

/** Where a fork or an edit at an entry grows from, decided by the nodes around it: the branch may be of any length. */
export async function readCut(log: Conversation, entry: string): Promise<CutPoint> {
  const [space, conversation] = [spaceOf(log), log.id];
  const { place, ...stored } = await space.entry(conversation, parseEntryId(entry));
  if (place === null)
    throw new LogError("entry_not_found", `${entry} is not on the branch`, { entry: stored.id });
  const node = decodeEntry(stored);
  if (node.type === "message" && node.message.role === "user") return cutPoint([node], node.id);
  const { leaf } = await space.head(conversation);
  for (let around = NODES_AROUND; ; around *= 4) {
    const near = await nodesAround(space, conversation, { id: node.id, place, leaf, around });
    const point = cutPoint(near.nodes, node.id);
    if ((near.fromReply || near.atRoot) && (near.atEnd || point.at !== near.nodes.at(-1)?.id)) return point;
  }
}

interface Near {
  /** Oldest first. */
  readonly nodes: readonly Entry[];
  /** They begin before the reply that the entry belongs to, or with it. */
  readonly fromReply: boolean;
  readonly atRoot: boolean;
  readonly atEnd: boolean;
}

/** The nodes before and behind an entry: on the active branch if it lies there, else on the one that ends with it. */
async function nodesAround(
  space: SpaceStore,
  conversation: ConversationId,
  at: { readonly id: EntryId; readonly place: Place; readonly leaf: Leaf; readonly around: number },
): Promise<Near> {
  const { id, place, leaf, around } = at;
  const depth = Math.min(leaf.depth, place.depth + around);
  const limit = around + Math.max(0, depth - place.depth);
  const active = await space.page({ conversation, from: leaf, depth, limit });
  const onActive = active.entries.some((stored) => stored.id === id);
  const page = onActive ? active : await space.page({ conversation, from: place, limit: around });
  const nodes = page.entries.map((stored) => decodeEntry(stored)).toReversed();
  const before = nodes.slice(0, nodes.findIndex((node) => node.id === id) + 1);
  return {
    nodes,
    fromReply: before.some((node) => node.type === "message" && node.message.role !== "toolResult"),
    atRoot: page.next === null,
    atEnd: !onActive || depth === leaf.depth,
  };
}

/** The ids of the branch from a node back to another, oldest first; none when the other does not lie on it. */
export async function idsBackTo(
  space: SpaceStore,
  conversation: ConversationId,
  range: { readonly from: EntryId; readonly until: EntryId },
): Promise<readonly EntryId[]> {
  const ids: EntryId[] = [];
  const depth = (await space.entry(conversation, range.until)).place?.depth ?? Number.POSITIVE_INFINITY;
  let next = (await space.entry(conversation, range.from)).place;
  for (let scan = false; next !== null && next.depth >= depth; scan = true) {
    const limit = Math.min(PAGE_NODES, next.depth - depth + 1);
    const page = await space.page({ conversation, from: next, limit, scan });
    for (const { id } of page.entries) ids.push(id);
    next = page.next;
  }
  return ids.at(-1) === range.until ? ids.toReversed() : [];
}
