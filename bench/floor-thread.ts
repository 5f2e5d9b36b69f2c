import { hash } from "node:crypto";
import { statSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type StatementSync } from "node:sqlite";
import { parentPort, receiveMessageOnPort, Worker, workerData } from "node:worker_threads";
import type { EntryBody } from "../src/log/entry.ts";
import { openHoldfast } from "../src/open.ts";
import { prepare, systemIdsAndTime } from "../src/store/prepare.ts";

/** What travels: a turn's number, its lane and time, then six values for each message. */
type Turn = readonly (string | number | null)[];
type Done = readonly [n: number, fromSeq: number, link: string];

interface Given {
  readonly floor: string;
  readonly lanes: number;
}

const TURN_MEMBERS = 3;
const MESSAGE_MEMBERS = 6;
const POST_AT = 8;
const JOIN_MAX = 32;
const CHECKPOINT_FRAMES = 1_000;
const GAP_BYTES = 4_096;
const ROOM_BYTES = 131_072;
const SYNC_FULL = 2;

/**
 * The least that keeps the promises of an append: bodies are checked, rows, links, the head and its summary are those of the
 * store, byte for byte; every transaction looks for other writers, for the sync, and for the file before and after the
 * commit. It knows messages of one branch and nothing else: no keys, leases, forks or refusals.
 */
export class FloorThread implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #path: string;
  readonly #waiting = new Map<number, (done: Done) => void>();
  #outbox: Turn[] = [];
  #count = 0;

  private constructor(worker: Worker, path: string) {
    this.#worker = worker;
    this.#path = path;
    worker.on("message", (report: readonly Done[]) => {
      for (const done of report) {
        this.#waiting.get(done[0])?.(done);
        this.#waiting.delete(done[0]);
      }
    });
  }

  static async open(path: string, lanes: number): Promise<FloorThread> {
    const holdfast = await openHoldfast({ store: `sqlite:${path}` });
    for (let lane = 0; lane < lanes; lane++) await holdfast.create({ id: laneId(lane) });
    await holdfast.close();
    const given: Given = { floor: path, lanes };
    const worker = new Worker(new URL(import.meta.url), { workerData: given, execArgv: [] });
    await new Promise((resolve) => void worker.once("message", resolve));
    return new FloorThread(worker, path);
  }

  append(lane: number, bodies: readonly EntryBody[]): Promise<Done> {
    const { drafts } = prepare(bodies, systemIdsAndTime);
    const n = ++this.#count;
    const turn: (string | number | null)[] = [n, lane, drafts[0]?.time ?? ""];
    for (const { draft, id, summaryChange } of drafts) {
      const { inputTokens = 0, outputTokens = 0 } = summaryChange?.spent?.usage ?? {};
      turn.push(id, draft.type, draft.payload, summaryChange?.model?.name ?? null, inputTokens, outputTokens);
    }
    return new Promise((resolve) => {
      this.#waiting.set(n, resolve);
      this.#outbox.push(turn);
      if (this.#outbox.length === 1) process.nextTick(() => this.#post());
      if (this.#outbox.length >= POST_AT) this.#post();
    });
  }

  #post(): void {
    if (this.#outbox.length > 0) this.#worker.postMessage(this.#outbox, []);
    this.#outbox = [];
  }

  /** What it wrote has to pass as a log of the store's own. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
    await using holdfast = await openHoldfast({ store: `sqlite:${this.#path}` });
    const findings = await holdfast.store.space("default").check({ repair: false });
    if (findings.length > 0) throw new Error(`The floor's log is damaged: ${findings[0]?.message ?? ""}`);
  }
}

function laneId(lane: number): string {
  return `lane-${lane}`;
}

interface LaneHead {
  readonly row: number;
  seq: number;
  epoch: number;
  leaf: string;
  depth: number;
  link: string;
  model: string;
  inputTokens: number;
  outputTokens: number;
}

const SETTINGS = `PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA secure_delete = ON; PRAGMA temp_store = MEMORY;
  PRAGMA cache_size = -16384; PRAGMA wal_autocheckpoint = 0; PRAGMA journal_size_limit = 8388608`;
const STATE = "SELECT data_version, synchronous FROM pragma_data_version, pragma_synchronous";
const INSERT = `INSERT INTO entries (conversation, seq, id, type, time, v, parent, segment, depth, kind, blob, payload, link, by_owner)
  VALUES (?, ?, ?, ?, ?, 2, ?, 1, ?, NULL, NULL, CAST(? AS TEXT), ?, ?)`;
const UPDATE_HEAD = `UPDATE conversations SET head_seq = ?, owner_seq = ?, epoch = ?, leaf_id = ?, leaf_depth = ?, updated_at = ?,
  link = ?, owner_link = ?, summary = ? WHERE row = ?`;
const HEAD =
  "SELECT row, head_seq, epoch, leaf_id, leaf_depth, hex(link) FROM conversations WHERE space = 'default' AND id = ?";

/** The writer's side: one function after the other, and no object that is not stored. */
class FloorRows {
  readonly #path: string;
  readonly #identity: readonly [number, number];
  readonly #heads: readonly LaneHead[];
  readonly #room = Buffer.allocUnsafeSlow(ROOM_BYTES);
  readonly #encoder = new TextEncoder();
  readonly #statements: { readonly [name in "begin" | "commit" | "insert" | "update"]: StatementSync };
  readonly #state: StatementSync;
  readonly #logLength: StatementSync;
  readonly #checkpoint: StatementSync;
  readonly #dataVersion: number;

  constructor({ floor: path, lanes }: Given) {
    this.#path = path;
    const db = new DatabaseSync(path, { timeout: 0, enableForeignKeyConstraints: false });
    db.exec(SETTINGS);
    const arrays = (sql: string): StatementSync => {
      const statement = db.prepare(sql);
      statement.setReturnArrays(true);
      return statement;
    };
    this.#statements = {
      begin: db.prepare("BEGIN IMMEDIATE"),
      commit: db.prepare("COMMIT"),
      insert: db.prepare(INSERT),
      update: db.prepare(UPDATE_HEAD),
    };
    this.#state = arrays(STATE);
    this.#logLength = arrays("PRAGMA wal_checkpoint(NOOP)");
    this.#checkpoint = arrays("PRAGMA wal_checkpoint(PASSIVE)");
    const head = arrays(HEAD);
    this.#heads = Array.from({ length: lanes }, (_, lane) => readHead(head, laneId(lane)));
    const { dev, ino } = statSync(path);
    this.#identity = [dev, ino];
    this.#dataVersion = Number(read(this.#state)[0]);
  }

  begin(): void {
    this.#statements.begin.run();
    const [dataVersion, synchronous] = read(this.#state);
    if (dataVersion !== this.#dataVersion || synchronous !== SYNC_FULL) throw new Error("Someone else wrote");
  }

  write(turn: Turn): Done {
    const [n, lane, time] = turn as readonly [number, number, string];
    const head = this.#heads[lane];
    if (head === undefined) throw new Error(`There is no lane ${lane}`);
    const fromSeq = head.seq + 1;
    let linked = `1:2${part(head.link)}${part(String(fromSeq))}5:owner`;
    let link: Buffer | null = null;
    for (let at = TURN_MEMBERS; at < turn.length; at += MESSAGE_MEMBERS) {
      const [id, type, payload] = [turn[at], turn[at + 1], turn[at + 2]] as [string, string, string];
      const length = this.#encoder.encodeInto(payload, this.#room.subarray(GAP_BYTES)).written;
      linked += `${part(head.leaf)}64:${this.#digest(`${part(id)}${part(time)}${part(type)}${length}:`, length)}`;
      if (at + MESSAGE_MEMBERS >= turn.length) {
        head.link = hash("sha256", linked);
        link = Buffer.from(head.link, "hex");
      }
      const bytes = this.#room.subarray(GAP_BYTES, GAP_BYTES + length);
      const placed: SQLInputValue[] = [head.row, ++head.seq, id, type, time, head.leaf, ++head.depth];
      this.#statements.insert.run(...placed, bytes, link, link === null ? null : 1);
      head.leaf = id;
      count(head, turn, at + 3);
    }
    this.#updateHead(head, time, link);
    return [n, fromSeq, head.link];
  }

  #digest(before: string, length: number): string {
    this.#room.write(before, GAP_BYTES - before.length, "latin1");
    return hash("sha256", this.#room.subarray(GAP_BYTES - before.length, GAP_BYTES + length));
  }

  #updateHead(head: LaneHead, time: string, link: Buffer | null): void {
    const { model, inputTokens, outputTokens } = head;
    const usage = { inputTokens, outputTokens };
    const summary = JSON.stringify({ model, branches: 1, usage: { ...usage, byModel: { [model]: usage } } });
    const placed = [head.seq, head.seq, ++head.epoch, head.leaf, head.depth, time];
    this.#statements.update.run(...placed, link, link, summary, head.row);
  }

  commit(): void {
    this.#lookForFile();
    this.#statements.commit.run();
    this.#lookForFile();
  }

  #lookForFile(): void {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    if (found?.dev !== this.#identity[0] || found.ino !== this.#identity[1]) throw new Error("It is gone");
  }

  boundLog(): void {
    const [, frames = 0, moved = 0] = read(this.#logLength);
    if (frames - moved >= CHECKPOINT_FRAMES) this.#checkpoint.get();
  }
}

function read(statement: StatementSync): readonly number[] {
  return statement.get() as unknown as readonly number[];
}

function readHead(statement: StatementSync, id: string): LaneHead {
  const found = statement.get(id) as unknown as [number, number, number, string, number, string];
  const [row, seq, epoch, leaf, depth, link] = found;
  const counted = { model: "", inputTokens: 0, outputTokens: 0 };
  return { row, seq, epoch, leaf, depth, link: link.toLowerCase(), ...counted };
}

function part(text: string): string {
  return `${text.length}:${text}`;
}

function count(head: LaneHead, turn: Turn, at: number): void {
  const model = turn[at];
  if (typeof model !== "string") return;
  head.model = model;
  head.inputTokens += Number(turn[at + 1]);
  head.outputTokens += Number(turn[at + 2]);
}

const given = workerData as Given | null;
if (parentPort !== null && given?.floor !== undefined) {
  const port = parentPort;
  const rows = new FloorRows(given);
  const arrived = (): readonly Turn[] => (receiveMessageOnPort(port)?.message ?? []) as readonly Turn[];
  port.on("message", (first: readonly Turn[]) => {
    for (let posted = first; posted.length > 0; posted = arrived()) {
      const done: Done[] = [];
      rows.begin();
      for (let more = posted; more.length > 0; more = done.length < JOIN_MAX ? arrived() : [])
        for (const turn of more) done.push(rows.write(turn));
      rows.commit();
      port.postMessage(done, []);
      rows.boundLog();
    }
  });
  port.postMessage(null, []);
}
