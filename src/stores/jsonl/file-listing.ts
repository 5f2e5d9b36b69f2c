import { isLogError, type LogError } from "#log/errors";
import type { ConversationId, EntryId } from "#log/ids";
import type { LogRow } from "#stores/indexed/indexed-log";
import { readStoredSummary } from "#log/summary";
import { isWhole } from "./file/diagnose.ts";
import { type DiskFile, type FileStat, onDisk } from "./disk/disk.ts";
import {
  type CommitRecord,
  headSummary,
  isCommitLine,
  parseCommit,
  parseEnvelope,
  SUMMARY_CHARS_MAX,
} from "./file/framing.ts";
import { type LogLocation, logPath } from "./file-names.ts";
import type { JsonlLog } from "./jsonl-log.ts";

const TAIL_BYTES = 16_384; // holds the last commit line whatever its title, cwd and key are
const TAIL_BYTES_MAX = TAIL_BYTES + 4 * SUMMARY_CHARS_MAX; // and whatever its summary is, which is mostly short
const LISTED_MAX = 50_000; // summaries of unchanged files, so that a second list costs one stat per file; some 40 MB
const ATTEMPTS_MAX = 4; // each one lost means that the file went or was replaced in between
const SHORT_BYTES = 65_536;
const START_BYTES = 512; // holds the first line's envelope

/** What lists say of each conversation, kept for as long as its file does not change. */
export class Listings {
  readonly #rows = new Map<string, { readonly stat: FileStat; readonly listed: LogRow }>();

  /** Null when there is no such conversation. A known damage is reported with it. */
  async of(
    location: LogLocation,
    damage: LogError | null,
    open: () => Promise<JsonlLog | null>,
  ): Promise<LogRow | null> {
    for (let attempt = 1; ; attempt++) {
      let stat: FileStat | null = null;
      try {
        stat = await onDisk(`listing conversation ${location.conversation}`, () =>
          location.disk.stat(logPath(location)),
        );
        if (stat !== null) return await this.#readRow(location, stat, { damage, open });
        this.forget(logPath(location));
        return null;
      } catch (error) {
        if (!isLogError(error) || error.code === "busy") throw error;
        if (error.code !== "store_gone")
          return listedUnread(location.conversation, stat?.modifiedMs ?? 0, error);
        // Erased while it was looked at, or replaced: the next look tells.
        if (attempt >= ATTEMPTS_MAX) throw error;
      }
    }
  }

  forget(path: string): void {
    this.#rows.delete(path);
  }

  async #readRow(
    location: LogLocation,
    stat: FileStat,
    source: { readonly damage: LogError | null; readonly open: () => Promise<JsonlLog | null> },
  ): Promise<LogRow | null> {
    const { damage, open } = source;
    const cached = this.#rows.get(logPath(location));
    const row =
      cached !== undefined && isSame(cached.stat, stat)
        ? cached.listed
        : await onDisk(`listing conversation ${location.conversation}`, () =>
            this.#look(location, stat, open),
          );
    return row === null || damage === null ? row : { ...row, damage: damage.message };
  }

  async #look(
    location: LogLocation,
    stat: FileStat,
    open: () => Promise<JsonlLog | null>,
  ): Promise<LogRow | null> {
    const { conversation, disk } = location;
    await using file = await disk.open(logPath(location), "read");
    const ends = await listedFromEnds(await inMemory(file, stat.size), conversation);
    if (ends === null) return await withLastOrigin(file, listedFromLog(await open(), stat));
    // A full cache stays as it is: a list reads all entries, so any entry removed now would be needed next.
    if (this.#rows.size < LISTED_MAX || this.#rows.has(logPath(location)))
      this.#rows.set(logPath(location), { stat, listed: ends });
    return ends;
  }
}

type ReadFile = Pick<DiskFile, "stat" | "read">;

/** A short file is read once, instead of at both ends and again for its sums. */
async function inMemory(file: DiskFile, size: number): Promise<ReadFile> {
  if (size > SHORT_BYTES) return file;
  const stat = await file.stat();
  const bytes = await file.read(0, stat.size);
  return { stat: async () => stat, read: async (offset, length) => bytes.subarray(offset, offset + length) };
}

function isSame(left: FileStat, right: FileStat): boolean {
  return left.identity === right.identity && left.size === right.size && left.modifiedMs === right.modifiedMs;
}

/**
 * What a list says of a conversation, from its first bytes and its last commit. Null when those do not tell: the
 * file ends in an unfinished batch or is damaged there, and has to be read.
 */
async function listedFromEnds(file: ReadFile, conversation: ConversationId): Promise<LogRow | null> {
  const { size } = await file.stat();
  const opening = Buffer.from(await file.read(0, Math.min(START_BYTES, size)));
  // Only the envelope is looked at, so the line may end anywhere.
  if (parseEnvelope(Buffer.concat([opening, Buffer.from("}")]))?.type !== "conversation") return null;
  const last = await commitEndingAt(file, size);
  if (last === null) return null;
  // Batches that may not have been on the disk yet when the last one was written can be broken while it is whole.
  let end: EndCommit | null = last;
  while (end !== null && (await isWhole(file, end.offset, end.line, end.commit))) {
    const start: number = end.offset - end.commit.bytes;
    if (start <= last.commit.synced || start === 0) return listed(conversation, last.commit);
    const { prev }: CommitRecord = end.commit;
    const before: EndCommit | null = await commitEndingAt(file, start);
    end = before?.commit.sum === prev ? before : null;
  }
  return null;
}

interface EndCommit {
  readonly offset: number;
  readonly line: Buffer;
  readonly commit: CommitRecord;
}

/** The commit line whose line break is the last byte before `end`. */
async function commitEndingAt(
  file: ReadFile,
  end: number,
  bytes: number = TAIL_BYTES,
): Promise<EndCommit | null> {
  const from = Math.max(0, end - bytes);
  const tail = Buffer.from(await file.read(from, end - from));
  if (tail.at(-1) !== 10) return null;
  const lineAt = tail.lastIndexOf(10, tail.length - 2) + 1;
  if (lineAt === 0 && from > 0 && bytes < TAIL_BYTES_MAX) return commitEndingAt(file, end, TAIL_BYTES_MAX);
  const line = tail.subarray(lineAt, -1);
  const commit = isCommitLine(line) ? parseCommit(line) : null;
  return commit === null ? null : { offset: from + lineAt, line, commit };
}

function listed(conversation: ConversationId, commit: CommitRecord): LogRow {
  const { title, cwd, createdAt, updatedAt, leaf, origin } = commit;
  return {
    conversation,
    title,
    cwd,
    createdAt,
    updatedAt,
    headSeq: commit.to,
    leaf,
    origin,
    summary: commit.summary === undefined ? null : readStoredSummary(commit.summary),
    damage: null,
    erased: commit.erased === true,
  };
}

/** What a list says of a conversation that had to be read. */
function listedFromLog(log: JsonlLog | null, stat: FileStat): LogRow | null {
  if (log === null) return null;
  const { head } = log.index;
  const { conversation, headSeq, summary } = head;
  const damage = log.damage?.message ?? null;
  const listedLog = { ...headSummary(head), summary, conversation, headSeq, damage, erased: log.erased };
  return headSeq > 0 ? listedLog : { ...listedLog, ...datesOf(stat.modifiedMs), unread: true };
}

/** A log with an unreadable beginning still names its source at its end. */
async function withLastOrigin(file: DiskFile, row: LogRow | null): Promise<LogRow | null> {
  if (row?.unread !== true) return row;
  const last = await commitEndingAt(file, (await file.stat()).size);
  if (last === null || !(await isWhole(file, last.offset, last.line, last.commit))) return row;
  return { ...row, origin: last.commit.origin, unread: false };
}

/** What a list says of a conversation that cannot be opened at all. */
function listedUnread(conversation: ConversationId, modifiedMs: number, error: LogError): LogRow {
  const nothing = {
    title: null,
    cwd: null,
    headSeq: 0,
    leaf: "" as EntryId,
    origin: null,
    summary: null,
    erased: false,
  };
  // A folder is not a conversation, whatever its name, so nothing has to wait for it.
  const unread = error.details["cause"] !== "EISDIR";
  return { conversation, ...nothing, ...datesOf(modifiedMs), damage: error.message, unread };
}

function datesOf(modifiedMs: number): { createdAt: string; updatedAt: string } {
  const time = new Date(modifiedMs).toISOString();
  return { createdAt: time, updatedAt: time };
}
