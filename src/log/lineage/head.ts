import type { EntryType, SettingType } from "#log/entry";
import { targetOf } from "#log/entry-types";
import { LogError } from "#log/errors";
import type { ConversationId, EntryId } from "#log/ids";
import { EMPTY_SUMMARY, type Summary } from "#log/summary";

/**
 * Where a node lies. A segment is a line of descent: a node continues its parent's segment when the parent is
 * the segment's tip and opens a new one otherwise, so a branch is read backwards by (segment, depth) in one
 * index range per segment, however branches and facts interleave in the log.
 */
export interface Place {
  readonly conversation: ConversationId;
  readonly segment: number;
  readonly depth: number;
}

export interface Leaf extends Place {
  readonly id: EntryId;
  /** Nothing in its segment lies below it, so the next node continues the segment. */
  readonly tip: boolean;
}

/**
 * Where a fork began: the place of a node, in the conversation that really holds it, and the source it was taken
 * from with the last entry of that log it may ever see.
 */
export interface ForkPoint extends Place {
  readonly source: ConversationId;
  readonly entry: EntryId;
  readonly head: number;
}

/** What a conversation is right now: a projection of its log small enough to be kept beside it. */
export interface Head {
  readonly conversation: ConversationId;
  readonly headSeq: number;
  /** The last entry written by an owner; entries from outside do not move it. */
  readonly ownerSeq: number;
  readonly epoch: number;
  /** The link of the last batch, and of the last one of an owner; null in a log from before there were links. */
  readonly link: string | null;
  readonly ownerLink: string | null;
  readonly leaf: Leaf;
  readonly segments: number;
  readonly origin: ForkPoint | null;
  readonly title: string | null;
  readonly cwd: string | null;
  readonly createdAt: string;
  readonly updatedAt: string;
  /** What lists show beyond this; null: not counted, in a log from before appends kept it. */
  readonly summary: Summary | null;
}

export interface Lease {
  readonly writer: string;
  /** By the clock of the store, which may differ from the clock of this machine: compare `LeaseView.remainingMs` instead. */
  readonly untilMs: number;
}

/** A lease as a store returns it. */
export interface LeaseView extends Lease {
  /** How long the lease still counted by the store's clock when the store answered; 0 or less: it has lapsed. */
  readonly remainingMs: number;
}

/** What the rules know of an entry that is already in the log. */
export interface EntryPosition {
  readonly id: EntryId;
  readonly place: Place | null;
  readonly tip: boolean;
}

/** A line of descent that a node opens. */
export interface Segment {
  readonly segment: number;
  readonly ancestor: Place | null;
}

/** Where the latest node of each setting lies on the path that ends at a node. */
export type SettingPlaces = { readonly [T in SettingType]?: Place };

/** The part of a head that decides where the next node goes; only owners move it. */
export type Tip = Pick<Head, "conversation" | "leaf" | "segments">;

export interface Placed {
  readonly tip: Tip;
  readonly place: Place | null;
  readonly opened: Segment | null;
  /** The node a fact points at. */
  readonly target: EntryPosition | null;
}

/** The part of an entry that decides where it goes. */
export interface EntryToPlace {
  readonly id: EntryId;
  readonly type: EntryType;
  readonly node: boolean;
  readonly parentId: EntryId | null;
  readonly body: { readonly [name: string]: unknown };
  /** The rest of an erased log: what it points at may be gone. */
  readonly isForkRemainder?: boolean;
}

/** The head of a conversation before its first entry. */
export function emptyHead(conversation: ConversationId, origin: ForkPoint | null, time: string): Head {
  const leaf: Leaf =
    origin === null
      ? { conversation, segment: 0, depth: -1, id: "", tip: false }
      : {
          conversation: origin.conversation,
          segment: origin.segment,
          depth: origin.depth,
          id: origin.entry,
          tip: false,
        };
  return {
    conversation,
    headSeq: 0,
    ownerSeq: 0,
    epoch: 0,
    link: null,
    ownerLink: null,
    leaf,
    segments: 0,
    origin,
    title: null,
    cwd: null,
    createdAt: time,
    updatedAt: time,
    summary: EMPTY_SUMMARY,
  };
}

/** Puts one entry into the tree. Writing and re-reading a log both go through here, so they cannot disagree. */
export function placeEntry(
  tip: Tip,
  entry: EntryToPlace,
  find: (id: EntryId) => EntryPosition | undefined,
): Placed {
  const target = findTarget(entry, find);
  if (!entry.node) {
    const moved = entry.type === "leaf" && target?.place;
    const leaf = moved ? { ...target.place, id: target.id, tip: target.tip } : tip.leaf;
    return { tip: { ...tip, leaf }, place: null, opened: null, target };
  }
  const { place, opened } = placeNode(tip, entry, find);
  const { conversation } = tip;
  const leaf: Leaf = { ...place, id: entry.id, tip: true };
  return {
    tip: { conversation, leaf, segments: Math.max(tip.segments, place.segment) },
    place,
    opened,
    target,
  };
}

function placeNode(
  tip: Tip,
  entry: EntryToPlace,
  find: (id: EntryId) => EntryPosition | undefined,
): { place: Place; opened: Segment | null } {
  const { conversation } = tip;
  if (entry.parentId === null) {
    if (entry.type !== "conversation" || tip.segments !== 0) {
      throw new LogError("unknown_parent", "Only the first entry of a conversation has no parent", {
        entry: entry.id,
      });
    }
    return { place: { conversation, segment: 1, depth: 0 }, opened: { segment: 1, ancestor: null } };
  }
  const parent = find(entry.parentId);
  if (!parent?.place) {
    const why =
      parent === undefined ? "does not exist before it" : "is an annotation, which cannot have children";
    throw new LogError("unknown_parent", `Parent ${entry.parentId} of entry ${entry.id} ${why}`, {
      entry: entry.id,
      parent: entry.parentId,
    });
  }
  const depth = parent.place.depth + 1;
  if (parent.tip && parent.place.conversation === conversation) {
    return { place: { conversation, segment: parent.place.segment, depth }, opened: null };
  }
  const segment = tip.segments + 1;
  return { place: { conversation, segment, depth }, opened: { segment, ancestor: parent.place } };
}

function findTarget(
  entry: EntryToPlace,
  find: (id: EntryId) => EntryPosition | undefined,
): EntryPosition | null {
  const id = targetOf(entry.type, entry.body);
  if (id === null) return null;
  const target = find(id);
  if (target?.place) return target;
  if (target === undefined && entry.isForkRemainder === true) return null;
  const why =
    target === undefined ? "does not exist" : "is an annotation. It must refer to an entry on a branch";
  throw new LogError("unknown_target", `The ${entry.type} entry refers to ${id}, which ${why}`, {
    target: id,
  });
}
