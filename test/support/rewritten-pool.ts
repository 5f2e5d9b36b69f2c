import type { PgPool } from "#stores/postgres/index";

/** A pool whose statements are sent as `rewrite` has them; each is a round trip. */
export function rewrittenPool(given: PgPool, rewrite: (text: string) => string): PgPool {
  const query = (to: Pick<PgPool, "query">): PgPool["query"] => {
    return (config) => to.query({ ...config, text: rewrite(config.text) });
  };
  return {
    query: query(given),
    async connect() {
      const client = await given.connect();
      return { query: query(client), release: (destroy) => client.release(destroy) };
    },
    end: async () => undefined,
  };
}
