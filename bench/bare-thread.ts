import { parentPort, receiveMessageOnPort, Worker, workerData } from "node:worker_threads";
import type { EntryBody } from "../src/log/entry.ts";
import { BareRows, type BareRow } from "./bare.ts";
import { uuidv7Maker } from "../src/store/prepare.ts";

/** What waits for a commit: its number, and the rows of one turn. */
type Posted = readonly [n: number, rows: readonly BareRow[]];

interface Given {
  readonly path: string;
  readonly checkpointFrames: number;
}

const POST_AT = 8;
const JOIN_MAX = 32;

/**
 * What someone would write who has only the driver and must not stop the event loop: a thread that takes rows and commits
 * together what has arrived together, as large as pays off. None of the rules, and no heads.
 */
export class BareThread implements AsyncDisposable {
  readonly #worker: Worker;
  readonly #newId = uuidv7Maker();
  readonly #lanes = new Map<number, { seq: number; parent: string | null }>();
  readonly #waiting = new Map<number, () => void>();
  #outbox: Posted[] = [];
  #count = 0;

  private constructor(worker: Worker) {
    this.#worker = worker;
    worker.on("message", (done: readonly number[]) => {
      for (const n of done) {
        this.#waiting.get(n)?.();
        this.#waiting.delete(n);
      }
    });
  }

  static async open(given: Given): Promise<BareThread> {
    const worker = new Worker(new URL(import.meta.url), { workerData: given, execArgv: [] });
    await new Promise((resolve) => void worker.once("message", resolve));
    return new BareThread(worker);
  }

  append(lane: number, bodies: readonly EntryBody[]): Promise<void> {
    const at = this.#lanes.get(lane) ?? { seq: 0, parent: null };
    this.#lanes.set(lane, at);
    const time = new Date().toISOString();
    const rows = bodies.map(({ type, ...payload }): BareRow => {
      const id = this.#newId();
      const row = [lane, ++at.seq, id, type, time, at.parent, JSON.stringify(payload)] as const;
      at.parent = id;
      return row;
    });
    const n = ++this.#count;
    return new Promise((resolve) => {
      this.#waiting.set(n, resolve);
      this.#outbox.push([n, rows]);
      if (this.#outbox.length === 1) process.nextTick(() => this.#post());
      if (this.#outbox.length >= POST_AT) this.#post();
    });
  }

  #post(): void {
    if (this.#outbox.length > 0) this.#worker.postMessage(this.#outbox, []);
    this.#outbox = [];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#worker.terminate();
  }
}

const given = workerData as Given | null;
if (parentPort !== null && given !== null) {
  const port = parentPort;
  const rows = new BareRows(given.path, given.checkpointFrames);
  const arrived = (): readonly Posted[] => (receiveMessageOnPort(port)?.message ?? []) as readonly Posted[];
  port.on("message", (first: readonly Posted[]) => {
    for (let posted = first; posted.length > 0; posted = arrived()) {
      const done: number[] = [];
      rows.begin();
      for (let more = posted; more.length > 0; more = done.length < JOIN_MAX ? arrived() : []) {
        for (const [n, turn] of more) {
          for (const row of turn) rows.insert(row);
          done.push(n);
        }
      }
      rows.commit();
      port.postMessage(done, []);
    }
  });
  port.postMessage(null, []);
}
