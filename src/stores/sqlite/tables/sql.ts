import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

/** Prepared statements of one connection. Rows come as arrays: half the cost of objects on the hot path. */
export class Sql {
  readonly db: DatabaseSync;
  /** How many statements that write have been run. */
  writes: number = 0;
  readonly #prepared = new Map<string, StatementSync>();

  constructor(db: DatabaseSync) {
    this.db = db;
  }

  #statement(text: string): StatementSync {
    const cached = this.#prepared.get(text);
    if (cached !== undefined) return cached;
    const statement = this.db.prepare(text);
    statement.setReturnArrays(true);
    this.#prepared.set(text, statement);
    return statement;
  }

  /** Whole results only: a statement left open would keep the write-ahead log from ever being reset. */
  all<Row>(text: string, ...values: SQLInputValue[]): Row[] {
    return this.#statement(text).all(...values) as unknown as Row[];
  }

  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- only the caller knows its statement's row
  get<Row>(text: string, ...values: SQLInputValue[]): Row | undefined {
    return this.#statement(text).get(...values) as unknown as Row | undefined;
  }

  run(text: string, ...values: SQLInputValue[]): number {
    this.writes++;
    return Number(this.#statement(text).run(...values).lastInsertRowid);
  }

  pragma(name: string): number {
    return this.get<[number]>(`PRAGMA ${name}`)?.[0] ?? 0;
  }
}
