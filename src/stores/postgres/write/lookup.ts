import type { Appended, StampedDraft } from "#log/batch";
import { decodeEntry } from "#log/codec";
import type { Entry, SettingType } from "#log/entry";
import { SETTING_TYPES, typeNumber } from "#log/entry-types";
import type { ConversationId, EntryId, SpaceId } from "#log/ids";
import type { EntryPosition, Place, SettingPlaces } from "#log/lineage/head";
import { tailReads, LOOKBACK_NODES } from "#log/plans/boundary";
import { refsOf } from "#log/plans/plan-append";
import type { Db } from "#stores/postgres/db";
import { conversationNotFound } from "#store/lookup-errors";
import { readWindow } from "#stores/postgres/read/window";
import { LOOK_UP } from "#stores/postgres/tables/read-sql";
import { type Part, partsOf, placeIn, type State, stateIn, escapeText } from "#stores/postgres/tables/rows";

type KeyRecord = Appended & { readonly digest: string };

/** What a plan is made from, all of it as it was at one moment. */
export interface LookupResult {
  readonly state: State;
  readonly nowMs: number;
  readonly seen: KeyRecord | null;
  readonly positions: ReadonlyMap<EntryId, EntryPosition>;
  readonly settings: ReadonlyMap<EntryId, SettingPlaces>;
  readonly tails: ReadonlyMap<EntryId, readonly Entry[]>;
  /** Entries of the batch that are in the log already, by their ids. */
  readonly mine: ReadonlyMap<EntryId, number>;
}

export interface LookupRequest {
  readonly conversation: ConversationId;
  readonly key: string | null;
  readonly drafts: readonly StampedDraft[];
  /** After a doubt: whether the batch itself is there. */
  readonly doubted: boolean;
}

const KINDS = SETTING_TYPES.map((type) => typeNumber(type) ?? 0);
const TYPE_OF = new Map<number, SettingType>(SETTING_TYPES.map((type) => [typeNumber(type) ?? 0, type]));

/** Null where the space has no such conversation. */
export async function lookUp(
  db: Db,
  space: SpaceId,
  request: LookupRequest,
  nowMs: number | null,
): Promise<LookupResult> {
  const { conversation, drafts } = request;
  const parts = await db.call<Part>(
    LOOK_UP,
    space,
    conversation,
    request.key === null ? null : escapeText(request.key),
    namedIn(drafts),
    parentsIn(drafts),
    request.doubted ? drafts.map(({ id }) => id) : [],
    KINDS,
    nowMs,
  );
  const state = stateIn(parts);
  if (state === null) throw conversationNotFound(conversation);
  const places = findPositions(parts);
  const refs = refsOf(drafts);
  return {
    state,
    nowMs: parts.find(([part]) => part === "head")?.[4] ?? 0,
    seen: seenIn(parts),
    positions: new Map([...places].filter(([id]) => refs.has(id))),
    settings: settingsIn(parts),
    tails: await readCompactionTail(db, space, { state, drafts, places }),
    mine: new Map(
      partsOf(parts, "mine").flatMap(({ 3: id, 4: seq }) => (id && seq ? [[id, seq] as const] : [])),
    ),
  };
}

/** What a batch refers to: ids, parents, targets, and where a compaction begins to keep. */
function namedIn(drafts: readonly StampedDraft[]): readonly EntryId[] {
  const tailIds = drafts.flatMap(({ draft }) =>
    draft.type === "compaction" && typeof draft.body["firstKeptEntryId"] === "string"
      ? [draft.body["firstKeptEntryId"]]
      : [],
  );
  return [...new Set([...refsOf(drafts), ...tailIds])];
}

/** Nodes that may open a segment; the leaf is the statement's to add. */
function parentsIn(drafts: readonly StampedDraft[]): readonly EntryId[] {
  return drafts.flatMap(({ draft }) => [
    ...(draft.parentId ? [draft.parentId] : []),
    ...(draft.type === "leaf" ? [draft.body["target"] as EntryId] : []),
  ]);
}

function findPositions(parts: readonly Part[]): ReadonlyMap<EntryId, EntryPosition> {
  const positions = new Map<EntryId, EntryPosition>();
  // Its own entry hides one of the same id that it inherited.
  for (const part of partsOf(parts, "known").toSorted(
    (a, b) => Number(a[8] === "true") - Number(b[8] === "true"),
  ))
    if (part[3] !== null)
      positions.set(part[3], {
        id: part[3],
        place: part[10] === null ? null : placeIn(part),
        tip: part[2] === 1,
      });
  return positions;
}

function seenIn(parts: readonly Part[]): KeyRecord | null {
  const [key] = partsOf(parts, "key");
  if (key === undefined) return null;
  const [, digest, , lastId, fromSeq, toSeq] = key;
  return { fromSeq: fromSeq ?? 0, toSeq: Number(toSeq), lastId: lastId ?? "", digest: digest ?? "" };
}

function settingsIn(parts: readonly Part[]): ReadonlyMap<EntryId, SettingPlaces> {
  const settings = new Map<EntryId, { [T in SettingType]?: Place }>();
  for (const part of partsOf(parts, "setting")) {
    const [, , kind, id] = part;
    const [type, place] = [TYPE_OF.get(kind ?? 0), placeIn(part)];
    if (id === null || type === undefined || place === null) continue;
    const places = settings.get(id) ?? {};
    places[type] = place;
    settings.set(id, places);
  }
  return settings;
}

/** The nodes each compaction is judged by; none where its first kept entry is off the path. Nodes never change. */
async function readCompactionTail(
  db: Db,
  space: SpaceId,
  input: {
    readonly state: State;
    readonly drafts: readonly StampedDraft[];
    readonly places: ReadonlyMap<EntryId, EntryPosition>;
  },
): Promise<ReadonlyMap<EntryId, readonly Entry[]>> {
  const { head } = input.state;
  const tails = new Map<EntryId, readonly Entry[]>();
  const placeOf = (id: EntryId): Place | null | undefined =>
    id === head.leaf.id ? head.leaf : input.places.get(id)?.place;
  for (const { compaction, from, firstKept } of tailReads(head, input.drafts)) {
    const first = firstKept ?? from;
    const [start, until] = [placeOf(from), placeOf(first)];
    if (!start || !until || until.depth > start.depth) continue;
    const count = start.depth - until.depth + 1;
    const { conversation, segment, depth } = start;
    const { page } = await readWindow(db, space, {
      conversation: head.conversation,
      from: { conversation, segment, depth },
      limit: Math.min(count + LOOKBACK_NODES, depth + 1),
      settings: [],
    });
    if (page.entries[count - 1]?.id === first)
      tails.set(
        compaction,
        page.entries.map((entry) => decodeEntry(entry)),
      );
  }
  return tails;
}
