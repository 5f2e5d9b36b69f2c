import { setTimeout as pause } from "node:timers/promises";
import { isLost, isSilent, mayTryAgain, toLogError } from "./postgres-errors.ts";
import { setSpace } from "#stores/postgres/tables/row-security";
import type { ConnectionCounts } from "#store/requests";

/** A row as an array; its columns depend on the statement. */
export type Row = readonly unknown[];

/** What carries statements out: a pool, or one connection of it within a transaction. */
export interface Session {
  query(text: string, values: readonly unknown[]): Promise<readonly Row[]>;
}

/** The connections of a store. A single statement may use any of them. */
export interface Connections extends Session {
  /** The same for a statement that is sent often: a connection keeps it parsed, where it has a process of the server to itself. */
  prepared(text: string, values: readonly unknown[]): Promise<readonly Row[]>;
  /** Finds out whether connections keep statements. */
  prepare(): Promise<void>;
  /** One connection, given back when the work is over; one that failed is thrown away. */
  use<T>(work: (session: Session) => Promise<T>): Promise<T>;
  /** How long a statement is waited for. */
  readonly queryMs: number;
  /** The same connections for statements that may take long. */
  patient(): Connections;
  /** Null where unknown. */
  counts(): ConnectionCounts | null;
  close(): Promise<void>;
}

export interface DbSettings {
  readonly texts: SqlTexts;
  readonly place: string;
  /** Whether the tables show the rows of one space only, which a transaction then has to name. */
  readonly fenced: boolean;
  /** The space that is named; null: none, or the transaction has named it. */
  readonly space: string | null;
  /** How often something is tried where others are in the way. */
  readonly tries: number;
}

export const TRIES = 6;
const PAUSE_MS = 5;
const LOST_PAUSE_MS = 100;
const SILENT_TRIES = 2; // each one is waited for

/** Statements on the tables of one schema. Nothing is left behind in a connection: a pooler may give it to anybody. */
export class Db {
  readonly #connections: Connections;
  readonly #settings: DbSettings;

  constructor(connections: Connections, settings: DbSettings) {
    this.#connections = connections;
    this.#settings = settings;
  }

  get schema(): string {
    return this.#settings.texts.schema;
  }

  get place(): string {
    return this.#settings.place;
  }

  get counts(): ConnectionCounts | null {
    return this.#connections.counts();
  }

  get fenced(): boolean {
    return this.#settings.fenced;
  }

  get functions(): boolean {
    return this.#settings.texts.functions;
  }

  with(changed: Partial<DbSettings>): Db {
    return new Db(this.#connections, { ...this.#settings, ...changed });
  }

  /** The same for one space, whose rows are then the only ones that the tables show. */
  inSpace(space: string): Db {
    return this.fenced ? this.with({ space }) : this;
  }

  /** The same for statements whose cost grows with the stored data. */
  patient(): Db {
    return new Db(this.#connections.patient(), this.#settings);
  }

  /** A question: asked again when the connection was cut, or others were in the way. */
  async read<R extends Row>(statement: string, ...values: readonly unknown[]): Promise<readonly R[]> {
    return this.#retry(() => this.#statement<R>(statement, values), true);
  }

  /** The same for one that is asked often, whose best plan does not depend on its values. */
  async readPrepared<R extends Row>(statement: string, ...values: readonly unknown[]): Promise<readonly R[]> {
    if (this.#settings.space !== null) return this.read(statement, ...values);
    const text = this.#settings.texts.text(statement);
    return this.#retry(async () => (await this.#connections.prepared(text, values)) as readonly R[], true);
  }

  /** The same for a statement that may also be a function of the schema. */
  async call<R extends Row>(call: Call, ...values: readonly unknown[]): Promise<readonly R[]> {
    return this.#retry(() => this.#call<R>(call, values), true);
  }

  /** A single statement that writes. After a lost connection its outcome is unknown, and the caller has to find out. */
  async write<R extends Row>(statement: string, ...values: readonly unknown[]): Promise<readonly R[]> {
    return this.#retry(() => this.#statement<R>(statement, values), false);
  }

  /** The same for a statement that may also be a function of the schema. */
  async writeCall<R extends Row>(call: Call, ...values: readonly unknown[]): Promise<readonly R[]> {
    return this.#retry(() => this.#call<R>(call, values), false);
  }

  /** Functions name the space by themselves: one round trip. A statement takes a transaction for it. */
  async #call<R extends Row>(call: Call, values: readonly unknown[]): Promise<readonly R[]> {
    const text = this.#settings.texts.call(call);
    if (!this.functions) return this.#statement<R>(text, values);
    return (await this.#connections.prepared(text, values)) as readonly R[];
  }

  async #statement<R extends Row>(statement: string, values: readonly unknown[]): Promise<readonly R[]> {
    const text = this.#settings.texts.text(statement);
    if (this.#settings.space === null) return (await this.#connections.query(text, values)) as readonly R[];
    return (await this.#inTransaction((session) => session.query(text, values), "begin")) as readonly R[];
  }

  /** Several statements as one. The work is done again from its start where others were in the way. */
  async transaction<T>(work: (session: Session) => Promise<T>, begin: string = "begin"): Promise<T> {
    const { texts } = this.#settings;
    return this.#retry(
      () =>
        this.#inTransaction(
          (session) => work({ query: (text, values) => session.query(texts.text(text), values) }),
          begin,
        ),
      false,
    );
  }

  async #inTransaction<T>(work: (session: Session) => Promise<T>, begin: string): Promise<T> {
    const { space } = this.#settings;
    const named = space === null ? "" : `; select ${setSpace(literal(space))}`;
    return this.#connections.use(async (session) => {
      await session.query(`${begin}; ${waitsUpTo(this.#connections.queryMs)}${named}`, []);
      try {
        const result = await work(session);
        await session.query("commit", []);
        return result;
      } catch (error) {
        // A connection that is gone or silent takes its transaction with it.
        if (!isLost(error)) await session.query("rollback", []).catch(() => undefined);
        throw error;
      }
    });
  }

  /** The same on the tables of one transaction: what the work asks and writes is asked and written there. */
  async within<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return this.transaction((session) => {
      const only: Connections = {
        queryMs: this.#connections.queryMs,
        query: (text, values) => session.query(text, values),
        prepared: (text, values) => session.query(text, values),
        prepare: async () => undefined,
        use: (use) => use(session),
        patient: () => only,
        counts: () => null,
        close: async () => undefined,
      };
      // A statement that failed ends its transaction, so it is the whole that is done again.
      return work(new Db(only, { ...this.#settings, space: null, tries: 1 }));
    });
  }

  async #retry<T>(work: () => Promise<T>, repeatable: boolean): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await work();
      } catch (error) {
        const again = mayTryAgain(error) || (repeatable && isLost(error));
        const most = isSilent(error) ? SILENT_TRIES : TRIES;
        if (!again || tries >= Math.min(most, this.#settings.tries)) throw error;
        const pauseMs = isLost(error) ? LOST_PAUSE_MS : PAUSE_MS;
        await pause(pauseMs * tries * (0.5 + Math.random()));
      }
    }
  }

  /** Finds out whether connections keep statements: before the first call. */
  prepare(): Promise<void> {
    return this.#connections.prepare();
  }

  /** An error of the database as one of the port. */
  explain(error: unknown): Error {
    return toLogError(error, this.place);
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
}

/** What the server itself does not outwait: a client that vanishes in a transaction keeps its locks no longer. */
function waitsUpTo(ms: number): string {
  return `set local statement_timeout = ${ms}; set local idle_in_transaction_session_timeout = ${ms}`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}

/** One question about conversations of many spaces; each row begins with the space. */
export async function askEachSpace<R extends Row>(
  db: Db,
  call: Call,
  rows: readonly Row[],
): Promise<readonly R[]> {
  const columns = (some: readonly Row[]): readonly unknown[] =>
    call.types.map((_, column) => some.map((row) => row[column]));
  if (!db.fenced || db.functions) return db.call<R>(call, ...columns(rows));
  const answers: R[] = [];
  for (const [space, some] of Map.groupBy(rows, ([first]) => String(first)))
    answers.push(...(await db.inSpace(space).call<R>(call, ...columns(some))));
  return answers;
}

/** A statement that may also be a function of the schema: then it is planned once for a connection. */
export interface Call {
  readonly name: string;
  readonly types: readonly string[];
  readonly text: string;
  /** Its answer is one value, which spares the function a table of its own. */
  readonly scalar?: boolean;
  /** Columns that are added to its answer. */
  readonly added?: string;
}

/** The texts of statements for the tables of one schema, each made once. */
export class SqlTexts {
  readonly schema: string;
  /** Whether the functions of the schema are called; else the same statements are sent. */
  readonly functions: boolean;
  readonly #texts = new Map<string, string>();
  readonly #calls = new Map<string, string>();

  constructor(schema: string, functions: boolean) {
    this.schema = schema;
    this.functions = functions;
  }

  /** A statement's text with the name of the schema in it. */
  text(statement: string): string {
    const cached = this.#texts.get(statement);
    if (cached !== undefined) return cached;
    const text = statement.replaceAll("@.", `${this.schema}.`);
    this.#texts.set(statement, text);
    return text;
  }

  call({ name, types, text, scalar = false, added }: Call): string {
    const cached = this.#calls.get(name);
    if (cached !== undefined) return cached;
    const marks = types.map((_, index) => `$${index + 1}`).join(", ");
    const own = this.functions ? `select ${scalar ? "" : "* from "}@.${name}(${marks})` : typed(text, types);
    const made = this.text(added === undefined ? own : `select a.*, ${added} from (${own}) a (part)`);
    this.#calls.set(name, made);
    return made;
  }
}

/** Parameters with their types, which a function has in its signature. */
export function typed(text: string, types: readonly string[]): string {
  return text.replaceAll(/\$(\d+)(?!::)\b/g, (mark, number: string) => {
    const type = types[Number(number) - 1];
    return type === undefined ? mark : `(${mark}::${type})`;
  });
}

/**
 * How a commit waits for the disk, as a question whose answer is the setting of its own transaction. Relaxed: not at all. Else
 * as the server is told, and for the disk at least: what was answered must not be lost with the power.
 */
export function syncCommit(relaxed: string): string {
  return `select set_config('synchronous_commit', case when ${relaxed} then 'off'
  when current_setting('synchronous_commit') = 'off' then 'on' else current_setting('synchronous_commit') end, true)`;
}

/** A statement that starts with this must use `sync` in what it writes, or PostgreSQL never evaluates it. */
export function withSync(relaxed: string): string {
  return `with sync as materialized (${syncCommit(relaxed)})`;
}
