import { setTimeout as pause } from "node:timers/promises";
import { isLost, mayTryAgain, toLogError } from "#stores/postgres/postgres-errors";

/** A row as an array; only the statement says what is in it. */
export type Row = readonly unknown[];

/** What carries statements out: a pool, or one connection of it within a transaction. */
export interface Session {
  query(text: string, values: readonly unknown[]): Promise<readonly Row[]>;
}

/** The connections of a store. A statement by itself may go over any of them. */
export interface Connections extends Session {
  /** One connection, given back when the work is over; one that failed is thrown away. */
  use<T>(work: (session: Session) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

export interface Call {
  readonly name: string;
  readonly types: readonly string[];
  readonly text: string;
}

const TRIES = 6;
const PAUSE_MS = 5;
const LOST_PAUSE_MS = 100;

/** Statements on the tables of one schema. Nothing is left behind in a connection: a pooler may give it to anybody. */
export class Db {
  readonly #connections: Connections;
  readonly #schema: string;
  readonly #functions: boolean;
  readonly place: string;
  readonly #tries: number;
  readonly #texts = new Map<string, string>();
  readonly #calls = new Map<string, string>();

  constructor(
    connections: Connections,
    given: { readonly schema: string; readonly functions: boolean; readonly place: string },
    tries: number = TRIES,
  ) {
    this.#tries = tries;
    this.#connections = connections;
    this.#schema = given.schema;
    this.#functions = given.functions;
    this.place = given.place;
  }

  get schema(): string {
    return this.#schema;
  }

  /** Whether the functions of the schema are called; else the same statements are sent. */
  get functions(): boolean {
    return this.#functions;
  }

  /** A statement's text with the name of the schema in it. */
  text(statement: string): string {
    const known = this.#texts.get(statement);
    if (known !== undefined) return known;
    const text = statement.replaceAll("@.", `${this.#schema}.`);
    this.#texts.set(statement, text);
    return text;
  }

  /** A question: asked again when the connection was cut, or others were in the way. */
  async read<R extends Row>(statement: string, ...values: readonly unknown[]): Promise<readonly R[]> {
    return this.#retry(
      () => this.#connections.query(this.text(statement), values) as Promise<readonly R[]>,
      true,
    );
  }

  /** The same for a statement that may also be a function of the schema. */
  async call<R extends Row>(call: Call, ...values: readonly unknown[]): Promise<readonly R[]> {
    return this.read<R>(this.callText(call), ...values);
  }

  callText({ name, types, text }: Call): string {
    const known = this.#calls.get(name);
    if (known !== undefined) return known;
    const marks = types.map((_, at) => `$${at + 1}`).join(", ");
    const made = this.text(this.#functions ? `select * from @.${name}(${marks})` : typed(text, types));
    this.#calls.set(name, made);
    return made;
  }

  /** A single statement that writes. After a cut connection nobody knows whether it did: that is the caller's to find out. */
  async write<R extends Row>(statement: string, ...values: readonly unknown[]): Promise<readonly R[]> {
    return this.#retry(
      () => this.#connections.query(this.text(statement), values) as Promise<readonly R[]>,
      false,
    );
  }

  /** Several statements as one. The work is done again from its start where others were in the way. */
  async transaction<T>(work: (session: Session) => Promise<T>, begin: string = "begin"): Promise<T> {
    return this.#retry(
      () =>
        this.#connections.use(async (session) => {
          await session.query(begin, []);
          try {
            const result = await work({
              query: (text, values) => session.query(this.text(text), values),
            });
            await session.query("commit", []);
            return result;
          } catch (error) {
            await session.query("rollback", []).catch(() => undefined);
            throw error;
          }
        }),
      false,
    );
  }

  /** The same on the tables of one transaction: what the work asks and writes is asked and written there. */
  async within<T>(work: (db: Db) => Promise<T>): Promise<T> {
    return this.transaction((session) => {
      const only: Connections = {
        query: (text, values) => session.query(text, values),
        use: (use) => use(session),
        close: async () => undefined,
      };
      // A statement that failed ends its transaction, so it is the whole that is done again.
      return work(new Db(only, this, 1));
    });
  }

  async #retry<T>(work: () => Promise<T>, repeatable: boolean): Promise<T> {
    for (let tries = 1; ; tries++) {
      try {
        return await work();
      } catch (error) {
        const again = mayTryAgain(error) || (repeatable && isLost(error));
        if (!again || tries >= this.#tries) throw error;
        const pauseMs = isLost(error) ? LOST_PAUSE_MS : PAUSE_MS;
        await pause(pauseMs * tries * (0.5 + Math.random()));
      }
    }
  }

  /** An error of the database as one of the port. */
  explain(error: unknown): Error {
    return toLogError(error, this.place);
  }

  close(): Promise<void> {
    return this.#connections.close();
  }
}

/** Parameters with their types, which a function has in its signature. */
export function typed(text: string, types: readonly string[]): string {
  return text.replaceAll(/\$(\d+)(?!::)\b/g, (mark, number: string) => {
    const type = types[Number(number) - 1];
    return type === undefined ? mark : `(${mark}::${type})`;
  });
}
