import { LogError } from "#log/errors";
import type { ConnectionCounts } from "#store/requests";
import type { Connections, Row, Session } from "./db.ts";
import { readJson } from "#log/json/read-json";
import { StatementNames } from "./statement-names.ts";

export interface PgQuery {
  /** Of a statement that the connection keeps parsed. */
  readonly name?: string;
  readonly text: string;
  readonly values: unknown[];
  readonly rowMode: "array";
  readonly types: { getTypeParser(oid: number, format?: string): (value: string) => unknown };
  /** Of the driver: milliseconds until it gives up. */
  readonly query_timeout: number;
}

interface PgResult {
  readonly rows: readonly unknown[];
}

/** The used part of a node-postgres client. */
export interface PgClient {
  /** Of the server, as the server said when the connection was opened. */
  readonly processID?: number | null;
  query(config: PgQuery): Promise<PgResult>;
  release(destroy?: boolean | Error): void;
  on?(event: "error", listener: () => void): unknown;
  removeListener?(event: "error", listener: () => void): unknown;
}

/** The used part of a node-postgres pool; a host may pass its own. */
export interface PgPool {
  query(config: PgQuery): Promise<PgResult>;
  connect(): Promise<PgClient>;
  end(): Promise<void>;
  on?(event: "error" | "connect", listener: (client: Pick<PgClient, "on">) => void): unknown;
  readonly totalCount?: number;
  readonly idleCount?: number;
  readonly waitingCount?: number;
  readonly options?: { readonly max?: number };
}

const [BOOL, BYTEA, INT8, INT2, INT4, TEXT_ARRAY] = [16, 17, 20, 21, 23, 1009];

/** Seqs are safe integers. The driver's own parsers belong to the host, so each query brings its own. */
function parserOf(oid: number): (value: string) => unknown {
  switch (oid) {
    case BOOL:
      return (value) => value === "t";
    case BYTEA:
      return (value) => Buffer.from(value.slice(2), "hex");
    case INT8:
    case INT4:
    case INT2:
      return safeInteger;
    case TEXT_ARRAY:
      return (value) => readJson(value);
    default:
      return (value) => value;
  }
}

function safeInteger(text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  throw new LogError("damaged", `${text} is larger than the largest safe integer`, { number: text });
}

const TYPES = { getTypeParser: parserOf };

type QueryOptions = Omit<PgQuery, "text" | "values">;

function optionsOf(queryMs: number): QueryOptions {
  return { rowMode: "array", types: TYPES, query_timeout: queryMs };
}

function sessionOf(target: Pick<PgPool, "query">, options: QueryOptions): Session {
  return {
    async query(text, values) {
      const { rows } = await target.query({ text, values: [...values], ...options });
      return rows as readonly Row[];
    },
  };
}

const unheard = (): void => undefined;
const PATIENCE = 12;
const listened = new WeakSet<PgPool>();

/**
 * What the driver reads at once may say that a connection is ready and that it is over. Between the two it belongs to whoever
 * waits for it, who cannot listen yet, and unheard the error would end the process.
 */
function listenFromTheStart(pool: PgPool): void {
  if (listened.has(pool)) return;
  listened.add(pool);
  pool.on?.("connect", (client) => client.on?.("error", unheard));
}

/** Connections of a pool of node-postgres. A pool that was given stays the host's to end. */
function pgConnections(pool: PgPool, input: ConnectionSettings): Connections {
  const { owned, queryMs, names = new StatementNames() } = input;
  const options = optionsOf(queryMs);
  const hold = async <T>(work: (client: PgClient) => Promise<T>): Promise<T> => {
    const client = await pool.connect();
    client.on?.("error", unheard);
    let failed = true;
    try {
      const result = await work(client);
      failed = false;
      return result;
    } finally {
      client.removeListener?.("error", unheard);
      client.release(failed);
    }
  };
  // Unheard, the death of an idle connection would end the process.
  if (owned) pool.on?.("error", unheard);
  listenFromTheStart(pool);
  return {
    queryMs,
    // A pool throws away a connection whose statement failed, and so one that fell silent.
    ...sessionOf(pool, options),
    async prepared(text, values) {
      const given = { text, values: [...values], ...options };
      const { rows } = await names.send(text, (name) => pool.query({ ...given, ...name }));
      return rows as readonly Row[];
    },
    patient: () => pgConnections(pool, { owned: false, queryMs: queryMs * PATIENCE, names }),
    use: (work) => hold((client) => work(sessionOf(client, options))),
    // Where that fails, no statement has a name.
    prepare: () => hold((client) => names.find(client, options)).catch(() => undefined),
    counts: () => countsOf(pool),
    close: async () => {
      if (owned) await pool.end();
    },
  };
}

interface ConnectionSettings {
  readonly owned: boolean;
  /** How long a statement is waited for. */
  readonly queryMs: number;
  readonly names?: StatementNames;
}

function countsOf({ totalCount, idleCount, waitingCount, options }: PgPool): ConnectionCounts | null {
  if (totalCount === undefined || idleCount === undefined || waitingCount === undefined) return null;
  const inUse = totalCount - idleCount;
  return { open: totalCount, inUse, waiting: waitingCount, most: options?.max ?? null };
}

/** A line that was cut without a word is noticed, also where nothing is sent. */
const KEEP_ALIVE = { keepAlive: true, keepAliveInitialDelayMillis: 10_000 };

interface PoolSettings {
  readonly url: string;
  readonly connections: number;
  readonly connectMs: number;
}

/** Those of the pool that the host brings, or of one of our own. */
export async function openConnections(
  pool: PgPool | undefined,
  settings: PoolSettings & { readonly queryMs: number },
): Promise<Connections> {
  const { queryMs } = settings;
  return pool === undefined
    ? pgConnections(await openPool(settings), { owned: true, queryMs })
    : pgConnections(pool, { owned: false, queryMs });
}

/** A pool of our own; the driver is loaded when it is needed. */
async function openPool({ url, connections, connectMs }: PoolSettings): Promise<PgPool> {
  const { Pool } = await loadDriver();
  return new Pool({
    connectionString: url,
    max: connections,
    connectionTimeoutMillis: connectMs,
    application_name: "holdfast",
    ...KEEP_ALIVE,
  });
}

/** A client outside of the pool, not yet connected. */
export async function openClient(input: Omit<PoolSettings, "connections">): Promise<ListenClient> {
  const { Client } = await loadDriver();
  const client = new Client({
    connectionString: input.url,
    connectionTimeoutMillis: input.connectMs,
    application_name: "holdfast listen",
    ...KEEP_ALIVE,
  });
  return client as typeof client & { unref(): void }; // missing in the driver's types
}

async function loadDriver(): Promise<typeof import("pg")> {
  try {
    const driver = (await import("pg")) as unknown as typeof import("pg") & { default?: typeof import("pg") };
    return driver.default ?? driver;
  } catch (cause) {
    throw new LogError(
      "invalid_request",
      'PostgreSQL stores require the package "pg". Run `npm install pg`.',
      {},
      { cause },
    );
  }
}

/** The used part of a node-postgres client that receives notifications. */
export interface ListenClient {
  connect(): Promise<unknown>;
  query(text: string): Promise<unknown>;
  on(event: "notification", listener: (message: { readonly payload?: string | undefined }) => void): unknown;
  on(event: "error" | "end", lost: () => void): unknown;
  end(): Promise<void>;
  /** Lets the process end though the connection is open. */
  unref(): void;
}

const AGAIN_MS = 1_000;

interface Listening {
  /** A client that is not connected yet, past any pooler. */
  readonly open: () => Promise<ListenClient>;
  readonly channel: string;
  /** From now on notifications are received. */
  readonly onReady: () => void;
  readonly onHint: (hint: string) => void;
}

/** A separate connection that receives hints while a tail waits. Nothing relies on it: without it, polling continues. */
export class PgListener {
  readonly #listening: Listening;
  #client: ListenClient | null = null;
  #wanted: boolean = false;
  #ready: boolean = false;
  #again: NodeJS.Timeout | null = null;

  constructor(listening: Listening) {
    this.#listening = listening;
  }

  get ready(): boolean {
    return this.#ready;
  }

  start(): void {
    if (this.#wanted) return;
    this.#wanted = true;
    void this.#connect();
  }

  async stop(): Promise<void> {
    this.#wanted = false;
    if (this.#again !== null) clearTimeout(this.#again);
    await this.#drop(this.#client);
  }

  async #connect(): Promise<void> {
    const { open, channel, onReady, onHint } = this.#listening;
    let client: ListenClient | null = null;
    try {
      const opened = await open();
      client = opened;
      if (!this.#wanted) return;
      this.#client = client;
      for (const event of ["error", "end"] as const) client.on(event, () => void this.#lose(opened));
      client.on("notification", ({ payload = "" }) => onHint(payload));
      await client.connect();
      client.unref();
      await client.query(`listen ${channel}`);
      if (this.#client !== client) return;
      this.#ready = true;
      onReady();
    } catch {
      await this.#lose(client);
    }
  }

  /** Tries again after a while, as long as a tail waits. */
  async #lose(client: ListenClient | null): Promise<void> {
    if (this.#client !== client) return;
    await this.#drop(client);
    if (!this.#wanted) return;
    this.#again = setTimeout(() => void this.#connect(), AGAIN_MS);
    this.#again.unref();
  }

  async #drop(client: ListenClient | null): Promise<void> {
    this.#client = null;
    this.#ready = false;
    await client?.end().catch(() => undefined);
  }
}
