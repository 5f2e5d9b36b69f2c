/** Servers over one store, each behind a name that stays when its process is another one. */
import { join } from "node:path";
import { StoredTokens } from "#edges/http/index";
import { openHoldfast } from "#open";
import type { Holdfast } from "#conversation/holdfast";
import { type ServeProcess, startServerWithClock } from "../edges/http/serve-process.ts";
import { CuttingProxy } from "../support/cutting-proxy.ts";
import { type LoopbackPostgres, startPostgres } from "../support/loopback-postgres.ts";
import { tempDir } from "../support/temp-dir.ts";

export type StoreKind = "postgres" | "sqlite";

/** By how much the clocks of machines are wrong. */
const SKEWS_MS = [0, 300_000, -300_000];
const AGENT = ["--agent", "simulated", "--speed", "100", "--rate", "100000", "--log-level", "error"];

/** One server: its process may end and be another one's, and its way to the database may break. */
export class Server implements AsyncDisposable {
  readonly #store: string;
  readonly #skewMs: number;
  readonly proxy: CuttingProxy | null;
  #process: ServeProcess | null = null;
  #starting: Promise<void> = Promise.resolve();
  url = "";
  /** How often its process ended though nobody had killed it. */
  crashes = 0;

  constructor(
    store: string,
    { proxy, skewMs }: { readonly proxy: CuttingProxy | null; readonly skewMs: number },
  ) {
    this.#store = store;
    this.#skewMs = skewMs;
    this.proxy = proxy;
  }

  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  start(): Promise<void> {
    this.#starting = this.#start();
    return this.#starting;
  }

  async #start(): Promise<void> {
    const started = await startServerWithClock(this.#skewMs, this.#store, ...AGENT);
    this.#process = started;
    this.url = started.url;
    void started.ended.then(() => (this.#process === started ? this.#crashed() : undefined));
  }

  #crashed(): Promise<void> {
    this.crashes++;
    this.#process = null;
    return this.start();
  }

  /** Its process ends at once; another one takes its place. */
  async kill(): Promise<void> {
    const killed = this.#process;
    this.#process = null;
    await killed?.end("SIGKILL");
    await this.start();
  }

  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#process?.signal(signal);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#starting.catch(() => undefined);
    const last = this.#process;
    this.#process = null;
    await last?.[Symbol.asyncDispose]();
    await this.proxy?.[Symbol.asyncDispose]();
  }
}

/** A store, the servers over it, and the library beside them. */
export class Servers implements AsyncDisposable {
  readonly #stack: AsyncDisposableStack;
  readonly list: readonly Server[];
  readonly postgres: LoopbackPostgres | null;
  /** The folder of a file, or null. */
  readonly file: string | null;
  readonly holdfast: Holdfast;
  readonly token: string;

  private constructor(parts: {
    readonly stack: AsyncDisposableStack;
    readonly list: readonly Server[];
    readonly postgres: LoopbackPostgres | null;
    readonly file: string | null;
    readonly holdfast: Holdfast;
    readonly token: string;
  }) {
    this.#stack = parts.stack;
    this.list = parts.list;
    this.postgres = parts.postgres;
    this.file = parts.file;
    this.holdfast = parts.holdfast;
    this.token = parts.token;
  }

  static async open(kind: StoreKind, count: number): Promise<Servers> {
    await using stack = new AsyncDisposableStack();
    const postgres = kind === "postgres" ? stack.use(await startPostgres()) : null;
    const file = postgres === null ? join(stack.use(tempDir()).path, "store.db") : null;
    const store = postgres === null ? `sqlite:${file ?? ""}` : postgres.direct;
    const holdfast = stack.use(await openHoldfast({ store }));
    const grant = { token: "soak", space: "default", rights: "admin" } as const;
    const { secret: token } = await new StoredTokens(holdfast).add(grant);
    const list: Server[] = [];
    for (let at = 0; at < count; at++) {
      const proxy = postgres === null ? null : new CuttingProxy(postgres.port);
      const way =
        proxy === null ? store : store.replace(String(postgres?.port), String(await proxy.listen()));
      // On a file they are processes of one machine, which has one clock.
      const skewMs = postgres === null ? 0 : (SKEWS_MS[at % SKEWS_MS.length] ?? 0);
      list.push(stack.use(new Server(way, { proxy, skewMs })));
    }
    await Promise.all(list.map((one) => one.start()));
    return new Servers({ stack: stack.move(), list, postgres, file, holdfast, token });
  }

  /** The server of a number, whichever that is. */
  at(number: number): Server {
    const server = this.list[number % this.list.length];
    if (server === undefined) throw new Error("There are no servers");
    return server;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.#stack.disposeAsync();
  }
}
