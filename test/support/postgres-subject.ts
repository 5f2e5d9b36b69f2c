import pg from "pg";
import type { ContractSubject } from "#store/contract/rig";
import { postgresStore, type PostgresStoreOptions } from "#stores/postgres/index";
import { LOG_TABLES } from "#stores/postgres/tables/schema";
import type { NamedSubject } from "./subjects.ts";
import { type LoopbackPostgres, startPostgres } from "./loopback-postgres.ts";

/** A server whose stores share one pool; tables are emptied between cases, which is cheaper than making them anew. */
export interface PostgresRig extends AsyncDisposable {
  readonly server: LoopbackPostgres;
  readonly pool: pg.Pool;
  /** Past the pooler, in the lane that has one: for what a test holds or looks at from outside. */
  readonly direct: pg.Pool;
  subject(options?: PostgresStoreOptions): Promise<ContractSubject>;
  /** Connections of a role that may make schemas and is no superuser. */
  plainPool(connections: number): Promise<pg.Pool>;
}

const TABLES = ["conversations", "search_marks", ...LOG_TABLES];

export async function postgresRig(connections: number = 8): Promise<PostgresRig> {
  const server = await startPostgres();
  const pool = poolOf(server.url, connections);
  const direct = poolOf(server.direct, 4);
  return {
    server,
    pool,
    direct,
    async subject(options = {}) {
      const { schema = "holdfast" } = options;
      await (await postgresStore({ pool, ...options })).close();
      await pool.query(TABLES.map((table) => `delete from ${schema}.${table}`).join(";"));
      return {
        open: (nowMs) => postgresStore({ pool, nowMs, pollMs: 20, ...options }),
        cutPower: () => server.cutPower(),
      };
    },
    async plainPool(most) {
      const { rows } = await pool.query("select from pg_roles where rolname = 'plain'");
      if (rows.length === 0)
        await pool.query(
          "create role plain login password 'plain'; grant create on database postgres to plain",
        );
      const url = new URL(server.url);
      url.username = url.password = "plain";
      return poolOf(url.href, most);
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([pool.end(), direct.end()]);
      await server[Symbol.asyncDispose]();
    },
  };
}

/** A pool that outlives the deaths of its connections. */
export function poolOf(url: string, connections: number): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: connections });
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  return pool;
}

/** A subject among others: each that lives at the same time has a schema of its own, emptied for the next one. */
export function postgresNamed(rig: () => PostgresRig): NamedSubject {
  const free: string[] = [];
  let made = 0;
  return {
    name: "postgres",
    durable: true,
    make() {
      const schema = free.pop() ?? `subject_${made++}`;
      let subject: Promise<ContractSubject> | null = null;
      return {
        open: async (nowMs) => {
          subject ??= rig().subject({ schema });
          return (await subject).open(nowMs);
        },
        [Symbol.dispose]: () => void free.push(schema),
      };
    },
  };
}
