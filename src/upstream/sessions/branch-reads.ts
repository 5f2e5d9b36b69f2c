import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import type { Leaf, Place } from "#log/lineage/head";
import type { ConversationId, EntryId } from "#log/ids";
import { type SessionTurn, type MessageText, messageText } from "#upstream/rules/transcript";
import type { LinkRecord } from "#log/projections/link-records";
import { wasCutOff } from "#upstream/rules/prior-context";
import { answersIn } from "#upstream/rules/replay-guard";
import type { BranchEnd } from "./branch-end.ts";
import { type BranchPage, decodedPage } from "#conversation/reading";
import type { SpaceStore } from "#store/facets";
import { SessionTurnReader } from "#upstream/rules/carried-turns";

const PAGE_NODES = 64;
const CARRIED_TEXTS_MAX = 200;
const CARRIED_NODES_MAX = 8_192; // their turns may be full of tools
const BRANCH_NODES_MAX = 2_048; // a link that fell further behind is not worth proving

const BRANCH_LEFT = "branch_left";

/** The end of a branch: what the decisions of a send look at first, read once for all of them. */
export async function readNear(
  space: SpaceStore,
  conversation: ConversationId,
  from: Place,
): Promise<BranchPage> {
  return decodedPage(await space.page({ conversation, from, limit: PAGE_NODES }));
}

/**
 * Why a node is not part of the context at `from`: the reason of the reset after it, or that its branch was left. Null: it
 * lies on the branch, with no reset after it. The search is bounded.
 */
export async function departureReason(
  space: SpaceStore,
  conversation: ConversationId,
  from: Place,
  node: EntryId,
): Promise<string | null> {
  const row = await space.entry(conversation, node).catch(() => null);
  if (row?.place == null || from.depth - row.place.depth > BRANCH_NODES_MAX) return BRANCH_LEFT;
  let next: Place | null = from;
  while (next !== null && next.depth >= row.place.depth) {
    const page = await space.page({
      conversation,
      from: next,
      limit: Math.min(PAGE_NODES, next.depth - row.place.depth + 1),
    });
    for (const stored of page.entries) {
      if (stored.id === node) return null;
      if (stored.type !== "reset") continue;
      const reset = decodeEntry(stored);
      return (reset.type === "reset" ? reset.reason : null) ?? "cleared";
    }
    next = page.next;
  }
  return BRANCH_LEFT;
}

interface TextsWanted {
  readonly from: Place;
  readonly count: number;
  readonly until: EntryId | null;
}

/** The words of the branch's last messages, newest first. */
export async function lastTexts(
  space: SpaceStore,
  conversation: ConversationId,
  wanted: TextsWanted,
): Promise<readonly MessageText[]> {
  return (await readTexts(space, conversation, wanted)).texts;
}

/**
 * The same, back to `until` and no further than a reply that was cut off: what an upstream kept of that is its own
 * affair.
 */
export async function readTexts(
  space: SpaceStore,
  conversation: ConversationId,
  wanted: TextsWanted,
): Promise<{ readonly texts: readonly MessageText[]; readonly stopped: "cut_off" | "there" }> {
  const texts: MessageText[] = [];
  let next: Place | null = wanted.from;
  const oldest = wanted.from.depth - BRANCH_NODES_MAX; // what lies further back decides nothing
  while (next !== null && next.depth > oldest) {
    const page = await space.page({ conversation, from: next, limit: PAGE_NODES });
    for (const stored of page.entries) {
      const entry = decodeEntry(stored);
      if (texts.length >= wanted.count || entry.type === "reset") return { texts, stopped: "there" };
      if (entry.type === "message" && entry.message.role !== "toolResult") {
        if (wasCutOff(entry.message)) return { texts, stopped: "cut_off" };
        const text = messageText(entry.message.role, entry.message);
        if (text.text !== "") texts.push(text);
      }
      if (entry.id === wanted.until) return { texts, stopped: "there" };
    }
    next = page.next;
  }
  return { texts, stopped: "there" };
}

/** The turns of a branch that one session carried or was made with, newest first, as far back as is worth comparing. */
export async function readSessionTurns(
  space: SpaceStore,
  conversation: ConversationId,
  wanted: { readonly end: BranchEnd; readonly link: LinkRecord; readonly facts: readonly Entry[] },
): Promise<readonly SessionTurn[]> {
  const reader = new SessionTurnReader(wanted.link, wanted.facts, CARRIED_TEXTS_MAX);
  const oldest = wanted.end.leaf.depth - CARRIED_NODES_MAX;
  for (let page: BranchPage = wanted.end; ;) {
    reader.add(page.entries, page.hidden);
    const { next } = page;
    if (next === null || reader.done || next.depth <= oldest) return reader.turns;
    page = await readNear(space, conversation, next);
  }
}

/** The answers that could come back: the branch's last ones, and the last ones the session itself gave. */
export async function oldAnswers(
  space: SpaceStore,
  conversation: ConversationId,
  at: { readonly leaf: Leaf; readonly near: BranchPage; readonly lastNode: EntryId | null },
): Promise<readonly string[]> {
  const own =
    at.lastNode === null || at.lastNode === at.leaf.id ? null : await space.entry(conversation, at.lastNode);
  const pages = [at.near];
  if (own?.place) pages.push(await readNear(space, conversation, own.place));
  return pages.flatMap(({ entries }) => answersIn(entries));
}
