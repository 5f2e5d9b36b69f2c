import { hiddenBy } from "#log/lineage/lineage";
import type { StoredEntry, SettingType } from "#log/entry";
import { isSetting, typeNumber } from "#log/entry-types";
import type { ConversationId, EntryId, SpaceId } from "#log/ids";
import type { Place } from "#log/lineage/head";
import type { Page, PageRequest, StoreWindow, WindowRequest } from "#store/requests";
import type { Db } from "#stores/postgres/db";
import { rowsMax } from "#store/page-bounds";
import { conversationNotFound, nodeMissing, nodeNotFound } from "#store/lookup-errors";
import { ABOVE, READ_WINDOW } from "#stores/postgres/tables/read-sql";
import {
  headView,
  type Part,
  partsOf,
  placeIn,
  type State,
  stateIn,
  storedPart,
} from "#stores/postgres/tables/rows";

/** Head, page and settings in one round trip: the statement is the moment. */
export async function readWindow(
  db: Db,
  space: SpaceId,
  request: WindowRequest,
  testMs: number | null = null,
): Promise<StoreWindow> {
  const { conversation, from, settings } = request;
  const kinds = settings.map((type) => typeNumber(type) ?? 0);
  const parts = await db.call<Part>(
    READ_WINDOW,
    space,
    conversation,
    from?.conversation ?? null,
    from?.segment ?? null,
    from?.depth ?? null,
    rowsMax(request.limit),
    kinds,
  );
  const state = stateIn(parts);
  if (state === null) throw conversationNotFound(conversation);
  const start = startIn(parts, state, from);
  return {
    head: headView(state, testMs ?? parts.find(([part]) => part === "head")?.[12] ?? 0),
    page: pageIn(parts, start, rowsMax(request.limit)),
    settings: settingsIn(parts),
  };
}

function settingsIn(parts: readonly Part[]): StoreWindow["settings"] {
  const settings = new Map<SettingType, StoredEntry & { readonly place: Place }>();
  for (const part of partsOf(parts, "setting")) {
    const place = placeIn(part);
    const stored = storedPart(part);
    if (place !== null && isSetting(stored.type)) settings.set(stored.type, { ...stored, place });
  }
  return settings;
}

export async function readPage(db: Db, space: SpaceId, request: PageRequest): Promise<Page> {
  const { conversation, limit, depth } = request;
  const ask = { conversation, settings: [], ...(request.from === undefined ? {} : { from: request.from }) };
  if (depth === undefined) return (await readWindow(db, space, { ...ask, limit })).page;
  const { head } = await readWindow(db, space, { ...ask, limit: 0 });
  const end = request.from ?? head.leaf;
  const [above] = await db.read<[ConversationId, number, number]>(
    ABOVE,
    space,
    conversation,
    end.conversation,
    end.segment,
    end.depth,
    depth,
  );
  if (above === undefined) throw nodeMissing(end.conversation, end.depth);
  const from = { conversation: above[0], segment: above[1], depth: above[2] };
  return (await readWindow(db, space, { ...ask, limit, from })).page;
}

/** Where the page starts; the place may be one that the conversation cannot see. */
function startIn(parts: readonly Part[], { head }: State, from: Place | undefined): Place {
  const [part] = partsOf(parts, "head");
  const start = part === undefined ? null : placeIn(part);
  if (start !== null) return start;
  const { leaf, conversation } = head;
  const wanted = from ?? leaf;
  const isLeaf =
    leaf.conversation === wanted.conversation &&
    leaf.segment === wanted.segment &&
    leaf.depth === wanted.depth;
  // The head says it is there, so it was lost; any other place may never have been.
  if (isLeaf) throw nodeMissing(wanted.conversation, wanted.depth);
  throw nodeNotFound(conversation);
}

function pageIn(parts: readonly Part[], from: Place, limit: number): Page {
  const nodes = partsOf(parts, "node").toSorted((a, b) => (b[11] ?? 0) - (a[11] ?? 0));
  for (const [index, node] of nodes.entries())
    if (node[11] !== from.depth - index) throw nodeMissing(from.conversation, from.depth - index);
  const lowest = from.depth - nodes.length;
  if (nodes.length < limit && lowest >= 0) throw nodeMissing(from.conversation, lowest);
  const entries: StoredEntry[] = nodes.map((node) => storedPart(node));
  return { entries, hidden: hiddenIn(parts, nodes), next: nextIn(parts, lowest) };
}

/** The place of a depth, by the segments that the answer went through. */
function nextIn(parts: readonly Part[], depth: number): Place | null {
  if (depth < 0) return null;
  const lines = partsOf(parts, "line").toSorted((a, b) => (a[11] ?? 0) - (b[11] ?? 0));
  for (const line of lines) {
    const own = placeIn(line);
    if (own === null || own.depth < depth) continue;
    const [conversation, segment, top] = line[1]?.split(" ") ?? [];
    if (conversation === undefined || Number(top) < depth) return { ...own, depth };
    return { conversation, segment: Number(segment), depth };
  }
  return null;
}

const NO_IDS: ReadonlySet<EntryId> = new Set();

/** The sources come first, the one furthest away before the others. */
function hiddenIn(parts: readonly Part[], nodes: readonly Part[]): ReadonlySet<EntryId> {
  const hides = partsOf(parts, "hide").toSorted(
    (a, b) => (b[2] ?? 0) - (a[2] ?? 0) || (a[4] ?? 0) - (b[4] ?? 0),
  );
  if (hides.length === 0) return NO_IDS;
  const facts = hides.map((hide) => ({
    holder: String(hide[9]),
    target: hide[1] as EntryId,
    hidden: hide[8] === "true",
  }));
  return hiddenBy(
    facts,
    nodes.flatMap(({ 3: target, 9: holder }) =>
      target === null || holder === null ? [] : [{ holder, target }],
    ),
  );
}
