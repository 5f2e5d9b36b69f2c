import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { EntryBody } from "../src/log/entry.ts";
import { uuidv7Maker } from "../src/store/prepare.ts";

/** What someone would write who has only the driver: the rows of an entry, and none of the rules. */

const COLUMNS = "v, id, seq, parent, time, type, payload";
const PAYLOAD = 6;
const newId = uuidv7Maker();
type ReadRow = readonly [number, string, number, string | null, string, string, string];

/** Reads a store's own file through a connection of its own. */
export class BareReader implements Disposable {
  readonly db: DatabaseSync;
  readonly #newest: StatementSync;
  readonly #whole: StatementSync;

  constructor(path: string) {
    this.db = new DatabaseSync(path, { readOnly: true });
    this.db.exec("PRAGMA cache_size = -16384");
    this.#newest = this.arrays(
      `SELECT ${COLUMNS} FROM entries WHERE conversation = ? ORDER BY seq DESC LIMIT ?`,
    );
    this.#whole = this.arrays(`SELECT ${COLUMNS} FROM entries WHERE conversation = ? ORDER BY seq`);
  }

  /** Rows as arrays: the fastest the driver has. */
  arrays(sql: string): StatementSync {
    const statement = this.db.prepare(sql);
    statement.setReturnArrays(true);
    return statement;
  }

  rowOf(conversation: string): number {
    return Number(this.db.prepare("SELECT row FROM conversations WHERE id = ?").get(conversation)?.["row"]);
  }

  newest(row: number, limit: number): readonly unknown[] {
    return parsed(this.#newest.all(row, limit) as unknown as ReadRow[]);
  }

  whole(row: number): readonly unknown[] {
    return parsed(this.#whole.all(row) as unknown as ReadRow[]);
  }

  [Symbol.dispose](): void {
    this.db.close();
  }
}

function parsed(rows: readonly ReadRow[]): readonly unknown[] {
  const payloads: unknown[] = [];
  for (const row of rows) payloads.push(JSON.parse(row[PAYLOAD]));
  return payloads;
}

const SCHEMA = `PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
PRAGMA cache_size = -16384;
CREATE TABLE entries (
  row INTEGER PRIMARY KEY,
  conversation INTEGER NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  type TEXT NOT NULL,
  time TEXT NOT NULL,
  v INTEGER NOT NULL,
  parent TEXT,
  segment INTEGER,
  depth INTEGER,
  payload TEXT
) STRICT;
CREATE UNIQUE INDEX entries_seq ON entries (conversation, seq);
CREATE UNIQUE INDEX entries_id ON entries (id, conversation);
CREATE UNIQUE INDEX entries_path ON entries (conversation, segment, depth) WHERE segment IS NOT NULL;`;

const HEAD_SCHEMA = `CREATE TABLE conversations (
  row INTEGER PRIMARY KEY,
  id TEXT NOT NULL,
  head_seq INTEGER NOT NULL,
  leaf_id TEXT NOT NULL,
  updated_at TEXT NOT NULL
) STRICT;
CREATE INDEX conversations_recent ON conversations (updated_at, id);
INSERT INTO conversations VALUES (1, 'bare', 0, '', '');`;
const UPDATE_HEAD = "UPDATE conversations SET head_seq = ?, leaf_id = ?, updated_at = ? WHERE row = 1";

const INSERT = `INSERT INTO entries (conversation, seq, id, type, time, v, parent, segment, depth, payload)
  VALUES (?, ?, ?, ?, ?, 1, ?, 1, ?, ?)`;
const CHECKPOINT_FRAMES = 1_000; // SQLite's own

export type BareRow = readonly [
  conversation: number,
  seq: number,
  id: string,
  type: string,
  time: string,
  parent: string | null,
  payload: string,
];

/** A file of its own with the rows of entries, and the statements that write them. */
export class BareRows implements Disposable {
  readonly db: DatabaseSync;
  readonly #insert: StatementSync;
  readonly #begin: StatementSync;
  readonly #commit: StatementSync;

  constructor(path: string, checkpointFrames: number = CHECKPOINT_FRAMES) {
    this.db = new DatabaseSync(path);
    this.db.exec(`${SCHEMA} PRAGMA wal_autocheckpoint = ${checkpointFrames}`);
    this.#insert = this.db.prepare(INSERT);
    this.#begin = this.db.prepare("BEGIN IMMEDIATE");
    this.#commit = this.db.prepare("COMMIT");
  }

  begin(): void {
    this.#begin.run();
  }

  insert([conversation, seq, id, type, time, parent, payload]: BareRow): void {
    this.#insert.run(conversation, seq, id, type, time, parent, seq, payload);
  }

  commit(): void {
    this.#commit.run();
  }

  [Symbol.dispose](): void {
    this.db.close();
  }
}

/** Writes the same rows in the calling thread, one synced transaction per batch. */
export class BareWriter implements Disposable {
  readonly #rows: BareRows;
  readonly #updateHead: StatementSync | null;
  #seq = 0;
  #parent: string | null = null;

  /** With `head` it also keeps the row that says where the conversation ends, which any list of them needs. */
  constructor(path: string, options: { readonly head: boolean }) {
    this.#rows = new BareRows(path);
    if (options.head) this.#rows.db.exec(HEAD_SCHEMA);
    this.#updateHead = options.head ? this.#rows.db.prepare(UPDATE_HEAD) : null;
  }

  append(bodies: readonly EntryBody[]): void {
    const time = new Date().toISOString();
    this.#rows.begin();
    for (const { type, ...payload } of bodies) {
      const id = newId();
      this.#rows.insert([1, ++this.#seq, id, type, time, this.#parent, JSON.stringify(payload)]);
      this.#parent = id;
    }
    this.#updateHead?.run(this.#seq, this.#parent, time);
    this.#rows.commit();
  }

  [Symbol.dispose](): void {
    this.#rows[Symbol.dispose]();
  }
}
