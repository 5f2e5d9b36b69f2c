import type { StoreHealth } from "#store/requests";
import type { Db } from "#stores/postgres/db/db";
import { foundVersion } from "#stores/postgres/tables/migrations";

/** A role without pg_read_all_stats sees its own connections only. */
const HEALTH = `select pg_is_in_recovery(), current_setting('server_version'),
  (extract(epoch from clock_timestamp()) * 1000)::int8,
  coalesce((select (extract(epoch from max(clock_timestamp() - xact_start)) * 1000)::int8 from pg_stat_activity
    where datname = current_database() and state like 'idle in transaction%'), 0)`;

type HealthRow = readonly [standby: boolean, server: string, nowMs: number, idleMs: number];

/** Asked once: whoever wants to know whether it answers does not want it to be tried again. */
export async function readHealth(db: Db, nowMs: () => number): Promise<StoreHealth> {
  const connections = db.counts;
  const counted = connections === null ? {} : { connections };
  const once = db.with({ tries: 1 });
  try {
    const before = nowMs();
    const [row] = await once.read<HealthRow>(HEALTH);
    const middle = (before + nowMs()) / 2;
    const schema = await foundVersion(once);
    if (row === undefined || schema === null)
      return { reachable: false, problem: `${db.place}: The tables are not there`, ...counted };
    const [standby, server, serverMs, idleTransactionMs] = row;
    return {
      reachable: true,
      problem: null,
      role: standby ? "standby" : "primary",
      server: `PostgreSQL ${server}`,
      schemaVersion: schema.version,
      clockAheadMs: Math.round(serverMs - middle),
      idleTransactionMs,
      ...counted,
    };
  } catch (error) {
    return { reachable: false, problem: db.explain(error).message, ...counted };
  }
}
