import { entryDigest, LinkCheck } from "#log/batch-links";
import { decodeEntry } from "#log/codec";
import { isLogError } from "#log/errors";
import type { ConversationId, SpaceId } from "#log/ids";
import { RunFolder } from "#log/runs/run-folder";
import type { CheckRequest, Finding, StoreHealth } from "#store/requests";
import { sha256 } from "#store/sha256";
import { runRowProblem, unprovenNote } from "#store/check-findings";
import type { Db, Session } from "./db.ts";
import { toLogError } from "./postgres-errors.ts";
import { ENTRY_COLUMNS, type EntryRow, readState, type State, toStored } from "./tables/rows.ts";
import { readSchemaState } from "./tables/migrations.ts";
import { type FencedTable, fencedTables, isFenced } from "./tables/row-security.ts";

const IDS = "select id from @.conversations where space = $1 order by id";
const STATE = "select row_to_json(c)::text from @.conversations c where c.space = $1 and c.id = $2";
const ENTRIES = `select ${ENTRY_COLUMNS}, link, by_owner from @.entries
  where space = $1 and conversation = $2 and seq > $3 order by seq limit 500`;
const RUNS = "select seq, finished from @.runs where space = $1 and conversation = $2";
const NODE = `select ${ENTRY_COLUMNS} from @.entries
  where space = $1 and conversation = $2 and segment = $3 and depth = $4`;
/**
 * The first entry whose parent does not precede it on its branch. By its place, as a branch is read: what is kept of an
 * erased fork may have lost the entry it was forked at.
 */
const ORPHAN = `select e.seq, e.id, e.parent from @.entries e
left join @.segments s on s.space = $1 and s.conversation = $2 and s.segment = e.segment
where e.space = $1 and e.conversation = $2 and e.parent is not null
  and not exists (select from @.entries p where p.space = $1 and p.conversation = $2 and p.segment = e.segment
    and p.depth = e.depth - 1 and p.id = e.parent)
  and not exists (select from @.entries p where p.space = $1 and p.conversation = s.ancestor_conversation
    and p.segment = s.ancestor_segment and p.depth = e.depth - 1 and p.depth = s.ancestor_depth and p.id = e.parent)
order by e.seq limit 1`;
const FORGET_WORDS = "delete from @.search where space = $1";
const FORGET_MARKS = "delete from @.search_marks where space = $1";
const ALL_BEHIND =
  "update @.conversations set indexed_seq = null where space = $1 and indexed_seq is not null";

/** Every entry of a space, log by log, each of one moment. A repair throws the search index away, which fills again. */
export async function checkSpace(
  db: Db,
  space: SpaceId,
  { repair, onProgress }: CheckRequest,
): Promise<readonly Finding[]> {
  const ids = await db.read<[ConversationId]>(IDS, space);
  const findings: Finding[] = [];
  for (const [index, [id]] of ids.entries()) {
    findings.push(
      ...(await db.transaction(
        (session) => checkLog(session, space, id),
        "begin isolation level repeatable read read only",
      )),
    );
    onProgress?.(index + 1, ids.length);
  }
  if (repair)
    await db.transaction(async (session) => {
      await session.query(FORGET_WORDS, [space]);
      await session.query(FORGET_MARKS, [space]);
      await session.query(ALL_BEHIND, [space]);
    });
  return findings;
}

function damage(conversation: ConversationId, message: string, reachableSeq: number): readonly Finding[] {
  return [{ conversation, severity: "damage", message, position: null, reachableSeq, repaired: false }];
}

/** The first thing wrong with a log: whatever comes after it cannot be trusted to be reached. */
async function checkLog(
  session: Session,
  space: SpaceId,
  conversation: ConversationId,
): Promise<readonly Finding[]> {
  const [row] = await session.query(STATE, [space, conversation]);
  if (row === undefined) return [];
  const state = readState(String(row[0]));
  const { head, listed } = state;
  const log = { session, space, state };
  const walked = await walk(log);
  if (walked.wrong !== null) return damage(conversation, walked.wrong, walked.reachable);
  const { after, links, folder } = walked;
  if (after !== head.headSeq)
    return listed
      ? damage(conversation, `The log ends at entry ${after} instead of ${head.headSeq}`, after)
      : [];
  const wrong = links.end(head);
  if (wrong !== null) return damage(conversation, wrong, links.soundSeq);
  const miscounted = listed ? await checkRuns(log, folder) : null;
  if (miscounted !== null) return damage(conversation, miscounted, after);
  return listed ? unprovenNote(conversation, links.unprovenSeq) : [];
}

interface Log {
  readonly session: Session;
  readonly space: SpaceId;
  readonly state: State;
}

interface Walked {
  readonly wrong: string | null;
  readonly reachable: number;
  readonly after: number;
  readonly links: LinkCheck;
  readonly folder: RunFolder;
}

async function walk(log: Log): Promise<Walked> {
  const { session, space, state } = log;
  const { conversation } = state.head;
  const links = new LinkCheck(sha256, await firstLinkStart(log));
  const folder = new RunFolder();
  let after = 0;
  const ended = (wrong: string | null, reachable: number = after): Walked => ({
    wrong,
    reachable,
    after,
    links,
    folder,
  });
  const [orphan] = await session.query(ORPHAN, [space, conversation]);
  for (;;) {
    const rows = await session.query(ENTRIES, [space, conversation, after]);
    for (const row of rows) {
      const stored = toStored(row.slice(0, 7) as unknown as EntryRow);
      const [link, byOwner] = row.slice(7) as [string | null, boolean | null];
      // The rest of an erased conversation has gaps by design.
      if (state.listed && stored.seq !== after + 1) return ended(`Entry ${after + 1} is missing`);
      try {
        folder.add(decodeEntry(stored));
      } catch (error) {
        if (!isLogError(error)) throw toLogError(error, "the database");
        return ended(error.message);
      }
      const changed = links.add(stored, link === null ? null : { link, byOwner: byOwner === true });
      if (changed !== null) return ended(changed, links.soundSeq);
      if (orphan?.[0] === stored.seq)
        return ended(`The parent ${String(orphan[2])} of entry ${stored.seq} (${stored.id}) is missing`);
      after = stored.seq;
    }
    if (rows.length === 0) return ended(null);
  }
}

/** A fork's first link continues the digest of the node it grew from; the rest of an erased log starts again. */
async function firstLinkStart({ session, space, state }: Log): Promise<string> {
  const { origin } = state.head;
  if (origin === null || !state.listed) return "";
  const { conversation, segment, depth } = origin;
  const [node] = await session.query(NODE, [space, conversation, segment, depth]);
  return node === undefined ? "" : entryDigest(sha256, toStored(node as unknown as EntryRow));
}

/** Whether the rows of runs are those that the log gives. */
async function checkRuns({ session, space, state }: Log, folder: RunFolder): Promise<string | null> {
  const starts = await session.query(RUNS, [space, state.head.conversation]);
  const rows = new Map(starts.map(([seq, finished]) => [Number(seq), finished as string | null]));
  return runRowProblem(rows, folder);
}

/** A role without pg_read_all_stats sees its own connections only. */
const HEALTH = `select pg_is_in_recovery(), current_setting('server_version'),
  (extract(epoch from clock_timestamp()) * 1000)::int8,
  coalesce((select (extract(epoch from max(clock_timestamp() - xact_start)) * 1000)::int8 from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'), 0)`;

type HealthRow = readonly [standby: boolean, server: string, nowMs: number, idleMs: number];

/** Tried once: a health check must not wait for retries. */
export async function readHealth(db: Db, nowMs: () => number): Promise<StoreHealth> {
  const connections = db.counts;
  const counted = connections === null ? {} : { connections };
  const once = db.with({ tries: 1 });
  try {
    const before = nowMs();
    const [row] = await once.read<HealthRow>(HEALTH);
    const middle = (before + nowMs()) / 2;
    const schema = await readSchemaState(once);
    if (row === undefined || schema === null)
      return { reachable: false, problem: `${db.place}: The tables do not exist`, ...counted };
    const [standby, server, serverMs, idleTransactionMs] = row;
    return {
      reachable: true,
      problem: null,
      role: standby ? "standby" : "primary",
      server: `PostgreSQL ${server}`,
      schemaVersion: schema.version,
      clockAheadMs: Math.round(serverMs - middle),
      idleTransactionMs,
      ...counted,
    };
  } catch (error) {
    return { reachable: false, problem: db.explain(error).message, ...counted };
  }
}

const ROLE = "select rolname::text, rolsuper, rolbypassrls from pg_roles where rolname = current_user";

export interface Fence {
  readonly role: string;
  readonly superuser: boolean;
  readonly bypasses: boolean;
  readonly tables: readonly FencedTable[];
  /** Whether the store was opened with the wish for it. */
  readonly wanted: boolean;
}

/** Why row security does not hold where it is expected to; empty where it is not expected. */
export function fenceNotes({ role, superuser, bypasses, tables, wanted }: Fence): readonly string[] {
  if (!wanted && !tables.some(({ enabled }) => enabled)) return [];
  const notes: string[] = [];
  if (superuser)
    notes.push(
      `Row security has no effect: role ${role} is a superuser and sees every space. Connect as an ordinary role.`,
    );
  else if (bypasses)
    notes.push(
      `Row security has no effect: role ${role} has BYPASSRLS. Remove it: alter role ${role} nobypassrls`,
    );
  const off = tables.filter(({ enabled }) => !enabled);
  if (off.length > 0) notes.push(`Row security is not enabled for ${namesOf(off)}. ${OPEN_ONCE}`);
  const unforced = tables.filter(({ enabled, forced }) => enabled && !forced);
  if (unforced.length > 0)
    notes.push(
      `Row security is not forced for ${namesOf(unforced)}, so it has no effect for ${
        unforced.some(({ owned }) => owned) ? `role ${role}, their owner` : "their owner"
      }. ${OPEN_ONCE}`,
    );
  const bare = tables.filter((table) => table.enabled && table.forced && !isFenced(table));
  if (bare.length > 0)
    notes.push(
      `Row security has no policy for ${namesOf(bare)}, so their rows are hidden from every role. ${OPEN_ONCE}`,
    );
  return notes;
}

const OPEN_ONCE = "Open the store once for writing, as the owner of the tables, with rowSecurity";

function namesOf(tables: readonly FencedTable[]): string {
  return tables.map(({ name }) => name).join(", ");
}

export async function checkFence(db: Db, wanted: boolean): Promise<readonly Finding[]> {
  const [row] = await db.read<[string, boolean, boolean]>(ROLE);
  const [role = "", superuser = false, bypasses = false] = row ?? [];
  const tables = await fencedTables((text, values) => db.read(text, ...values), db.schema);
  return fenceNotes({ role, superuser, bypasses, tables, wanted }).map((message) => ({
    conversation: null,
    severity: "note",
    message,
    position: null,
    reachableSeq: null,
    repaired: false,
  }));
}
