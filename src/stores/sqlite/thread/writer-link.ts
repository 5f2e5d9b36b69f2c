import { Worker } from "node:worker_threads";
import { THREAD_FLAGS } from "./messages.ts";
import { LogError } from "#log/errors";
import { flattenCommand, type FlatOutcome, readOutcome } from "./flat-commands.ts";
import type { Command, Posted, Report, WriterOptions } from "./messages.ts";
import { fromWire, storeClosed, toWire } from "#stores/sqlite/sqlite-errors";
import { identityOf } from "#stores/sqlite/files";

/** Told after a commit which conversation grew or went. */
export type CommitListener = (space: string, conversation: string) => void;

interface Waiting {
  readonly command: Command;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: Error) => void;
}

/** Emptied once it is settled: tables of the map that V8 has replaced still hold it, and keep alive all it refers to. */
interface Place {
  waiting: Waiting | null;
}

const OUTBOX_MAX = 8;
const GROWS: ReadonlySet<Command["kind"]> = new Set(["create", "fork", "append", "erase"]);

// One writer per file and process: two would only wait for each other, and could not share a sync.
const links = new Map<string, WriterLink>();

/** The near end of the writer's thread. */
export class WriterLink {
  readonly #name: string;
  readonly #path: string;
  readonly #worker: Worker;
  readonly #opened = Promise.withResolvers<void>();
  readonly #ended = Promise.withResolvers<void>();
  readonly #waiting = new Map<number, Place>();
  readonly #listeners = new Set<CommitListener>();
  #outbox: Posted[] = [];
  #count: number = 0;
  #handles: number = 0;
  #over: LogError | null = null;

  static async open(options: WriterOptions): Promise<WriterLink> {
    const name = `${identityOf(options.path)} ${options.path}`;
    const link = links.get(name) ?? new WriterLink(name, options);
    links.set(name, link);
    link.#handles++;
    try {
      await link.#opened.promise;
    } catch (error) {
      links.delete(name);
      await link.#ended.promise;
      throw error;
    }
    return link;
  }

  private constructor(name: string, options: WriterOptions) {
    this.#name = name;
    this.#path = options.path;
    const file = import.meta.url.endsWith(".ts") ? "./writer-thread.ts" : "./writer-thread.js";
    this.#worker = new Worker(new URL(file, import.meta.url), {
      workerData: options,
      name: "holdfast-sqlite",
      execArgv: THREAD_FLAGS,
    });
    this.#worker.on("message", (report: Report) => this.#onReport(report));
    this.#worker.on("error", (cause) =>
      this.#fail(new LogError("store_failed", `The writer thread of ${this.#path} failed`, {}, { cause })),
    );
    this.#worker.on("messageerror", (cause) => this.#lose(cause));
    this.#worker.on("exit", () => this.#onExit());
  }

  #onReport(report: Report): void {
    if (report.kind === "opened") {
      // From here on the thread holds the process open only while someone waits for it.
      if (report.error !== null) return this.#fail(fromWire(report.error));
      this.#worker.unref();
      return this.#opened.resolve();
    }
    for (const outcome of report.outcomes) this.#settle(outcome);
    if (this.#waiting.size === 0 && this.#handles > 0) this.#worker.unref();
  }

  #settle(flat: FlatOutcome): void {
    const [n] = flat;
    const place = this.#waiting.get(n);
    const waiting = place?.waiting;
    if (place === undefined || !waiting) return;
    place.waiting = null;
    this.#waiting.delete(n);
    const outcome = readOutcome(waiting.command, flat);
    if (!outcome.ok) return waiting.reject(fromWire(outcome.error));
    waiting.resolve(outcome.value);
    const { command } = waiting;
    if (!("request" in command) || !GROWS.has(command.kind)) return;
    for (const listener of this.#listeners) listener(command.space, command.request.conversation);
  }

  /** An answer that cannot be read does not say whose it is, so it may be anybody's. */
  #lose(cause: unknown): void {
    this.#reject(
      new LogError(
        "store_failed",
        `The writer thread of ${this.#path} sent an unknown message`,
        {},
        { cause },
      ),
    );
  }

  #reject(error: LogError): void {
    for (const { waiting } of this.#waiting.values()) waiting?.reject(error);
    this.#waiting.clear();
  }

  #fail(error: LogError): void {
    this.#over ??= error;
    this.#opened.reject(this.#over);
    this.#reject(this.#over);
    if (links.get(this.#name) === this) links.delete(this.#name);
  }

  #onExit(): void {
    this.#fail(storeClosed(this.#path));
    this.#ended.resolve();
  }

  send(command: Command): Promise<unknown> {
    if (this.#over !== null) return Promise.reject(this.#over);
    const { promise, resolve, reject } = Promise.withResolvers<unknown>();
    const n = ++this.#count;
    if (this.#waiting.size === 0) this.#worker.ref();
    this.#waiting.set(n, { waiting: { command, resolve, reject } });
    this.#outbox.push({ n, command });
    // A tick is over when all that is ready to run has run, so what is sent in it travels in few messages; a long
    // outbox goes at once, so that the writer works while the rest is being prepared.
    if (this.#outbox.length === 1) process.nextTick(() => this.#post());
    if (this.#outbox.length >= OUTBOX_MAX) this.#post();
    return promise;
  }

  #post(): void {
    const posted = this.#outbox;
    if (posted.length === 0) return;
    this.#outbox = [];
    try {
      this.#worker.postMessage(posted.map(flattenCommand), []);
    } catch (error) {
      // A value in a request cannot be sent between threads; no caller may wait forever for it.
      const wire = toWire(error, this.#path);
      for (const { n } of posted) this.#settle([n, { ok: false, error: wire }]);
    }
  }

  onCommit(listener: CommitListener): void {
    this.#listeners.add(listener);
  }

  /** Waits for what this handle sent; the last handle ends the thread. */
  async release(listener: CommitListener): Promise<void> {
    this.#listeners.delete(listener);
    if (--this.#handles > 0) {
      await this.send({ kind: "barrier" }).catch(() => undefined);
      return;
    }
    links.delete(this.#name);
    await this.send({ kind: "close" }).catch(() => undefined);
    await this.#ended.promise;
  }
}
