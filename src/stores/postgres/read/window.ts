import { hiddenBy } from "#log/lineage/lineage";
import type { StoredEntry, SettingType } from "#log/entry";
import { isSetting, typeNumber } from "#log/entry-types";
import { LogError } from "#log/errors";
import type { ConversationId, EntryId, SpaceId } from "#log/ids";
import type { Place } from "#log/lineage/head";
import type { Page, PageRequest, StoreWindow, WindowRequest } from "#store/requests";
import type { Db } from "#stores/postgres/db";
import { notFound } from "#stores/postgres/postgres-errors";
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

const ROWS_MAX = 1_000_000_000;

/** A limit that SQL takes as one. */
export function rowsMax(limit: number): number {
  return Math.min(Math.max(Math.trunc(limit), 0), ROWS_MAX);
}

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
  if (state === null) throw notFound(conversation);
  const at = startIn(parts, state, from);
  return {
    head: headView(state, testMs ?? parts.find(([part]) => part === "head")?.[12] ?? 0),
    page: pageIn(parts, at, rowsMax(request.limit)),
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
  if (above === undefined) throw missing(end.conversation, end.depth);
  const from = { conversation: above[0], segment: above[1], depth: above[2] };
  return (await readWindow(db, space, { ...ask, limit, from })).page;
}

/** Where the page starts; the place may be one that the conversation cannot see. */
function startIn(parts: readonly Part[], { head }: State, from: Place | undefined): Place {
  const [part] = partsOf(parts, "head");
  const at = part === undefined ? null : placeIn(part);
  if (at !== null) return at;
  const { leaf, conversation } = head;
  const wanted = from ?? leaf;
  const isLeaf =
    leaf.conversation === wanted.conversation &&
    leaf.segment === wanted.segment &&
    leaf.depth === wanted.depth;
  // The head says it is there, so it was lost; any other place may never have been.
  if (isLeaf) throw missing(wanted.conversation, wanted.depth);
  throw new LogError("entry_not_found", `Conversation ${conversation} has no node at that place`, {
    conversation,
  });
}

function pageIn(parts: readonly Part[], from: Place, limit: number): Page {
  const nodes = partsOf(parts, "node").toSorted((a, b) => (b[11] ?? 0) - (a[11] ?? 0));
  for (const [index, node] of nodes.entries())
    if (node[11] !== from.depth - index) throw missing(from.conversation, from.depth - index);
  const lowest = from.depth - nodes.length;
  if (nodes.length < limit && lowest >= 0) throw missing(from.conversation, lowest);
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

function missing(conversation: ConversationId, depth: number): LogError {
  return new LogError(
    "damaged",
    `Conversation ${conversation} is damaged: the node at depth ${depth} of a branch is missing`,
    { conversation, depth },
  );
}
