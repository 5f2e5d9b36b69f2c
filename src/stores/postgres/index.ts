import { createHash } from "node:crypto";
import type { StoredEntry } from "#log/entry";
import { LogError } from "#log/errors";
import type { ConversationId, Digest, SpaceId } from "#log/ids";
import { checkNumbers } from "#log/with-defaults";
import { type AnyVerb, spaceOfVerbs } from "#store/decorate";
import { ALL_FACETS, type Facet, type SpaceStore, type Verb } from "#store/facets";
import { storePort } from "#store/port";
import type { StoreHealth, TailRequest } from "#store/requests";
import type { Store, StoreDriver } from "#store/store";
import { checkSpace, readHealth, checkFence } from "./check.ts";
import { type Connections, Db, TRIES, SqlTexts } from "./db.ts";
import { openClient, openConnections, type PgPool, type ListenClient } from "./connections.ts";
import {
  checkPartitions,
  checkSchema,
  parsePostgresAddress,
  type PostgresAddress,
} from "./postgres-address.ts";
import { listPage, listSpaces, labelFacts, nodeIds, runPage } from "./read/lists.ts";
import { findKey, putBlobRow, readBatchEnds, readBlob, readEntry, readHead, readOwn } from "./read/reads.ts";
import { searchEntries, WordIndex } from "./read/search.ts";
import { tailEntries, TailPoll } from "./read/tail.ts";
import { readPage, readWindow } from "./read/window.ts";
import {
  checkSchemaVersion,
  readSchemaState,
  isUpToDate,
  type SchemaOptions,
  migrateSchema,
  SCHEMA_VERSION,
} from "./tables/migrations.ts";
import { appendBatch, type WriteContext } from "./write/append.ts";
import { eraseLog } from "./write/erase.ts";
import { HeadCache } from "./write/head-cache.ts";
import { acquireLog, renewLog } from "./write/ownership.ts";
import { createLog, forkLog } from "./write/start.ts";

export type { PgPool } from "./connections.ts";

export interface PostgresStoreOptions {
  /** `postgres://USER:PASSWORD@HOST:PORT/DATABASE?schema=…`; its settings are overruled by those beside it. */
  readonly url?: string;
  /** A pool of node-postgres in place of an address. It stays the host's to end. */
  readonly pool?: PgPool;
  /** Where the tables are; made on the first open. */
  readonly schema?: string;
  /** Hash partitions that the tables are made with, once; 0: none. */
  readonly partitions?: number;
  /** False where the role may make no functions: then statements are sent in their place. */
  readonly functions?: boolean;
  /**
   * Has the tables show a transaction the rows of its own space only, whatever a statement asks for: a second fence. It is put
   * up once, for every node, and does not hold for superusers.
   */
  readonly rowSecurity?: boolean;
  /** How many connections are held at most, of an own pool. */
  readonly connections?: number;
  /** How long a connection is waited for. */
  readonly connectMs?: number;
  /** How long an answer is waited for before its connection is thrown away; to erase, check and search, twelve times as long. */
  readonly queryMs?: number;
  /** How late a tail may notice what another process wrote. */
  readonly pollMs?: number;
  /**
   * Has tails woken before they look, over one connection more. True: to `url`; or an address of its own, past a pooler, which
   * passes no notifications on. Nothing counts on it.
   */
  readonly listen?: boolean | string;
  /** Never writes anything, and makes no tables. */
  readonly readOnly?: boolean;
  /** For tests: the clock of leases, which else is that of the database. */
  readonly nowMs?: () => number;
}

const [CONNECTIONS, CONNECT_MS, QUERY_MS, POLL_MS] = [10, 10_000, 10_000, 100];

/** A store in PostgreSQL, shared by any number of machines. An empty database is set up on the first open. */
export async function postgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { connections, place, schema, listen, ...making } = await connectionsFor(options);
  const texts = new SqlTexts(schema, making.functions);
  const db = new Db(connections, { texts, place, fenced: false, space: null, tries: TRIES });
  const { readOnly = false } = options;
  const { rowSecurity } = making;
  try {
    return storePort(
      new PostgresStore(await openSchema(db, { ...making, readOnly }), { ...options, rowSecurity }, listen),
    );
  } catch (error) {
    await connections.close();
    throw db.explain(error);
  }
}

interface Opened extends SchemaOptions {
  readonly connections: Connections;
  readonly place: string;
  readonly schema: string;
  /** A connection to listen on. */
  readonly listen: (() => Promise<ListenClient>) | null;
}

async function connectionsFor(options: PostgresStoreOptions): Promise<Opened> {
  checkNumbers(options, {
    connections: "count",
    connectMs: "limit",
    queryMs: "limit",
    pollMs: "limit",
    partitions: "amount",
  });
  const { pool, connections = CONNECTIONS, connectMs = CONNECT_MS } = options;
  const address = options.url === undefined ? null : parsePostgresAddress(options.url);
  if (pool === undefined && address === null)
    throw new LogError(
      "invalid_request",
      "Pass `url`, the address of a PostgreSQL database, or `pool`, a pool of node-postgres",
    );
  const schema = checkSchema(options.schema ?? address?.schema ?? "holdfast");
  const partitions = checkPartitions(options.partitions ?? address?.partitions ?? 0);
  const functions = options.functions ?? address?.functions ?? true;
  const rowSecurity = options.rowSecurity ?? address?.rowSecurity ?? false;
  const queryMs = options.queryMs ?? address?.queryMs ?? QUERY_MS;
  const place = address?.place ?? `the given pool (schema ${schema})`;
  const made = await openConnections(pool, { url: address?.url ?? "", connections, connectMs, queryMs });
  const listen = listenerFor(options.listen ?? address?.listen ?? false, { address, connectMs });
  return { connections: made, place, schema, partitions, functions, rowSecurity, listen };
}

function listenerFor(
  listen: boolean | string,
  { address, connectMs }: { readonly address: PostgresAddress | null; readonly connectMs: number },
): Opened["listen"] {
  if (listen === false) return null;
  const { url } = (typeof listen === "string" ? parsePostgresAddress(listen) : address) ?? {};
  if (url !== undefined) return () => openClient({ url, connectMs });
  throw new LogError(
    "invalid_request",
    "With `pool`, set `listen` to the address of the database: listening needs its own connection",
  );
}

/** Makes the tables where there are none, and takes the way that the schema was made for. */
async function openSchema(db: Db, options: SchemaOptions & { readonly readOnly: boolean }): Promise<Db> {
  let version = await readSchemaState(db);
  if (version === null && options.readOnly)
    throw new LogError("store_gone", `${db.place}: The database contains no Holdfast store`, {
      place: db.place,
    });
  if (!options.readOnly && !(await isUpToDate(db, version, options))) {
    await migrateSchema(db.patient(), options);
    version = await readSchemaState(db);
  }
  if (version === null) throw new LogError("store_failed", `${db.place}: The tables could not be created`);
  checkSchemaVersion(version, db.place);
  await db.prepare();
  // A store that may not bring an older schema up to date does without the functions that are missing there.
  const functions = options.functions && version.functions && version.version >= SCHEMA_VERSION;
  const texts = new SqlTexts(db.schema, functions);
  return db.with({ texts, fenced: version.rowSecurity });
}

class PostgresStore implements StoreDriver {
  readonly facets: readonly Facet[] = ALL_FACETS;
  readonly #db: Db;
  readonly #options: PostgresStoreOptions;
  readonly #heads = new HeadCache();
  readonly #words = new WordIndex();
  readonly #nowMs: () => number | null;
  readonly #poll: TailPoll;

  constructor(db: Db, options: PostgresStoreOptions, listen: Opened["listen"]) {
    this.#db = db;
    this.#options = options;
    const { nowMs } = options;
    this.#nowMs = () => (nowMs === undefined ? null : Math.floor(nowMs()));
    // A read-only store cannot announce that it waits.
    const listens = options.readOnly === true ? null : listen;
    this.#poll = new TailPoll(db, { everyMs: options.pollMs ?? POLL_MS, listen: listens });
  }

  space(space: SpaceId): SpaceStore {
    return explained(
      this.#db,
      { ...this.#reads(space), ...this.#writes(space) },
      this.#options.readOnly === true,
    );
  }

  #reads(space: SpaceId): Omit<SpaceStore, WriteVerb> {
    const db = this.#db.inSpace(space);
    return {
      head: (conversation) => readHead(db, space, conversation, this.#nowMs()),
      findAppend: (conversation, key) => findKey(db, space, conversation, key),
      entry: (conversation, id) => readEntry(db, space, conversation, id),
      window: (request) => readWindow(db, space, request, this.#nowMs()),
      page: (request) => readPage(db, space, request),
      read: (request) => readOwn(db, space, request),
      batchEnds: (request) => readBatchEnds(db, space, request),
      list: (request) => listPage(db, space, request),
      ids: (request) => nodeIds(db, space, request),
      labelled: (request) => labelFacts(db, space, request),
      tail: (request) => tailEntries(db, this.#poll, space, request),
      runs: (request) => runPage(db, space, request),
      search: (request) => searchEntries(db.patient(), space, request, this.#words),
      getBlob: (conversation, digest) => readBlob(db, space, conversation, digest),
      check: async (request) => [
        ...(await checkFence(db, this.#options.rowSecurity === true)),
        ...(await checkSpace(db.patient(), space, request)),
      ],
    };
  }

  #writes(space: SpaceId): Pick<SpaceStore, WriteVerb> {
    const writing: WriteContext = {
      db: this.#db.inSpace(space),
      space,
      heads: this.#heads,
      nowMs: this.#nowMs,
      onWrite: (conversation, entries) => this.#poll.wake(space, conversation, entries),
      onAwaited: (conversation) => this.#poll.wakeElsewhere(space, conversation),
    };
    return {
      create: (request) => createLog(writing, request),
      fork: (request) => forkLog(writing, request),
      append: (request) => appendBatch(writing, request),
      acquire: (request) => acquireLog(writing, request),
      renew: (request) => renewLog(writing, request),
      putBlob: (conversation, bytes) => this.#putBlob(space, conversation, bytes),
      erase: async (conversation) => {
        await eraseLog(writing, conversation);
        this.#poll.wake(space, conversation);
      },
    };
  }

  async #putBlob(space: SpaceId, conversation: ConversationId, bytes: Uint8Array): Promise<Digest> {
    const digest = createHash("sha256").update(bytes).digest("hex");
    await putBlobRow(this.#db.inSpace(space), space, conversation, { digest, bytes: Buffer.from(bytes) });
    return digest;
  }

  async spaces(): Promise<readonly SpaceId[]> {
    try {
      return await listSpaces(this.#db);
    } catch (error) {
      throw this.#db.explain(error);
    }
  }

  health(): Promise<StoreHealth> {
    return readHealth(this.#db, Date.now);
  }

  async close(): Promise<void> {
    await this.#poll.close();
    await this.#db.close();
  }
}

const WRITE_VERBS = ["create", "fork", "append", "acquire", "renew", "putBlob", "erase"] as const;
type WriteVerb = (typeof WRITE_VERBS)[number];

/** Whatever the database throws leaves as an error of the port; a store for reading only writes nothing. */
function explained(db: Db, space: SpaceStore, readOnly: boolean): SpaceStore {
  const around = (verb: Verb): AnyVerb => {
    if (verb === "tail") return (request) => explainedTail(db, space.tail(request as TailRequest));
    const refused = readOnly && (WRITE_VERBS as readonly Verb[]).includes(verb);
    return async (...args) => {
      if (refused) throw new LogError("read_only", `${db.place} is open in read-only mode`);
      try {
        return await Reflect.apply(space[verb] as AnyVerb, space, args);
      } catch (error) {
        throw db.explain(error);
      }
    };
  };
  return spaceOfVerbs(around);
}

async function* explainedTail(db: Db, entries: AsyncIterable<StoredEntry>): AsyncGenerator<StoredEntry> {
  try {
    yield* entries;
  } catch (error) {
    throw db.explain(error);
  }
}
