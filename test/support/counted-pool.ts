import type { PgClient, PgPool } from "#stores/postgres/index";

/** A pool that notes every statement that leaves it: each one is a round trip. */
export interface CountedPool {
  readonly pool: PgPool;
  /** What was sent, in order. */
  readonly sent: readonly string[];
  /** What a piece of work sends. */
  during(work: () => Promise<unknown>): Promise<readonly string[]>;
}

export function countedPool(given: PgPool): CountedPool {
  const sent: string[] = [];
  const query = (to: Pick<PgPool, "query">): PgPool["query"] => {
    return (config) => {
      sent.push(config.text);
      return to.query(config);
    };
  };
  const pool: PgPool = {
    query: query(given),
    async connect() {
      const client = await given.connect();
      const counted: PgClient = { query: query(client), release: (destroy) => client.release(destroy) };
      return counted;
    },
    end: () => given.end(),
  };
  return {
    pool,
    sent,
    async during(work) {
      const before = sent.length;
      await work();
      return sent.slice(before);
    },
  };
}
