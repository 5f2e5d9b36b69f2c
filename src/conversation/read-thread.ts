import { decodeEntry, presentEntry } from "#log/codec";
import type { Entry, EntryOf, EntryType, StoredEntry } from "#log/entry";
import { isLogError, LogError } from "#log/errors";
import { type ConversationId, type EntryId, parseEntryId } from "#log/ids";
import type { Place } from "#log/lineage/head";
import { type LiveTurn, liveTurnSince } from "#log/projections/live-turn";
import { CALL_REACH, callsIn, type ThreadFact, type ThreadNode } from "#log/projections/thread-rows";
import type { SpaceStore } from "#store/facets";
import type { HeadView, Page } from "#store/requests";
import { logsOnBranch } from "./branch-pages.ts";
import type { Conversation } from "./conversation.ts";
import type { Holdfast } from "./holdfast.ts";
import { spaceOf } from "./on-space.ts";

/** The facts that rows of a thread are made of. */
const FACT_TYPES = [
  "turn_start",
  "turn_end",
  "attempt",
  "upstream_link",
  "upstream_end",
  "tool_intent",
] as const satisfies readonly EntryType[];

const AROUND_NODES = 32; // read at once where a pair does not end in a page
const FACTS_PAGE = 500;
const GAP_SEQS = 1_000; // between two nodes; in a larger gap other branches lie
const GAP_FACTS = 200; // read at each end of such a gap
const LIVE_PAGES_MAX = 8;

interface BranchNode {
  readonly id: EntryId;
  readonly place: Place;
}

/** A branch by its last node, as the conversation was at a head. */
export interface ThreadBranch {
  readonly head: HeadView;
  readonly end: BranchNode;
  /** The node that is asked for; null: none is. */
  readonly around: BranchNode | null;
  /** The conversation continues at its end. */
  readonly isOwn: boolean;
}

/** A node by its id; rejects a fact. */
async function nodeAt(space: SpaceStore, conversation: ConversationId, entry: string): Promise<BranchNode> {
  const { id, place } = await space.entry(conversation, parseEntryId(entry));
  if (place !== null) return { id, place };
  throw new LogError(
    "invalid_request",
    `Entry ${id} is an annotation, such as a label, and not on a branch. Use the id of a message.`,
    { entry: id },
  );
}

/** Whether a branch passes through a node: it has that one at its place. */
async function isOnBranch(
  space: SpaceStore,
  conversation: ConversationId,
  end: Place,
  { id, place }: BranchNode,
): Promise<boolean> {
  if (place.depth > end.depth) return false;
  const { entries } = await space.page({ conversation, from: end, depth: place.depth, limit: 1 });
  return entries[0]?.id === id;
}

/** The branch to an end, or through an entry. An entry of another branch names that one, up to the end that `endOf` finds. */
export async function readThreadBranch(
  log: Conversation,
  { leaf, at }: { readonly leaf?: string | undefined; readonly at?: string | undefined },
  endOf: (entry: EntryId) => Promise<EntryId>,
): Promise<ThreadBranch> {
  const [space, conversation] = [spaceOf(log), log.id];
  const head = await log.head();
  const own = { id: head.leaf.id, place: head.leaf };
  const tip = leaf === undefined ? own : await nodeAt(space, conversation, leaf);
  const around = at === undefined ? null : await nodeAt(space, conversation, at);
  const isOn = around === null || (await isOnBranch(space, conversation, tip.place, around));
  const end = isOn ? tip : await nodeAt(space, conversation, await endOf(around.id));
  return { head, end, around, isOwn: end.id === own.id };
}

/** Nodes of a branch, the facts between them, and where the asked ones begin. */
export interface Stretch {
  readonly nodes: readonly ThreadNode[];
  readonly facts: readonly ThreadFact[];
  /** The index of the first node that was asked for; the others complete pairs and gaps. */
  readonly skip: number;
}

export async function readStretch(
  holdfast: Holdfast,
  branch: ThreadBranch,
  asked: { readonly first: number; readonly last: number },
): Promise<Stretch> {
  const space = spaceOf(holdfast);
  const { nodes, first, last } = await readNodes(space, branch, asked);
  const { conversation, origin } = branch.head;
  const end = branch.end.place;
  const { logs } = await logsOnBranch(space, { conversation, end }, { first, last }, origin);
  const parts = logs.map((log, at) => ({
    source: log.conversation === conversation ? null : log.conversation,
    from: log.from - first,
    until: (logs[at + 1]?.from ?? last + 1) - first,
  }));
  const placed = parts.flatMap(({ source, from, until }) =>
    nodes.slice(from, until).map(({ entry, hidden }): ThreadNode => ({ entry, hidden, source })),
  );
  const isWhole = last === end.depth;
  const facts: ThreadFact[] = [];
  for (const [at, part] of parts.entries()) {
    const isEnd = at === parts.length - 1 && isWhole && part.source === null;
    facts.push(...(await readFacts(space, branch, placed, { ...part, isEnd, isFirst: at === 0 })));
  }
  return { nodes: placed, facts, skip: asked.first - first };
}

/** A stretch of a branch as it is stored, and the logs that hold it. */
export async function readStoredStretch(
  log: Conversation,
  { head, end }: ThreadBranch,
  asked: { readonly first: number; readonly last: number },
): Promise<
  Awaited<ReturnType<typeof logsOnBranch>> & Pick<Page, "entries" | "hidden"> & { readonly first: number }
> {
  const space = spaceOf(log);
  const { last } = asked;
  const range = { conversation: log.id, from: end.place, depth: last, limit: last - asked.first + 1 };
  const page = await space.page(range);
  const entries = page.entries.toReversed();
  const first = last - entries.length + 1;
  const branch = { conversation: log.id, end: end.place };
  const logs = await logsOnBranch(space, branch, { first, last }, head.origin);
  return { entries, hidden: page.hidden, first, ...logs };
}

type PlainNode = Omit<ThreadNode, "source">;

/** The nodes that are asked for, the one before them, and those that their calls and results belong to. */
async function readNodes(
  space: SpaceStore,
  { head: { conversation }, end }: ThreadBranch,
  asked: { readonly first: number; readonly last: number },
): Promise<{ readonly nodes: readonly PlainNode[]; readonly first: number; readonly last: number }> {
  const read = async (from: number, until: number): Promise<readonly PlainNode[]> => {
    const limit = until - from + 1;
    const page = await space.page({ conversation, from: end.place, depth: until, limit });
    return page.entries.toReversed().map((stored) => ({
      entry: presentEntry(decodeEntry(stored)),
      hidden: page.hidden.has(stored.id),
    }));
  };
  let first = Math.max(0, asked.first - 1);
  let { last } = asked;
  const nodes = [...(await read(first, last))];
  while (first > 0 && asked.first - first < CALL_REACH && lacksCall(nodes)) {
    const from = Math.max(0, first - AROUND_NODES);
    nodes.unshift(...(await read(from, first - 1)));
    first = from;
  }
  while (last < end.place.depth && last - asked.last < CALL_REACH && lacksResult(nodes)) {
    const until = Math.min(end.place.depth, last + AROUND_NODES);
    nodes.push(...(await read(last + 1, until)));
    last = until;
  }
  return { nodes, first, last };
}

/** Whether it starts among results, or so that the sessions of its first node are unknown. */
function lacksCall(nodes: readonly PlainNode[]): boolean {
  const message = nodes.find(({ entry }) => entry.type === "message")?.entry;
  return (
    nodes[0]?.entry !== message || (message?.type === "message" && message.message.role === "toolResult")
  );
}

function lacksResult(nodes: readonly PlainNode[]): boolean {
  const at = nodes.findLastIndex(({ entry }) => callsIn(entry).length > 0);
  const answered = new Set(
    nodes
      .slice(at + 1)
      .flatMap(({ entry }) =>
        entry.type === "message" && entry.message.role === "toolResult" ? [entry.message.toolCallId] : [],
      ),
  );
  const made = nodes[at];
  return made !== undefined && callsIn(made.entry).some(({ id }) => !answered.has(id));
}

/** The part of a stretch that one log holds, by the indexes of its nodes. */
interface Part {
  readonly source: ConversationId | null;
  readonly from: number;
  readonly until: number;
  readonly isFirst: boolean;
  /** It holds the end of the branch. */
  readonly isEnd: boolean;
}

async function readFacts(
  space: SpaceStore,
  branch: ThreadBranch,
  nodes: readonly ThreadNode[],
  { source, from, until, isFirst, isEnd }: Part,
): Promise<readonly ThreadFact[]> {
  const { conversation, headSeq } = branch.head;
  const own = nodes.slice(from, until).map(({ entry }) => entry.seq);
  const [firstSeq, lastSeq] = [own[0], own.at(-1)];
  if (firstSeq === undefined || lastSeq === undefined) return [];
  const log = source ?? conversation;
  try {
    // A log that begins in the stretch is read from its beginning; else the turn that is under way at its first node.
    const after = isFirst ? await turnBefore(space, log, firstSeq) : 0;
    const seqs = [after, ...own, ...(isEnd ? [headSeq] : [])];
    const { facts, cuts } = await readBetween(space, log, seqs);
    const known = new Set<string>(nodes.map(({ entry }) => entry.id));
    const isOn = onBranch(space, branch, known);
    const found: ThreadFact[] = [];
    for (const fact of await factsOfBranch(facts, cuts, isOn)) {
      const at = own.findIndex((seq) => seq > fact.seq);
      found.push({ fact, source, before: at === -1 ? until : from + at });
    }
    return found;
  } catch (error) {
    // Of a source that was erased only the nodes are left.
    if (source !== null && isLogError(error, "conversation_not_found")) return [];
    throw error;
  }
}

async function turnBefore(space: SpaceStore, conversation: ConversationId, seq: number): Promise<number> {
  const types = ["turn_start"] as const;
  const [start] = await space.read({ conversation, types, newestFirst: true, after: seq, limit: 1 });
  return (start?.seq ?? seq) - 1;
}

interface FactsRead {
  readonly facts: readonly Entry[];
  /** The first facts after a place where some were left out. */
  readonly cuts: ReadonlySet<number>;
}

/** The facts between some seqs of a log. Of a large gap only both ends are read. */
async function readBetween(
  space: SpaceStore,
  conversation: ConversationId,
  seqs: readonly number[],
): Promise<FactsRead> {
  const facts: Entry[] = [];
  const cuts = new Set<number>();
  const add = (stored: readonly StoredEntry[]): void =>
    void facts.push(...stored.map((one) => presentEntry(decodeEntry(one))));
  const read = (after: number, until: number, limit: number): Promise<readonly StoredEntry[]> =>
    space.read({ conversation, types: FACT_TYPES, after, until, limit });
  let start = seqs[0] ?? 0;
  for (const [at, seq] of seqs.entries()) {
    const next = seqs[at + 1];
    const isGap = next !== undefined && next - seq > GAP_SEQS;
    if (next !== undefined && !isGap) continue;
    for (let after = start; after < seq;) {
      const page = await read(after, seq, FACTS_PAGE);
      add(page);
      after = page.length < FACTS_PAGE ? seq : (page.at(-1)?.seq ?? seq);
    }
    if (!isGap) continue;
    start = next;
    const begin = await read(seq, next, GAP_FACTS);
    add(begin);
    const known = begin.at(-1)?.seq ?? 0;
    if (begin.length < GAP_FACTS) continue;
    const limit = GAP_FACTS;
    const range = { conversation, types: FACT_TYPES, newestFirst: true, limit };
    const rest = (await space.read({ ...range, after: next + 1, until: known + 1 })).toReversed();
    add(rest);
    if (rest.length === limit && rest[0] !== undefined) cuts.add(rest[0].seq);
  }
  return { facts, cuts };
}

type IsOn = (node: EntryId) => Promise<boolean>;

function onBranch(space: SpaceStore, { head, end }: ThreadBranch, known: ReadonlySet<string>): IsOn {
  const { conversation } = head;
  const checked = new Map<string, boolean>();
  return async (node) => {
    if (known.has(node)) return true;
    const isOn =
      checked.get(node) ??
      (await nodeAt(space, conversation, node).then(
        (found) => isOnBranch(space, conversation, end.place, found),
        ifMissing,
      ));
    checked.set(node, isOn);
    return isOn;
  };
}

function ifMissing(error: unknown): boolean {
  if (!isLogError(error)) throw error;
  return false;
}

/** Without those of turns whose prompts are on other branches. */
async function factsOfBranch(
  facts: readonly Entry[],
  cuts: ReadonlySet<number>,
  isOn: IsOn,
): Promise<readonly Entry[]> {
  const turns = new Map<string, boolean>();
  const kept: Entry[] = [];
  let [isAway, isCut] = [false, false];
  for (const fact of facts) {
    if (cuts.has(fact.seq)) [isAway, isCut] = [true, true];
    if (fact.type === "turn_start") {
      isAway = fact.prompt !== undefined && !(await isOn(fact.prompt));
      isCut = false;
      turns.set(fact.turn, !isAway);
    }
    const turn = "turn" in fact && typeof fact.turn === "string" ? fact.turn : null;
    if (turn === null ? !isAway : (turns.get(turn) ?? !isCut)) kept.push(fact);
    if (fact.type === "turn_end") isAway = false;
  }
  return kept;
}

/** The place of the first node of a branch that a model is sent. */
export async function readSentFrom(log: Conversation, end: Place): Promise<number> {
  const [space, conversation] = [spaceOf(log), log.id];
  for (let from: Place | null = end; from !== null;) {
    const settings = ["compaction", "reset"] as const;
    const found = (await space.window({ conversation, from, limit: 0, settings })).settings;
    const [compaction, reset] = [found.get("compaction"), found.get("reset")];
    const floor = (reset?.place.depth ?? -1) + 1;
    if (compaction === undefined || compaction.place.depth < floor) return floor;
    const page = await space.page({ conversation, from: compaction.place, limit: 1 });
    if (!page.hidden.has(compaction.id))
      return Math.max(
        floor,
        await boundaryOf(space, conversation, {
          id: compaction.id,
          place: compaction.place,
          entry: decodeEntry(compaction) as EntryOf<"compaction">,
        }),
      );
    from = page.next;
  }
  return 0;
}

/** The place of the first entry that a compaction keeps; 0 where its branch does not have it. */
async function boundaryOf(
  space: SpaceStore,
  conversation: ConversationId,
  compaction: BranchNode & { readonly entry: EntryOf<"compaction"> },
): Promise<number> {
  const { firstKeptEntryId } = compaction.entry;
  if (firstKeptEntryId === undefined) return compaction.place.depth;
  const kept = await nodeAt(space, conversation, firstKeptEntryId).catch((error: unknown) => {
    if (!isLogError(error)) throw error;
    return null;
  });
  if (kept === null || !(await isOnBranch(space, conversation, compaction.place, kept))) return 0;
  return kept.place.depth;
}

const BEGUN = ["turn_start", "message", "attempt", "attempt_end"] as const;

/** What the open turn has said since its last message. */
export async function readLiveTurn(
  conversation: Conversation,
  headSeq: number,
  turn: string,
): Promise<LiveTurn> {
  const begun = await conversation.latest(BEGUN, headSeq + 1);
  const entries: Entry[] = [];
  let after = begun?.seq ?? headSeq;
  for (let pages = 0; pages < LIVE_PAGES_MAX && after < headSeq; pages++) {
    const types = ["update", "tool_intent"] as const;
    const page = await conversation.read({ types, after, until: headSeq, limit: FACTS_PAGE });
    entries.push(...page);
    after = page.length < FACTS_PAGE ? headSeq : (page.at(-1)?.seq ?? headSeq);
  }
  return liveTurnSince(turn, entries);
}
