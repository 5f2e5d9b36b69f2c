import { isLogError } from "#log/errors";
import { summaryChange } from "#log/entry-types";
import { SummaryCounter } from "#log/projections/summary-of";
import type { LastTurn, Summary } from "#log/summary";
import { nodesLabelled } from "./find-named.ts";
import { checkLimit } from "./history-pages.ts";
import { eachEntry } from "./read-log.ts";
import type { LeaseView } from "#log/lineage/head";
import { type ConversationId, parseConversationId } from "#log/ids";
import type { HeadView, ConversationRow } from "#store/requests";
import type { SpaceStore } from "#store/facets";
import type { ConversationReader } from "./conversation-reader.ts";
import type { Holdfast } from "./holdfast.ts";

const LIMIT = 50;
const LOOKED_AT = 100;

/** Of the last turn. `limited`: whoever carried it said when it is free again. `damaged`: nobody can say. */
type LastTurnKind = "none" | "open" | "completed" | "interrupted" | "failed" | "limited" | "damaged";

/** Which conversations of a list are meant; what is left out does not matter. */
export interface ListFilter {
  /** The id starts with this. */
  readonly prefix?: string;
  /** The id ends with this. */
  readonly suffix?: string;
  /** The folder it is about, as it was written. */
  readonly cwd?: string;
  /** The folder it is about is this one or below it. */
  readonly under?: string;
  /** The title holds this, whatever the case. */
  readonly title?: string;
  /** Changed at or after this time. */
  readonly since?: string;
  /** Whether it is a fork. */
  readonly fork?: boolean;
  /** It is a fork of this conversation, made of it and not of another fork of it. */
  readonly forkOf?: string;
  /** Whether its metadata say that it is archived. */
  readonly archived?: boolean;
  /** Its metadata have this tag. */
  readonly tag?: string;
  /** Who carried it last. */
  readonly agent?: string;
  /** The model that was chosen last, or that replied last while none was. */
  readonly model?: string;
  /** How its last turn stands: one of these. */
  readonly turns?: readonly LastTurnKind[];
  /** It has cost at least so many microdollars. */
  readonly costMicros?: number;
  /** Whether it went on in another upstream session at some time. */
  readonly rolled?: boolean;
  /** One of its entries carries this label. */
  readonly label?: string;
  /** True: only those that are kept for a program, which are left out otherwise. */
  readonly unlisted?: boolean;
}

export interface ListPageRequest {
  /** How many; 50 unless given. */
  readonly limit?: number;
  /** Where the page before ended; the first page when absent. */
  readonly cursor?: string;
  readonly filter?: ListFilter;
}

export interface ListPage {
  readonly conversations: readonly ConversationRow[];
  /** Gives the page after this; null when there is none. */
  readonly cursor: string | null;
}

function matches(listed: ConversationRow, filter: ListFilter): boolean {
  const { suffix, cwd, under, title, since, fork, forkOf } = filter;
  return (
    (suffix === undefined || listed.conversation.endsWith(suffix)) &&
    (cwd === undefined || listed.cwd === cwd) &&
    (under === undefined || isUnder(listed.cwd, under)) &&
    (title === undefined || (listed.title ?? "").toLowerCase().includes(title.toLowerCase())) &&
    (since === undefined || Date.parse(listed.updatedAt) >= Date.parse(since)) &&
    (fork === undefined || (listed.origin !== null) === fork) &&
    (forkOf === undefined || listed.origin?.conversation === forkOf)
  );
}

/** Whether a folder is this one or below it. */
export function isUnder(cwd: string | null, folder: string): boolean {
  const top = folder.replace(/(?<![/\\])[/\\]+$/, "");
  return (
    cwd === folder ||
    cwd === top ||
    cwd?.startsWith(`${top}/`) === true ||
    cwd?.startsWith(`${top}\\`) === true
  );
}

/** Those of a page that are meant. What was never counted is counted, where a filter asks for it. */
export async function filterListed(
  space: SpaceStore,
  page: readonly ConversationRow[],
  filter: ListFilter,
): Promise<readonly ConversationRow[]> {
  const some = page.filter((listed) => matches(listed, filter));
  const { archived, tag, agent, model, turns, costMicros, rolled, label } = filter;
  const counted = [archived, tag, agent, model, turns, costMicros, rolled];
  const isCounted = counted.some((condition) => condition !== undefined);
  if (!isCounted && label === undefined) return some;
  const rows: ConversationRow[] = [];
  for (const listed of some) {
    if (label !== undefined && !(await isLabelled(space, listed.conversation, label))) continue;
    if (!isCounted) {
      rows.push(listed);
      continue;
    }
    const summary = listed.summary ?? (await countedIfReadable(space, listed.conversation));
    const { tags = [], archived: isArchived = false } = summary?.metadata ?? {};
    if (
      (archived === undefined || isArchived === archived) &&
      (tag === undefined || tags.includes(tag)) &&
      (agent === undefined || summary?.agent === agent) &&
      (model === undefined || summary?.model === model) &&
      (turns === undefined || turns.includes(lastTurnKind(listed, summary))) &&
      (costMicros === undefined || (summary?.usage.costMicros ?? 0) >= costMicros) &&
      (rolled === undefined || (summary?.rollovers ?? 0) > 0 === rolled)
    )
      rows.push(listed.summary === summary ? listed : { ...listed, summary });
  }
  return rows;
}

function lastTurnKind({ damage }: ConversationRow, summary: Summary | null): LastTurnKind {
  if (damage !== null || summary === null) return "damaged";
  const { turn } = summary;
  if (turn === null) return "none";
  if (turn.state === "open") return "open";
  return turn.outcome !== "completed" && turn.resetAt !== null ? "limited" : turn.outcome;
}

/** What appends keep of a conversation, counted from its log: for one from before they did. */
export async function readSummary(space: SpaceStore, conversation: ConversationId): Promise<Summary> {
  const counter = new SummaryCounter();
  await eachEntry(space, conversation, { onEntry: (entry) => counter.add(entry) });
  return counter.result((await space.head(conversation)).segments);
}

async function countedIfReadable(space: SpaceStore, conversation: ConversationId): Promise<Summary | null> {
  try {
    return await readSummary(space, conversation);
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return null;
  }
}

async function isLabelled(space: SpaceStore, conversation: ConversationId, label: string): Promise<boolean> {
  try {
    return (await nodesLabelled(space, conversation, label)).length > 0;
  } catch (error) {
    if (!isUnreadable(error)) throw error;
    return false;
  }
}

function isUnreadable(error: unknown): boolean {
  return isLogError(error) && (error.group === "damaged" || error.group === "missing");
}

/** One page of a list, the most recently changed first, without reading a body. */
export async function readListPage(space: SpaceStore, request: ListPageRequest): Promise<ListPage> {
  const { limit = LIMIT, filter = {} } = request;
  checkLimit(limit);
  const conversations: ConversationRow[] = [];
  let cursor: string | null = request.cursor ?? null;
  const look = (count: number): ReturnType<SpaceStore["list"]> =>
    space.list({
      limit: count,
      ...(cursor === null ? {} : { after: cursor }),
      ...(filter.prefix === undefined ? {} : { prefix: filter.prefix }),
      ...(filter.forkOf === undefined ? {} : { forkOf: parseConversationId(filter.forkOf) }),
      unlisted: filter.unlisted === true,
    });
  do {
    let page = await look(LOOKED_AT);
    const wanted = limit - conversations.length;
    let rows = await filterListed(space, page.conversations, filter);
    const last = rows[wanted - 1]?.conversation;
    if (last !== undefined) {
      // A page ends where the next one begins, so what was looked at beyond the last is looked at again.
      page = await look(page.conversations.findIndex(({ conversation }) => conversation === last) + 1);
      rows = await filterListed(space, page.conversations, filter);
    }
    conversations.push(...rows.slice(0, wanted));
    cursor = page.next;
  } while (cursor !== null && conversations.length < limit);
  return { conversations, cursor };
}

/** A turn that was begun and has not ended: it runs now, or whoever ran it is gone. */
export interface OpenTurn {
  readonly conversation: ConversationId;
  readonly turn: string;
  /** The entry that holds the prompt, where the turn names one. */
  readonly prompt: string | null;
  readonly since: string;
  /** Who took the conversation for it, and until when; once that is over, the turn was cut off. */
  readonly lease: LeaseView | null;
}

/** The open turn of a conversation at its head; null when there is none. */
export async function openTurnAt(
  log: ConversationReader,
  { conversation, lease, summary }: HeadView,
): Promise<OpenTurn | null> {
  const last = summary === null ? await readLastTurn(log) : summary.turn;
  if (last?.state !== "open") return null;
  const { turn, prompt, since } = last;
  return { conversation, turn, prompt, since, lease };
}

/** The latest fact about turns, where no append has kept it. */
export async function readLastTurn(log: ConversationReader): Promise<LastTurn | null> {
  const entry = await log.latest(["turn_start", "turn_end"]);
  return entry === null ? null : (summaryChange(entry.type, entry, entry.time)?.turn ?? null);
}

/** The open turns of a space, by the list where it knows them: for a host that starts again. */
export async function* readOpenTurns(holdfast: Holdfast): AsyncGenerator<OpenTurn> {
  for await (const { conversation, summary } of holdfast.listAll()) {
    if (summary !== null && summary.turn?.state !== "open") continue;
    try {
      const open = await holdfast.handle(conversation).openTurn();
      if (open !== null) yield open;
    } catch (error) {
      // What cannot be read is for the doctor; it does not keep the others from being found.
      if (!isUnreadable(error)) throw error;
    }
  }
}
