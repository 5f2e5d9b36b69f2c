import type { PgClient } from "#stores/postgres/connections";
import type { PgPool } from "#stores/postgres/index";

type Sent = Pick<Parameters<PgPool["query"]>[0], "text" | "values">;

/** A pool that notes every statement that leaves it: each one is a round trip. */
export interface CountedPool {
  readonly pool: PgPool;
  /** What a piece of work sends, in order. */
  during(work: () => Promise<unknown>): Promise<readonly Sent[]>;
}

export function countedPool(given: PgPool): CountedPool {
  const sent: Sent[] = [];
  const query = (to: Pick<PgPool, "query">): PgPool["query"] => {
    return (config) => {
      sent.push(config);
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
    async during(work) {
      const before = sent.length;
      await work();
      return sent.slice(before);
    },
  };
}
