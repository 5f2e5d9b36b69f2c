import { decodeEntry } from "#log/codec";
import type { Entry } from "#log/entry";
import { LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import { type Effect, EffectLedger } from "#log/projections/effects";
import { type Issue, openIssues, OpenStartFinder, START_TYPES } from "#log/projections/issues";
import type { SpaceStore } from "#store/facets";
import type { HeadView } from "#store/requests";
import { eachEntry, readLog } from "./read-log.ts";
import { readContextIssues } from "./reading.ts";
import type { ConversationReader } from "./conversation-reader.ts";
import { spaceOf } from "./on-space.ts";

const TYPES = ["tool_intent", "message"] as const;

export interface EffectsRequest {
  /** How many effects; all when absent. */
  readonly limit?: number;
  /** Where the page before ended; the first page when absent. */
  readonly cursor?: string;
}

/** A part of the ledger, in the order of the calls. */
export interface EffectsPage {
  readonly effects: readonly Effect[];
  /** Gives those after these; null at the end. */
  readonly cursor: string | null;
}

interface Start {
  readonly seq: number;
  readonly skip: number;
  /** The last entry that counts: later pages show the log as the first one found it. */
  readonly upTo: number;
  readonly recordsIntents: boolean;
}

/**
 * A page reads until the outcomes of its effects are known, so that it costs what its calls take in the log; one that has
 * an unknown outcome reads to the end. `onEntry` receives the entries about them.
 */
export async function readEffects(
  log: ConversationReader,
  request: EffectsRequest,
  onEntry: (entry: Entry) => unknown = () => undefined,
): Promise<EffectsPage> {
  const [space, conversation] = [spaceOf(log), log.id];
  const start = await readStart(space, conversation, request.cursor);
  if (start === null) return { effects: [], cursor: null };
  const { seq, skip, upTo, recordsIntents } = start;
  const end = skip + (request.limit ?? Number.POSITIVE_INFINITY);
  const ledger = new EffectLedger(recordsIntents);
  for await (const stored of readLog(space, conversation, { after: seq - 1, upTo, types: TYPES })) {
    const entry = decodeEntry(stored);
    ledger.add(entry);
    onEntry(entry);
    if (!Number.isFinite(end)) continue;
    const { effects, settled } = ledger.counts;
    if (effects > end && settled >= end) break;
  }
  const { effects } = ledger.counts;
  const next = effects > end ? ledger.restart(end) : null;
  return {
    effects: ledger.result().slice(skip, end),
    cursor: next === null ? null : `${next.seq}.${next.skip}.${upTo}`,
  };
}

/** Null where the head says that there is nothing to read. */
async function readStart(
  space: SpaceStore,
  conversation: ConversationId,
  cursor: string | undefined,
): Promise<Start | null> {
  const from = cursor === undefined ? null : readCursor(cursor);
  const { summary, headSeq } = await space.head(conversation);
  const counts = summary?.counts ?? null;
  if (counts !== null && counts.callsFrom === null) return null;
  const recordsIntents = counts?.hasIntents ?? (await hasIntents(space, conversation));
  return { seq: counts?.callsFrom ?? 1, skip: 0, upTo: headSeq, ...from, recordsIntents };
}

async function hasIntents(space: SpaceStore, conversation: ConversationId): Promise<boolean> {
  return (await space.read({ conversation, limit: 1, types: ["tool_intent"] })).length > 0;
}

function readCursor(cursor: string): Omit<Start, "recordsIntents"> {
  const [, seq = "", skip = "", upTo = ""] = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/.exec(cursor) ?? [];
  if (upTo === "")
    throw new LogError(
      "invalid_request",
      `Invalid cursor "${cursor}". Pass the cursor returned with the previous page.`,
      {
        cursor,
      },
    );
  return { seq: Number(seq), skip: Number(skip), upTo: Number(upTo) };
}

/** Turns and runs without an end are in the head, as long as it can name them; then what the context lacks. */
export async function readIssues(log: ConversationReader): Promise<readonly Issue[]> {
  const head = await log.head();
  const counts = head.summary?.counts ?? null;
  const open = counts === null || counts.more ? await findOpen(spaceOf(log), log.id) : openIssues(counts);
  return [...open, ...(await readIssuesInContext(log, head))];
}

/** A context lacks calls, results, or where a compaction begins: without any of these it is not read. */
export async function readIssuesInContext(
  log: ConversationReader,
  { summary, origin }: HeadView,
): Promise<readonly Issue[]> {
  const hasNoCalls = summary?.counts != null && summary.counts.callsFrom === null && origin === null;
  if (hasNoCalls && (await log.entries({ limit: 1, types: ["compaction"] })).length === 0) return [];
  return readContextIssues(spaceOf(log), log.id);
}

async function findOpen(space: SpaceStore, conversation: ConversationId): Promise<readonly Issue[]> {
  const finder = new OpenStartFinder();
  await eachEntry(space, conversation, { types: START_TYPES, onEntry: (entry) => finder.add(entry) });
  return finder.result();
}

/** A part of the issues. */
export interface IssuesPage {
  readonly issues: readonly Issue[];
  /** Gives those after these; null at the end. */
  readonly cursor: string | null;
}

export interface IssuesRequest {
  /** How many issues; all when absent. */
  readonly limit?: number;
  /** Where the page before ended; the first page when absent. */
  readonly cursor?: string;
}

export async function readIssuesPage(
  log: ConversationReader,
  { limit = Number.POSITIVE_INFINITY, cursor = "0" }: IssuesRequest,
): Promise<IssuesPage> {
  if (!/^\d{1,15}$/.test(cursor))
    throw new LogError(
      "invalid_request",
      `Invalid cursor "${cursor}". Pass the cursor returned with the previous page.`,
      {
        cursor,
      },
    );
  const issues = await readIssues(log);
  const end = Number(cursor) + limit;
  return { issues: issues.slice(Number(cursor), end), cursor: end < issues.length ? String(end) : null };
}
