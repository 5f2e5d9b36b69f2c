import { decodeEntry } from "#log/codec";
import type { ContentBlock, Entry, EntryType } from "#log/entry";
import { LogError } from "#log/errors";
import type { Leaf, Place } from "#log/lineage/head";
import type { ConversationId, EntryId } from "#log/ids";
import { CarriedReader, saidBy } from "./rules/carried-turns.ts";
import { readLastModelNode } from "#turn/last-said";
import { type LinkRecord } from "#log/projections/link-records";
import { wasCutOff } from "./rules/prior-context.ts";
import { answersIn } from "./rules/replay-guard.ts";
import type { CarriedTurn, Said } from "./rules/transcript.ts";
import { cameBack, checkCutOff, GO_ON, turnedAwayPrompt, unansweredContent } from "./rules/unanswered.ts";
import type { Page, SpaceStore } from "#store/store";

const LINKS_READ_MAX = 96; // with their ends: many times what is ever tried; the chain itself is never cut
const TURN_FACTS_READ_MAX = 400; // a link whose last turn lies further back cannot hold the leaf
const STEERS_READ_MAX = 400;
const PAGE_NODES = 64;
const CARRIED_TEXTS_MAX = 200;
const CARRIED_NODES_MAX = 8_192; // their turns may be full of tools
const BRANCH_NODES_MAX = 2_048; // a link that fell further behind is not worth proving

/**
 * The facts a send is decided on, oldest first. Each kind is read back by itself: a link is as good as ever after a
 * thousand turns on it. A link of which no turn was read, though older ones may exist, is left out.
 */
export async function readFacts(space: SpaceStore, conversation: ConversationId): Promise<readonly Entry[]> {
  const read = async (limit: number, ...types: readonly EntryType[]): Promise<readonly Entry[]> => {
    const stored = await space.read({ conversation, limit, newestFirst: true, types });
    return stored.map((entry) => decodeEntry(entry));
  };
  const [links, turns, steers, hides] = await Promise.all([
    read(LINKS_READ_MAX, "upstream_link", "upstream_end"),
    read(TURN_FACTS_READ_MAX, "turn_start", "attempt", "turn_end"),
    read(STEERS_READ_MAX, "steer"),
    read(1, "hide"),
  ]);
  const all = [...knownLinks(links, turns), ...turns, ...steers, ...hides];
  return all.toSorted((one, other) => one.seq - other.seq);
}

function knownLinks(links: readonly Entry[], turns: readonly Entry[]): readonly Entry[] {
  if (turns.length < TURN_FACTS_READ_MAX) return links;
  const oldest = turns.at(-1)?.seq ?? 0;
  const carriers = new Set(turns.flatMap((turn) => (turn.type === "attempt" ? [turn.upstream] : [])));
  return links.filter(
    (link) => link.type !== "upstream_link" || link.seq >= oldest || carriers.has(link.upstream),
  );
}

const FACT_TYPES_READ = [
  "upstream_link",
  "upstream_end",
  "turn_start",
  "attempt",
  "turn_end",
  "steer",
  "hide",
] as const;

/** The facts of one piece of work: read back once, and after that only what has come since. */
export class FactReader {
  readonly #space: SpaceStore;
  readonly #conversation: ConversationId;
  #known: readonly Entry[] | null = null;

  constructor(space: SpaceStore, conversation: ConversationId) {
    this.#space = space;
    this.#conversation = conversation;
  }

  async now(): Promise<readonly Entry[]> {
    const known = this.#known;
    const more = known === null ? null : await this.#since(known.at(-1)?.seq ?? 0);
    this.#known =
      known === null || more === null
        ? await readFacts(this.#space, this.#conversation)
        : [...known, ...more];
    return this.#known;
  }

  /** Null when so much has come that it is read anew. */
  async #since(after: number): Promise<readonly Entry[] | null> {
    const [conversation, limit] = [this.#conversation, TURN_FACTS_READ_MAX];
    const stored = await this.#space.read({ conversation, after, limit, types: FACT_TYPES_READ });
    return stored.length < limit ? stored.map((entry) => decodeEntry(entry)) : null;
  }
}

/** The end of a branch: what the decisions of a send look at first, read once for all of them. */
export function readNear(space: SpaceStore, conversation: ConversationId, from: Place): Promise<Page> {
  return space.page({ conversation, from, limit: PAGE_NODES });
}

/** Whether a node lies on the branch that ends at `from` with no reset behind it; looked for within bounds. */
export async function liesOnBranch(
  space: SpaceStore,
  conversation: ConversationId,
  from: Place,
  node: EntryId,
): Promise<boolean> {
  const found = await space.entry(conversation, node).catch(() => null);
  if (found?.place == null || from.depth - found.place.depth > BRANCH_NODES_MAX) return false;
  let next: Place | null = from;
  while (next !== null && next.depth >= found.place.depth) {
    const page = await space.page({
      conversation,
      from: next,
      limit: Math.min(PAGE_NODES, next.depth - found.place.depth + 1),
    });
    for (const stored of page.entries) {
      if (stored.id === node) return true;
      if (stored.type === "reset") return false;
    }
    next = page.next;
  }
  return false;
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
): Promise<readonly Said[]> {
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
): Promise<{ readonly texts: readonly Said[]; readonly stopped: "cut_off" | "there" }> {
  const texts: Said[] = [];
  let next: Place | null = wanted.from;
  const oldest = wanted.from.depth - BRANCH_NODES_MAX; // what lies further back decides nothing
  while (next !== null && next.depth > oldest) {
    const page = await space.page({ conversation, from: next, limit: PAGE_NODES });
    for (const stored of page.entries) {
      const entry = decodeEntry(stored);
      if (texts.length >= wanted.count || entry.type === "reset") return { texts, stopped: "there" };
      if (entry.type === "message" && entry.message.role !== "toolResult") {
        if (wasCutOff(entry.message)) return { texts, stopped: "cut_off" };
        const said = saidBy(entry.message.role, entry.message);
        if (said.text !== "") texts.push(said);
      }
      if (entry.id === wanted.until) return { texts, stopped: "there" };
    }
    next = page.next;
  }
  return { texts, stopped: "there" };
}

/** The turns of a branch that one session carried, newest first, as far back as it is known and worth comparing. */
export async function readCarried(
  space: SpaceStore,
  conversation: ConversationId,
  wanted: { readonly from: Place; readonly link: LinkRecord; readonly facts: readonly Entry[] },
): Promise<readonly CarriedTurn[]> {
  const reader = new CarriedReader(wanted.link, wanted.facts, CARRIED_TEXTS_MAX);
  let next: Place | null = wanted.from;
  const oldest = wanted.from.depth - CARRIED_NODES_MAX;
  while (next !== null && !reader.done && next.depth > oldest) {
    const page = await space.page({ conversation, from: next, limit: PAGE_NODES });
    reader.take(page.entries.map((stored) => decodeEntry(stored)));
    next = page.next;
  }
  return reader.turns;
}

/** The answers that could come back: the branch's last ones, and the last ones the session itself gave. */
export async function oldAnswers(
  space: SpaceStore,
  conversation: ConversationId,
  at: { readonly leaf: Leaf; readonly near: Page; readonly lastNode: EntryId | null },
): Promise<readonly string[]> {
  const own =
    at.lastNode === null || at.lastNode === at.leaf.id ? null : await space.entry(conversation, at.lastNode);
  const pages = [at.near];
  if (own?.place) pages.push(await readNear(space, conversation, own.place));
  return pages.flatMap(({ entries }) => answersIn(entries.map((stored) => decodeEntry(stored))));
}

interface Unanswered {
  readonly prompt: EntryId;
  readonly before: Leaf;
  readonly content: readonly ContentBlock[];
  /** It was turned away and does not lie on the branch. */
  readonly aside: boolean;
}

/** The prompt the branch ends with, if it may be sent once more, and where the branch stood before it. */
export async function readUnanswered(
  space: SpaceStore,
  conversation: ConversationId,
  facts: readonly Entry[],
): Promise<Unanswered> {
  const { leaf } = await space.head(conversation);
  const beside = turnedAwayPrompt(facts);
  const away = beside === null ? null : decodeEntry(await space.entry(conversation, beside));
  if (away?.parentId === leaf.id) {
    const content = unansweredContent(away, { own: true, toolStarted: false, cameBack: false });
    return { prompt: away.id, before: leaf, content, aside: true };
  }
  // Another model may have been chosen since: that answers nothing.
  const lastModelNode = await space.entry(conversation, await readLastModelNode(space, conversation, leaf));
  const last = decodeEntry(lastModelNode);
  const started = await space.read({ conversation, after: last.seq, limit: 1, types: ["tool_intent"] });
  const own = lastModelNode.place?.conversation === conversation;
  const content = unansweredContent(last, {
    own,
    toolStarted: started.length > 0,
    cameBack: cameBack(last, facts),
  });
  const parent = last.parentId === null ? null : await space.entry(conversation, last.parentId);
  if (!parent?.place)
    throw new LogError("damaged", `The prompt ${last.id} has no parent`, { entry: last.id });
  const before = { ...parent.place, id: parent.id, tip: false };
  return { prompt: last.id, before, content, aside: false };
}

/** What an agent is asked to finish the reply with that the branch ends with; refused when there is none. */
export async function readGoOn(
  space: SpaceStore,
  conversation: ConversationId,
  facts: readonly Entry[],
): Promise<string> {
  const { leaf } = await space.head(conversation);
  const lastModelNode = await space.entry(conversation, await readLastModelNode(space, conversation, leaf));
  checkCutOff(decodeEntry(lastModelNode), facts);
  return GO_ON;
}
