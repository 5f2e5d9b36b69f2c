import type pg from "pg";

/** The same columns and the same indexes, and nothing else. */
export const BARE = `drop table if exists bare; create table bare (like holdfast.entries including indexes)`;
const BARE_INSERT = `insert into bare (space, conversation, seq, id, type, time, v, parent, segment, depth, kind, payload)
  select 'default', $1, u.seq, u.id, u.type, u.time, 2, u.parent, 1, u.seq, null, u.payload
  from unnest($2::int8[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[]) as u (seq, id, type, time, parent, payload)`;

/** What someone would write who has only the driver. */
export class BareRows {
  readonly #pool: pg.Pool;
  readonly #name: string | undefined;
  readonly #seqs = new Map<number, number>();
  #made: number = 0;

  /** With a name the statement is parsed once for each connection. */
  constructor(pool: pg.Pool, name?: string) {
    this.#pool = pool;
    this.#name = name;
  }

  async append(log: number, bodies: readonly object[]): Promise<void> {
    const from = this.#seqs.get(log) ?? 0;
    this.#seqs.set(log, from + bodies.length);
    const ids = bodies.map(() => `0199a1e4-9c37-7000-9bb7-${String(this.#made++).padStart(12, "0")}`);
    const time = new Date().toISOString();
    const values = [
      `log-${log}`,
      bodies.map((_, at) => from + at + 1),
      ids,
      bodies.map(() => "message"),
      bodies.map(() => time),
      bodies.map((_, at) => ids[at - 1] ?? null),
      bodies.map((body) => JSON.stringify(body)),
    ];
    const named = this.#name === undefined ? {} : { name: this.#name };
    await this.#pool.query({ text: BARE_INSERT, values, ...named });
  }
}
