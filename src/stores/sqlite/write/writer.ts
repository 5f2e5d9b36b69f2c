import type { Command, GroupCommand, Outcome, WriterOptions } from "#stores/sqlite/thread/messages";
import { erasedInLog, toWire } from "#stores/sqlite/sqlite-errors";
import { Lookup } from "#stores/sqlite/tables/lookup";
import { REBUILD_SEARCH } from "#stores/sqlite/tables/schema";
import { Connection } from "./write-connection.ts";
import { eraseTx } from "./erase-log.ts";
import { runGroup } from "./commit-group.ts";
import { decodeEntry } from "#log/codec";
import type { EntryId } from "#log/ids";
import { searchText } from "#log/entry-types";
import { hidesOwn } from "#stores/sqlite/read/hidden";
import { ENTRY_COLUMNS, type EntryRow } from "#stores/sqlite/tables/rows";
import { indexable, SEARCHED } from "#stores/sqlite/tables/search-words";

const GROUP_MAX = 512; // commands that wait for one sync
const SOLO: ReadonlySet<Command["kind"]> = new Set(["erase", "index", "reindex", "barrier", "close"]);

/** Carries out commands on the file, one after the other; knows nothing of threads. */
export class Writer {
  readonly connection: Connection;
  readonly #lookup: Lookup;
  #emptyLogOwed: boolean = false;

  constructor(options: WriterOptions) {
    this.connection = new Connection(options, () => this.#lookup.forgetHeads());
    this.#lookup = new Lookup(this.connection.sql);
  }

  /** How many commands from the front may share a transaction; 0 when the first runs alone. */
  groupSize(commands: readonly Command[], already: number = 0): number {
    const size = commands.findIndex((command) => SOLO.has(command.kind));
    return Math.min(size === -1 ? commands.length : size, GROUP_MAX - already);
  }

  runGroup(
    commands: readonly GroupCommand[],
    late: () => readonly GroupCommand[] = () => [],
  ): readonly Outcome[] {
    return runGroup(this.connection, this.#lookup, commands, late);
  }

  runSolo(command: Command): Outcome {
    try {
      return { ok: true, value: this.#solo(command) };
    } catch (error) {
      return { ok: false, error: toWire(error, this.connection.path) };
    }
  }

  #solo(command: Command): unknown {
    const { connection } = this;
    switch (command.kind) {
      case "erase":
        connection.transaction(true, () =>
          eraseTx(this.#lookup, command.space, command.request.conversation),
        );
        this.#emptyLogOwed = true;
        this.#emptyErasedLog();
        return undefined;
      case "index":
        return connection.transaction(false, () => indexTx(this.#lookup));
      case "reindex":
        return connection.transaction(false, () => connection.sql.db.exec(REBUILD_SEARCH));
      case "close":
        connection.close();
        return undefined;
      default:
        return undefined;
    }
  }

  #emptyErasedLog(): void {
    try {
      this.connection.emptyLog();
      this.#emptyLogOwed = false;
    } catch (error) {
      throw erasedInLog(error, this.connection.path);
    }
  }

  /** Keeps the log short: in pauses, and between groups for those who never leave one. */
  boundLog(): void {
    if (this.#emptyLogOwed) this.#emptyOwedLog();
    else this.connection.checkpointIfGrown();
  }

  #emptyOwedLog(): void {
    try {
      this.#emptyLogOwed = !this.connection.tryEmptyLog();
    } catch {
      // A full disk, say: it stays owed, whoever erased was told, and nobody else's writing ends over it.
    }
  }
}

const ROWS_PER_STEP = 500; // a step holds the write lock for some milliseconds
const CHARS_PER_STEP = 1_000_000;

const LISTED = "(SELECT listed FROM conversations c WHERE c.row = conversation)";
const NEXT = `SELECT ${ENTRY_COLUMNS}, row, ${LISTED} FROM entries
  WHERE row > ? AND type IN (${SEARCHED}, 'hide') ORDER BY row LIMIT ${ROWS_PER_STEP}`;
const TARGET = `SELECT ${ENTRY_COLUMNS}, row, ${LISTED} FROM entries INDEXED BY entries_id WHERE conversation = ? AND id = ?`;
const INDEXED = "SELECT 1 FROM search WHERE rowid = ?";
const LAST = "SELECT coalesce(max(row), 0) FROM entries";

type NextRow = readonly [...EntryRow, row: number, listed: number];

/** Takes one more stretch of the log into the index; true when it has caught up. Run in a transaction of its own. */
function indexTx(lookup: Lookup): boolean {
  const { sql } = lookup;
  const [cursor = 0] = sql.get<[number]>("SELECT entry FROM search_cursor") ?? [];
  const rows = sql.all<NextRow>(NEXT, cursor);
  let chars = 0;
  for (const [index, next] of rows.entries()) {
    chars += next[5] === "hide" ? indexTarget(lookup, next) : insertText(lookup, next);
    if (chars < CHARS_PER_STEP || index === rows.length - 1) continue;
    moveCursor(lookup, next[11]);
    return false;
  }
  const caughtUp = rows.length < ROWS_PER_STEP;
  moveCursor(lookup, caughtUp ? (sql.get<[number]>(LAST)?.[0] ?? cursor) : (rows.at(-1)?.[11] ?? cursor));
  return caughtUp;
}

function moveCursor(lookup: Lookup, row: number): void {
  lookup.sql.run("UPDATE search_cursor SET entry = ? WHERE entry <> ?", row, row);
}

/** Gives the number of characters that were taken in. */
function insertText(lookup: Lookup, next: NextRow): number {
  // The remaining nodes of an erased conversation are not searchable, nor are nodes that their own conversation hides.
  const text = next[12] === 1 ? textOf(lookup, next) : "";
  if (text !== "") lookup.sql.run("INSERT INTO search(rowid, text) VALUES (?, ?)", next[11], indexable(text));
  return text.length;
}

/**
 * What is hidden when the index comes to it is not taken in, so that a search need not step over it; shown again, it is.
 * What is hidden later stays: to take it out costs a hundred times what it costs to step over it.
 */
function indexTarget(lookup: Lookup, hide: NextRow): number {
  const { sql } = lookup;
  const id = targetIn(lookup, hide);
  const target = id === null ? undefined : sql.get<NextRow>(TARGET, hide[8], id);
  // One further on has its turn then; one that is inherited is its source's to show.
  if (target === undefined || target[11] > hide[11] || sql.get(INDEXED, target[11]) !== undefined) return 0;
  return insertText(lookup, target);
}

function targetIn(lookup: Lookup, hide: NextRow): EntryId | null {
  try {
    const entry = decodeEntry(lookup.stored(entryOf(hide)));
    return entry.type === "hide" ? entry.target : null;
  } catch {
    return null;
  }
}

function textOf(lookup: Lookup, next: NextRow): string {
  const entry = entryOf(next);
  if (hidesOwn(lookup, entry)) return "";
  try {
    return searchText(decodeEntry(lookup.stored(entry)));
  } catch {
    return ""; // a damaged entry is reported by check, and must not stop the index for all others
  }
}

function entryOf(next: NextRow): EntryRow {
  return next.slice(0, 11) as unknown as EntryRow;
}
