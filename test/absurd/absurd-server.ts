import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { type LoopbackPostgres, startPostgres } from "../support/loopback-postgres.ts";
import { absurdAddress } from "./absurd-lane.ts";

/** The SQL is in no package of npm: it is given by its file, or lies in a checkout beside this tree. */
const CHECKOUT = join(import.meta.dirname, "..", "..", "..", "absurd", "sql", "absurd.sql");

function absurdSql(): string {
  const file = process.env["HOLDFAST_ABSURD_SQL"] ?? CHECKOUT;
  if (!existsSync(file))
    throw new Error(
      `There is no ${file}: fetch github.com/earendil-works/absurd beside this tree, or name its sql/absurd.sql in HOLDFAST_ABSURD_SQL`,
    );
  return readFileSync(file, "utf8");
}

export interface AbsurdServer extends AsyncDisposable {
  /** The address of a queue that nobody has used. */
  queue(): string;
  /** Of the database that the queues are in. */
  readonly url: string;
  /** The address of a database of its own, with Absurd's SQL. */
  database(): Promise<string>;
}

export async function startAbsurd(): Promise<AbsurdServer> {
  const sql = absurdSql();
  const server: LoopbackPostgres = await startPostgres();
  const run = async (url: string, text: string): Promise<void> => {
    const client = new pg.Client({ connectionString: url });
    await client.connect();
    await client.query(text);
    await client.end();
  };
  await run(server.url, sql);
  let [queues, databases] = [0, 0];
  return {
    url: server.url,
    async database() {
      const name = `other${++databases}`;
      const url = server.url.replace(/postgres$/, name);
      await run(server.url, `create database ${name}`);
      await run(url, sql);
      return url;
    },
    queue: () => absurdAddress({ url: server.url, queue: `q${++queues}` }),
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
