import { decodeEntry, presentEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import type { Place } from "#log/lineage/head";
import type { ConversationId, EntryId } from "#log/ids";
import { type Context, ContextReader, type ExactContext } from "#log/projections/context";
import type { Issue } from "#log/projections/issues";
import { GrowingContext } from "#log/projections/growing-context";
import {
  type LatestReply,
  latestReply,
  type LatestSettings,
  modelRepliedWith,
  REPLY_NODES,
  repliedModel,
  type Settings,
  settingsOf,
} from "#log/projections/settings";
import { boundWindow, EMPTY_WINDOW, type Window, type WindowBounds } from "#log/projections/window";
import type { HeadView, Page, SettingsFound } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import { SCAN_ENTRIES, stretches, nextTurn } from "./read-log.ts";

const PAGE_NODES = REPLY_NODES; // most contexts are one page
const PAGE_NODES_MAX = SCAN_ENTRIES; // longer ones are read in few large pages
const WINDOW_NODES_DIRECT = 8_192; // a longer window is no window any more, and is read from another thread

const SETTINGS = ["reset", "model_change", "config_change", "skill_change", "state_change"] as const;

/** A node that something is read at. */
export type NodeAt = Place & { readonly id: EntryId };

interface ReadWindow {
  readonly bounds: WindowBounds;
  /** The latest reply among the nearest nodes, which may lie behind the window. */
  readonly replied: LatestReply | null;
  readonly settings: LatestSettings;
  /** Where it was read. */
  readonly node: NodeAt;
  readonly head: HeadView;
}

/** Reads back exactly as far as the context reaches, into the reader; the first page and all else of one moment. */
async function readWindow(
  space: SpaceStore,
  conversation: ConversationId,
  at: NodeAt | null,
  context: Pick<ContextReader, "add">,
): Promise<ReadWindow> {
  const from = at === null ? {} : { from: at };
  const first = await space.window({ conversation, ...from, limit: PAGE_NODES, settings: SETTINGS });
  let bounds: WindowBounds = EMPTY_WINDOW;
  let nodes = 0;
  const add = (page: Page): readonly Entry[] => {
    const entries = page.entries.map((stored) => decodeEntry(stored));
    const read = boundWindow(bounds, { entries, hidden: page.hidden, atRoot: page.next === null });
    context.add(read.inside, page.hidden);
    bounds = read.bounds;
    nodes += entries.length;
    return entries;
  };
  // A page is let go of before others have their turn, and with them the garbage collector.
  const readMore = async (older: Place, limit: number): Promise<Place | null> => {
    const scan = nodes >= WINDOW_NODES_DIRECT;
    const page = await space.page({ conversation, from: older, limit, scan });
    add(page);
    return page.next;
  };
  const node = at ?? first.head.leaf;
  const replied = latestReply(add(first.page), node.depth);
  let { next } = first.page;
  for (let limit = PAGE_NODES * 4; next !== null && !bounds.done; limit *= 4) {
    limit = Math.min(limit, PAGE_NODES_MAX);
    next = await readMore(next, limit);
    if (limit === PAGE_NODES_MAX && next !== null) await nextTurn();
  }
  const { head, settings } = first;
  return { bounds, replied, settings: latestSettings(settings), node, head };
}

/** The context at a node, or at the leaf: what the model would be sent if the conversation went on from there. */
export async function readContext(
  space: SpaceStore,
  conversation: ConversationId,
  at: NodeAt | null,
): Promise<Context> {
  return (await readContextAndHead(space, conversation, at)).context;
}

/** The same with the head as it was at that moment. */
export async function readContextAndHead(
  space: SpaceStore,
  conversation: ConversationId,
  at: NodeAt | null,
): Promise<{ readonly context: Context; readonly head: HeadView }> {
  const reader = new ContextReader();
  const { bounds, replied, settings, node, head } = await readWindow(space, conversation, at, reader);
  const now = settingsOf(settings, modelRepliedWith(replied, node.depth));
  return { context: reader.result(bounds, now, node.id), head };
}

/** The same at the leaf, to be extended by what is appended. */
export async function readGrowingContext(
  space: SpaceStore,
  conversation: ConversationId,
): Promise<{ readonly context: GrowingContext; readonly head: HeadView }> {
  const context = new GrowingContext();
  const { bounds, replied, settings, node, head } = await readWindow(space, conversation, null, context);
  return { context: context.begin({ bounds, settings, replied, leaf: node }), head };
}

/** The same with the entries it was made of. */
export async function readExactContext(
  space: SpaceStore,
  conversation: ConversationId,
  at: NodeAt | null,
): Promise<{ readonly context: ExactContext; readonly head: HeadView }> {
  const reader = new ContextReader("entries");
  const { bounds, replied, settings, node, head } = await readWindow(space, conversation, at, reader);
  const { entries } = reader;
  const now = settingsOf(settings, modelRepliedWith(replied, node.depth));
  return { context: { ...reader.result(bounds, now, node.id), entries, settings }, head };
}

/** The entries a context is made of, and others between them: for whoever makes the next one shorter. */
export async function readContextWindow(
  space: SpaceStore,
  conversation: ConversationId,
  at: NodeAt | null,
): Promise<Window> {
  const entries: Entry[] = [];
  const hidden = new Set<EntryId>();
  const add = (inside: Iterable<Entry>, hiddenThere: ReadonlySet<EntryId>): void => {
    for (const entry of inside) entries.push(entry);
    for (const id of hiddenThere) hidden.add(id);
  };
  const { bounds } = await readWindow(space, conversation, at, { add });
  return { entries, hidden, ...bounds };
}

/** What a person should look at in the context at the leaf; none of its messages is held for it. */
export async function readContextIssues(
  space: SpaceStore,
  conversation: ConversationId,
): Promise<readonly Issue[]> {
  const context = new ContextReader("issues");
  const { bounds } = await readWindow(space, conversation, null, context);
  return context.issues(bounds);
}

/**
 * The settings at a node, or at the leaf, without its messages: what they cost does not grow with the context. Where no
 * model was chosen, the model of the latest reply stands in for one, if that reply is among the nearest nodes; a context
 * says the same.
 */
export async function readSettings(
  space: SpaceStore,
  conversation: ConversationId,
  at: Place | null,
): Promise<Settings> {
  return (await readSettingsAndReset(space, conversation, at)).settings;
}

/**
 * The same with the entries they are of, and the depth of the latest reset there; -1 where there is none. `nearest`: nodes of the
 * branch that were read already, newest first from its end on.
 */
export async function readSettingsAndReset(
  space: SpaceStore,
  conversation: ConversationId,
  at: Place | null,
  nearest: readonly Entry[] = [],
): Promise<{ readonly settings: Settings; readonly latest: LatestSettings; readonly resetDepth: number }> {
  const from = at === null ? {} : { from: at };
  const { head, settings } = await space.window({ conversation, ...from, limit: 0, settings: SETTINGS });
  const latest = latestSettings(settings);
  const resetDepth = latest.reset?.depth ?? -1;
  const model = latest.model_change === undefined ? repliedModel(nearest) : null;
  if (latest.model_change !== undefined || model !== null || nearest.length >= REPLY_NODES)
    return { settings: settingsOf(latest, model), latest, resetDepth };
  const { entries } = await space.page({ conversation, from: at ?? head.leaf, limit: PAGE_NODES });
  const replied = repliedModel(entries.map((stored) => decodeEntry(stored)));
  return { settings: settingsOf(latest, replied), latest, resetDepth };
}

/** The head, the end of its branch and the latest settings there, in one call. */
export async function readBranchEnd(
  space: SpaceStore,
  conversation: ConversationId,
): Promise<{ readonly head: HeadView; readonly page: BranchPage; readonly latest: LatestSettings }> {
  const request = { conversation, limit: PAGE_NODES, settings: SETTINGS } as const;
  const { head, page, settings } = await space.window(request);
  return { head, page: decodedPage(page), latest: latestSettings(settings) };
}

/** A stretch of a branch, newest first. */
export interface BranchPage extends Omit<Page, "entries"> {
  readonly entries: readonly Entry[];
}

export function decodedPage(page: Page): BranchPage {
  return { ...page, entries: page.entries.map((stored) => decodeEntry(stored)) };
}

function latestSettings(settings: SettingsFound): LatestSettings {
  const latest: Record<string, unknown> = {};
  for (const [type, stored] of settings)
    latest[type] = Object.assign(decodeEntry(stored), { depth: stored.place.depth });
  return latest;
}

/** A branch from the root to a node, or to the leaf, oldest first. */
export async function readBranch(
  space: SpaceStore,
  conversation: ConversationId,
  at: Place | null,
): Promise<readonly (Entry & { readonly hidden: boolean })[]> {
  const branch: (Entry & { readonly hidden: boolean })[] = [];
  const read = async (from: Place | null, scan: boolean): Promise<Page & { readonly size: number }> => {
    const start = from ?? at;
    const page = await space.page({
      conversation,
      ...(start === null ? {} : { from: start }),
      limit: SCAN_ENTRIES,
      scan,
    });
    return { ...page, size: page.entries.length };
  };
  for await (const page of stretches<Place, Page & { readonly size: number }>(read))
    for (const stored of page.entries)
      branch.push(Object.assign(presentEntry(decodeEntry(stored)), { hidden: page.hidden.has(stored.id) }));
  return branch.toReversed();
}
