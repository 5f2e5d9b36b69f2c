import { Worker } from "node:worker_threads";
import type { StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import type { EntryId, SpaceId } from "#log/ids";
import type { IdsRequest, Page, PageRequest, ReadRequest, SearchHit, SearchRequest } from "#store/requests";
import { fromWire, type WireError } from "#stores/sqlite/sqlite-errors";

export interface ThreadOptions {
  readonly path: string;
  readonly readOnly: boolean;
}

export type Question =
  | { readonly kind: "ids"; readonly space: SpaceId; readonly request: IdsRequest }
  | { readonly kind: "page"; readonly space: SpaceId; readonly request: PageRequest }
  | { readonly kind: "read"; readonly space: SpaceId; readonly request: ReadRequest }
  | { readonly kind: "search"; readonly space: SpaceId; readonly request: SearchRequest }
  | { readonly kind: "close" };

export interface PendingRequest {
  readonly n: number;
  readonly question: Question;
}

type Answer =
  | { readonly n: number; readonly ok: true; readonly value: unknown }
  | { readonly n: number; readonly ok: false; readonly error: WireError };

interface Running {
  readonly worker: Worker;
  readonly waiting: Map<number, PromiseWithResolvers<unknown>>;
  readonly ended: Promise<void>;
}

/** The near end of the thread that reads what no window bounds. It is started by the first question. */
export class ReadThread {
  readonly #options: ThreadOptions;
  #running: Running | null = null;
  #count: number = 0;

  constructor(options: ThreadOptions) {
    this.#options = options;
  }

  ids(space: SpaceId, request: IdsRequest): Promise<readonly EntryId[]> {
    return this.#ask({ kind: "ids", space, request }) as Promise<readonly EntryId[]>;
  }

  page(space: SpaceId, request: PageRequest): Promise<Page> {
    return this.#ask({ kind: "page", space, request }) as Promise<Page>;
  }

  read(space: SpaceId, request: ReadRequest): Promise<readonly StoredEntry[]> {
    return this.#ask({ kind: "read", space, request }) as Promise<readonly StoredEntry[]>;
  }

  search(space: SpaceId, request: SearchRequest): Promise<readonly SearchHit[]> {
    return this.#ask({ kind: "search", space, request }) as Promise<readonly SearchHit[]>;
  }

  #ask(question: Question): Promise<unknown> {
    const { worker, waiting } = (this.#running ??= this.#start());
    const n = ++this.#count;
    const pending = Promise.withResolvers<unknown>();
    worker.postMessage({ n, question } satisfies PendingRequest, []);
    if (waiting.size === 0) worker.ref(); // the process stays open only while someone waits
    waiting.set(n, pending);
    return pending.promise;
  }

  #start(): Running {
    const file = import.meta.url.endsWith(".ts") ? "./reading-thread.ts" : "./reading-thread.js";
    const worker = new Worker(new URL(file, import.meta.url), {
      workerData: this.#options,
      name: "holdfast-sqlite-read",
      execArgv: [],
    });
    const waiting: Running["waiting"] = new Map();
    const ended = Promise.withResolvers<void>();
    const running = { worker, waiting, ended: ended.promise };
    worker.on("message", (answer: Answer) => {
      const pending = waiting.get(answer.n);
      waiting.delete(answer.n);
      if (answer.ok) pending?.resolve(answer.value);
      else pending?.reject(fromWire(answer.error));
      if (waiting.size === 0) worker.unref();
    });
    const reject = (cause?: unknown): void => {
      const { path } = this.#options;
      const error = new LogError("store_failed", `The reader thread of ${path} failed`, { path }, { cause });
      for (const pending of waiting.values()) pending.reject(error);
      waiting.clear();
    };
    const fail = (cause?: unknown): void => {
      reject(cause);
      if (this.#running === running) this.#running = null; // the next question starts another
    };
    worker.on("messageerror", reject); // it does not say whose answer it was
    worker.on("error", fail);
    worker.on("exit", () => {
      fail();
      ended.resolve();
    });
    return running;
  }

  /** Resolves when the thread has let go of the file. */
  async close(): Promise<void> {
    const running = this.#running;
    if (running === null) return;
    running.worker.ref();
    running.worker.postMessage({ n: 0, question: { kind: "close" } } satisfies PendingRequest, []);
    await running.ended;
  }
}
