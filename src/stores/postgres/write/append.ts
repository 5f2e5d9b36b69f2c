import type { Appended, AppendResult } from "#log/batch";
import type { StoredEntry } from "#log/entry";
import type { ConversationId, EntryId, SpaceId } from "#log/ids";
import { tailReads } from "#log/plans/boundary";
import { leaseAfter } from "#log/plans/lease";
import { changeHead, summaryAfter } from "#log/plans/head-change";
import {
  parentsOf,
  planAppend,
  refsOf,
  resultFrom,
  storedEntries,
  type WritePlan,
} from "#log/plans/plan-append";
import type { AppendRequest } from "#store/requests";
import type { Db } from "#stores/postgres/db";
import { conversationNotFound } from "#store/lookup-errors";
import { idBusy, isDuplicate, isLost } from "#stores/postgres/postgres-errors";
import { APPEND } from "#stores/postgres/tables/append-sql";
import { unpacked } from "#stores/postgres/tables/packed-plan";
import { readState, type State, summaryOut } from "#stores/postgres/tables/rows";
import type { HeadCache, LogEnd } from "./head-cache.ts";
import { batchValues, linkFields, namesSeqs } from "./batch.ts";
import { type LookupResult, lookUp } from "./lookup.ts";
import { checkEnd, endsAt } from "./log-end.ts";

const ROUNDS_MAX = 4; // others that wrote in between, each one a round trip; then the row is locked first
const LOCK = "select from @.conversations where space = $1 and id = $2 for no key update";
const IDS =
  "select id from @.entries where space = $1 and conversation = $2 and seq between $3 and $4 order by seq";

type Verdict = readonly [
  verdict: "written" | "deduped" | "stale" | "missing",
  state: string | null,
  fromSeq: number | null,
  toSeq: number | null,
  lastId: EntryId | null,
  digest: string | null,
];

export interface WriteContext {
  readonly db: Db;
  readonly space: SpaceId;
  readonly heads: HeadCache;
  /** A test's clock; null: that of the database. */
  readonly nowMs: () => number | null;
  /** A tail may wait for these entries. */
  readonly onWrite: (conversation: ConversationId, entries: readonly StoredEntry[]) => void;
  /** A tail does wait, and the database knows it. */
  readonly onAwaited: (conversation: ConversationId) => void;
}

/**
 * Plans from what is remembered of the head, and has the database carry the plan out if it still holds: one round trip. What
 * was remembered wrongly costs a lookup, and refuses nobody. Whoever is overtaken again and again locks the row first.
 */
export async function appendBatch(writing: WriteContext, request: AppendRequest): Promise<AppendResult> {
  const { heads, space } = writing;
  const { conversation, author } = request;
  // Owners of one conversation would only overtake each other; outside appends disturb no one.
  if (author.kind === "outside") return appendNow(writing, request);
  return heads.inTurn(space, conversation, () => appendNow(writing, request));
}

async function appendNow(writing: WriteContext, request: AppendRequest): Promise<AppendResult> {
  const { db, space, heads } = writing;
  const { conversation } = request;
  const isOwner = request.author.kind === "owner";
  const state = heads.get(space, conversation);
  const end = heads.end(space, conversation);
  const doubt: Doubt = { sentAfter: null };
  const isKnown = state !== undefined && (end === undefined || isOwner || endsAt(state, end));
  let from = isKnown ? withoutLookup(state, 0, request) : null;
  let fresh = false;
  for (let round = 0; round < ROUNDS_MAX; round++) {
    const tried = await tryAppend(writing, request, { from, fresh, doubt, end });
    if (tried.result !== null) return tried.result;
    heads.forget(space, conversation);
    from = tried.next;
    fresh = true;
  }
  return db.within(async (locked) => {
    await locked.write(LOCK, space, conversation);
    const round = { from: null, fresh: true, doubt, end };
    const tried = await tryAppend({ ...writing, db: locked }, request, round);
    if (tried.result !== null) return tried.result;
    throw idBusy(conversation);
  });
}

interface Doubt {
  /** The end of the log when a batch was sent whose outcome is unknown. */
  sentAfter: number | null;
}

interface Round {
  readonly from: LookupResult | null;
  /** The database said it in this append. */
  readonly fresh: boolean;
  readonly doubt: Doubt;
  readonly end: LogEnd | undefined;
}

/** One round: the result, or what the next one may be planned from. */
async function tryAppend(
  writing: WriteContext,
  request: AppendRequest,
  { from, fresh, doubt, end }: Round,
): Promise<{ readonly result: AppendResult | null; readonly next: LookupResult | null }> {
  const { db, space } = writing;
  const doubted = doubt.sentAfter !== null;
  const looked = from ?? (await lookUp(db, space, { ...request, doubted }, writing.nowMs()));
  const { state } = looked;
  const mine = doubt.sentAfter === null ? null : repeatedStart(looked, request, doubt.sentAfter);
  if (mine !== null) return { result: mine, next: null };
  const plan = planAppend({ ...looked, head: state.head, lease: state.lease }, request);
  if (plan.kind === "deduped") {
    const ids = await idsOf(writing, request.conversation, plan.result);
    return { result: { ...plan.result, ids }, next: null };
  }
  const isFresh = fresh || from === null;
  // An owner names the last batch that it knows itself.
  if (isFresh && request.author.kind !== "owner") await checkEnd(writing, state, end);
  if (plan.kind === "refused") {
    if (!isFresh) return { result: null, next: null };
    if (plan.error.code === "diverged") writing.heads.forgetEnd(space, request.conversation);
    throw plan.error;
  }
  try {
    const verdict = await send(writing, request, { state, plan, isFresh });
    if (verdict?.[0] === "written")
      return {
        result: cacheState(writing, { state, plan, request }, verdict),
        next: null,
      };
    // A miss does not say whether a batch in doubt has come in meanwhile: only a lookup does.
    const isDoubted = doubt.sentAfter !== null;
    return { result: null, next: verdict === null || isDoubted ? null : afterMiss(verdict, request) };
  } catch (error) {
    // An id or a key that another process has just written is checked by the rules against the current state.
    if (!isDuplicate(error) && !isLost(error)) throw error;
    if (isLost(error)) doubt.sentAfter ??= state.head.headSeq;
    return { result: null, next: null };
  }
}

const NOTHING = { positions: new Map(), settings: new Map(), tails: new Map(), mine: new Map() };

/** The state as what a plan is made from, where the batch refers to nothing that has to be looked up; else null. */
function withoutLookup(state: State, nowMs: number, { drafts }: AppendRequest): LookupResult | null {
  const { head } = state;
  // In a fork a new id may be that of an inherited node, which no unique index refuses.
  const own = new Set(head.origin === null ? drafts.map(({ id }) => id) : []);
  for (const id of refsOf(drafts)) if (id !== head.leaf.id && !own.has(id)) return null;
  if (parentsOf(head, drafts).size > 0 || tailReads(head, drafts).length > 0) return null;
  return { state, nowMs, seen: null, ...NOTHING };
}

/** What the database said in place of writing, as what the next plan is made from. */
function afterMiss(verdict: Verdict, request: AppendRequest): LookupResult | null {
  const [kind, text, fromSeq, toSeq, lastId, digest] = verdict;
  if (kind === "missing" || text === null) throw conversationNotFound(request.conversation);
  const state = readState(text);
  if (kind === "stale") return withoutLookup(state, fromSeq ?? 0, request);
  const seen = { fromSeq: fromSeq ?? 0, toSeq: toSeq ?? 0, lastId: lastId ?? "", digest: digest ?? "" };
  return { state, nowMs: 0, seen, ...NOTHING };
}

/** The batch itself, found in the log after its connection was cut: it was written, and by this call. */
function repeatedStart(
  { mine, state }: LookupResult,
  { drafts }: AppendRequest,
  sentAfter: number,
): AppendResult | null {
  const ids = drafts.map(({ id }) => id);
  const from = mine.get(ids[0] ?? "");
  if (from === undefined || from <= sentAfter) return null;
  if (!ids.every((id, index) => mine.get(id) === from + index)) return null;
  return resultFrom(ids, from, state.head.ownerLink);
}

async function send(
  writing: WriteContext,
  request: AppendRequest,
  { state, plan, isFresh }: { readonly state: State; readonly plan: WritePlan; readonly isFresh: boolean },
): Promise<Verdict | null> {
  const { db, space } = writing;
  const { head } = state;
  const { change, basis } = plan;
  const { leaf } = change;
  const summary = summaryAfter(head, change);
  const changed = summary !== head.summary;
  const write = { space, conversation: request.conversation, head, plan, batch: request };
  // The cache must cover the whole log: only then is it certain that nothing was lost since.
  const isBound = namesSeqs(write) || (!isFresh && request.author.kind !== "owner");
  const values = batchValues(write, {
    relaxed: request.durability === "relaxed",
    born: state.born,
    epoch: basis?.epoch,
    ownerSeq: basis?.ownerSeq,
    ownerLink: basis?.ownerLink,
    unleased: request.author.kind === "once",
    summarySeq: changed ? state.summarySeq : null,
    headSeq: isBound ? head.headSeq : null,
    newEpoch: change.epoch,
    leafId: leaf?.id,
    leafConversation: leaf?.conversation === head.conversation ? null : leaf?.conversation,
    leafSegment: leaf?.segment,
    leafDepth: leaf?.depth,
    leafTip: leaf === undefined ? null : leaf.tip ? "t" : "f",
    segments: change.segments,
    updatedAt: change.updatedAt,
    summary: changed ? summaryOut(summary) : null,
    nowMs: writing.nowMs(),
    releases: request.author.kind === "owner" && request.author.releases,
    ...linkFields(head, plan),
  });
  const [answer] = await db.writeCall<[string]>(APPEND, ...values);
  return answer === undefined ? null : verdictIn(answer[0]);
}

/** What the database said, part by part; a part that is empty was not said. */
function verdictIn(answer: string): Verdict {
  const [kind = "", ...fields] = unpacked(answer);
  const [one = "", two = "", three = "", four = "", five = ""] = fields.map((part) => part || null);
  switch (kind) {
    case "written":
      return [kind, five, Number(one), four === null ? null : Number(four), two, three];
    case "deduped":
      return [kind, five, Number(one), Number(two), three, four];
    case "stale":
      return [kind, two, Number(one), null, null, null];
    default:
      return ["missing", null, null, null, null, null];
  }
}

/** The head after the batch: from the plan where no other append came in between, else from the database. */
function cacheState(
  { heads, space, onWrite, onAwaited }: WriteContext,
  { state, plan, request }: PlannedAppend,
  [, text, headSeq, awaitedSeq, link, ownerLink]: Verdict,
): AppendResult {
  const after = text === null ? planned({ state, plan, request }, link ?? "") : readState(text);
  heads.keep(space, after);
  if (request.durability === "full") heads.keepEnd(space, after);
  const ids = plan.entries.map(({ id }) => id);
  const fromSeq = (headSeq ?? after.head.headSeq) - ids.length + 1;
  onWrite(after.head.conversation, storedEntries(plan, fromSeq - 1));
  if (awaitedSeq !== null) onAwaited(after.head.conversation);
  return resultFrom(ids, fromSeq, ownerLink);
}

interface PlannedAppend {
  readonly state: State;
  readonly plan: WritePlan;
  readonly request: AppendRequest;
}

function planned({ state, plan: { change }, request }: PlannedAppend, link: string): State {
  const head = changeHead(state.head, change, link);
  const summarySeq = head.summary === state.head.summary ? state.summarySeq : head.headSeq;
  return { ...state, head, summarySeq, lease: leaseAfter(state.lease, request.author) };
}

export async function idsOf(
  { db, space }: WriteContext,
  conversation: ConversationId,
  { fromSeq, toSeq }: Appended,
): Promise<readonly EntryId[]> {
  return (await db.read<[EntryId]>(IDS, space, conversation, fromSeq, toSeq)).map(([id]) => id);
}
