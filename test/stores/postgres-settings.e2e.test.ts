/**
 * Goal: what a store tells PostgreSQL for one transaction holds when that transaction commits, and for nothing else.
 * Method: a throwaway loopback server with triggers that fire at the commit and write down what holds there.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { conv, Rig, user } from "#store/contract/rig";
import type { SpaceStore } from "#store/facets";
import { poolOf, type PostgresRig, postgresRig } from "../support/postgres-subject.ts";

let rig: PostgresRig;

beforeAll(async () => {
  rig = await postgresRig();
});

afterAll(async () => {
  await rig?.[Symbol.asyncDispose]();
});

const a = conv("a");

type Act = (made: Rig, space: SpaceStore) => Promise<unknown>;

/** What writes, and whether it may be lost with the power. */
const ACTS: { readonly [name: string]: readonly [act: Act, relaxed: boolean] } = {
  create: [(made, space) => made.create(space, "a", [user("one", "m1")]), false],
  "a prompt": [(made, space) => made.append(space, "a", [user("two")], { durability: "relaxed" }), false],
  "an update": [(made, space) => made.append(space, "a", [{ type: "update", data: "…" }]), true],
  "a title": [(made, space) => made.append(space, "a", [{ type: "title", title: "T" }]), false],
  "a relaxed title": [
    (made, space) => made.append(space, "a", [{ type: "title", title: "U" }], { durability: "relaxed" }),
    true,
  ],
  fork: [(made, space) => made.fork(space, "a", "b"), false],
  acquire: [(_, space) => space.acquire({ conversation: a, writer: "w", leaseMs: 60_000 }), false],
  renew: [
    async (_, space) =>
      space.renew({ conversation: a, epoch: (await space.head(a)).epoch, leaseMs: 60_000, writer: "w" }),
    true,
  ],
  putBlob: [(_, space) => space.putBlob(a, new Uint8Array([1])), false],
  search: [(_, space) => space.search({ query: "one", limit: 1 }), true],
  erase: [(_, space) => space.erase(a), false],
};

async function watchCommits(schema: string): Promise<void> {
  const watch = ["conversations", "blobs", "search_marks"].map(
    (table) => `create constraint trigger watch after insert or update or delete on ${schema}.${table}
      deferrable initially deferred for each row execute function ${schema}.watch()`,
  );
  await rig.pool.query(`create table ${schema}.commits (waits text);
    create function ${schema}.watch() returns trigger language plpgsql as $$ begin
      insert into ${schema}.commits values (current_setting('synchronous_commit')); return null; end $$;
    ${watch.join(";")}`);
}

describe.each([true, false])("with functions: %s", (functions) => {
  test("a commit waits as the server is told, for the disk at least, and not at all where it is relaxed", async () => {
    const schema = functions ? "sync_functions" : "sync_statements";
    await rig.subject({ schema, functions });
    await watchCommits(schema);
    for (const [server, full] of [
      ["off", "on"],
      ["on", "on"],
      ["local", "local"],
      ["remote_apply", "remote_apply"],
    ]) {
      const pool = poolOf(`${rig.server.url}?options=-c%20synchronous_commit%3D${server}`, 1);
      {
        await using made = new Rig(await rig.subject({ schema, functions, pool }));
        const space = await made.space();
        const found: { [name: string]: readonly string[] } = {};
        for (const [name, [act]] of Object.entries(ACTS)) {
          await rig.pool.query(`delete from ${schema}.commits`);
          await act(made, space);
          const { rows } = await rig.pool.query<{ waits: string }>(
            `select distinct waits from ${schema}.commits`,
          );
          found[name] = rows.map(({ waits }) => waits);
        }
        const wanted = Object.entries(ACTS).map(([name, [, relaxed]]) => [name, [relaxed ? "off" : full]]);
        expect(found).toEqual(Object.fromEntries(wanted));
        // Nothing of it is left in the connection, which a pooler gives to the next one.
        expect((await pool.query("show synchronous_commit")).rows).toEqual([{ synchronous_commit: server }]);
      }
      await pool.end();
    }
  });
});
