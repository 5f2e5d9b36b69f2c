/**
 * Goal: what a store tells PostgreSQL for one transaction holds when that transaction commits, and for nothing else.
 * Method: a throwaway loopback server with triggers that fire at the commit and write down what holds there.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { storeContract } from "#store/contract/store-contract";
import { conv, readTail, Rig, texts, user } from "#store/contract/rig";
import type { SpaceStore, Verb } from "#store/facets";
import { postgresStore, type PostgresStoreOptions } from "#stores/postgres/index";
import { holdfastHere } from "../../edges/cli/cli-here.ts";
import { poolOf, type PostgresRig, postgresRig } from "../../support/postgres-subject.ts";
import { type ProbedStore, probeStore } from "../../support/probes/probe-spaces.ts";
import { rewrittenPool } from "../../support/rewritten-pool.ts";
import pg from "pg";
import { LOG_TABLES } from "#stores/postgres/tables/schema";
import { OTHER } from "../../support/probes/stolen-ids.ts";

const TABLES = ["conversations", "search_marks", ...LOG_TABLES];

/** The rows of the other space, of every table, as a superuser sees them. */
async function postgresRows(pool: pg.Pool, schema: string): Promise<string> {
  const asked = TABLES.map(
    (table) => `select '${table} ' || row_to_json(t)::text as row from ${schema}.${table} t where space = $1`,
  );
  const { rows } = await pool.query(`${asked.join(" union all ")} order by 1`, [OTHER]);
  return JSON.stringify(rows);
}

/** A statement that has forgotten about spaces: the first fence is gone, in the text of functions too. */
function withoutSpaces(text: string): string {
  return text.replaceAll(/\b(?:\w+\.)?space = (\$1|\(\$1::text\)|\w+\.space)(?![\w.])/g, (_, other: string) =>
    other.includes("$1") ? "$1::text is not null" : "true",
  );
}

let rig: PostgresRig;
let plain: Awaited<ReturnType<PostgresRig["plainPool"]>>;

beforeAll(async () => {
  rig = await postgresRig();
  plain = await rig.plainPool(8);
});

afterAll(async () => {
  await plain?.end();
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
      // A pooler takes no such options: they would be those of a connection that is everybody's.
      const pool = poolOf(`${rig.server.direct}?options=-c%20synchronous_commit%3D${server}`, 1);
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

describe("row security, by functions,", () => {
  const options = { schema: "fenced", rowSecurity: true };
  const groups = new Set(["owner", "fork", "space"]); // the others run by statements, with the same texts

  test.each(storeContract.filter(({ group }) => groups.has(group)))("$group: $name", async (promise) => {
    await promise.run(await rig.subject({ ...options, pool: plain }));
  });

  test("shows a transaction the space that it names, and lets it write nowhere else", async () => {
    await using made = new Rig(await rig.subject({ ...options, pool: plain }));
    for (const name of ["mine", "theirs"]) {
      const space = await made.space(name);
      await made.create(space, "a", [user(`of ${name}`)]);
      await space.putBlob(a, new Uint8Array([1]));
    }
    const client = await plain.connect();
    const counts = async (named: string | null): Promise<unknown> => {
      await client.query("begin");
      if (named !== null) await client.query("select set_config('holdfast.space', $1, true)", [named]);
      const seen = await client.query(
        `select (select count(*)::int from fenced.conversations) as logs, (select count(*)::int from fenced.entries) as entries,
          (select count(*)::int from fenced.blobs) as blobs`,
      );
      const changed = await client.query(
        "update fenced.conversations set title = 'x' where space = 'theirs'",
      );
      await client.query("rollback");
      return [...Object.values(seen.rows[0] as object), changed.rowCount];
    };
    try {
      expect(await counts(null)).toEqual([0, 0, 0, 0]);
      expect(await counts("mine")).toEqual([1, 2, 1, 0]);
      expect(await counts("theirs")).toEqual([1, 2, 1, 1]);
      // Spaces are found so: heads can be seen, and nothing else.
      expect(await counts("*")).toEqual([2, 0, 0, 0]);
      for (const named of ["mine", "*"]) {
        await client.query("begin");
        await client.query("select set_config('holdfast.space', $1, true)", [named]);
        const put = "insert into fenced.labels values ('theirs', 'a', 9, 't', 'l')";
        await expect(client.query(put)).rejects.toMatchObject({ code: "42501" });
        await client.query("rollback");
      }
      // Nothing is left in a connection that a store has used.
      const left = await client.query("select current_setting('holdfast.space', true) as space");
      expect(["", null]).toContain(left.rows[0].space);
    } finally {
      client.release();
    }
  });

  test("costs an append and a context no round trip, and tails of several spaces one", async () => {
    await rig.subject({ ...options, pool: plain });
    const sent: string[] = [];
    const pool = rewrittenPool(plain, (text) => {
      sent.push(text);
      return text;
    });
    const open = (): ReturnType<typeof postgresStore> => postgresStore({ ...options, pool, pollMs: 20 });
    await using made = new Rig({ open });
    const [one, two] = [await made.space("one"), await made.space("two")];
    for (const space of [one, two]) await made.create(space, "a", [user("one")]);
    sent.length = 0;
    await made.append(one, "a", [user("two")]);
    expect(await texts(one, "a")).toEqual(["one", "two"]);
    expect(sent).toHaveLength(2);
    // What waits in several spaces is looked for at once, and what another one writes is found.
    sent.length = 0;
    const tails = [one, two].map((space, at) => readTail(space, "a", 3 - at, 1));
    await expect.poll(() => sent.filter((text) => text.includes("grown"))).not.toEqual([]);
    for (const name of ["one", "two"]) await made.append(await made.space(name), "a", [user("more")]);
    for (const tail of tails) expect(await tail).toMatchObject([{ type: "message" }]);
  });

  test("the doctor says when it does not hold for the role that asks", async () => {
    const found = async (pool: unknown): Promise<readonly string[]> => {
      await using made = new Rig({ open: () => postgresStore({ schema: "fenced", pool: pool as never }) });
      return (await (await made.space()).check({ repair: false })).map(({ message }) => message);
    };
    await rig.subject({ ...options, pool: plain });
    expect(await found(plain)).toEqual([]);
    expect(await found(rig.pool)).toMatchObject([/superuser/].map((said) => expect.stringMatching(said)));
    await rig.pool.query("alter role plain bypassrls");
    expect(await found(plain)).toEqual([expect.stringMatching(/BYPASSRLS/)]);
    await rig.pool.query("alter role plain nobypassrls; alter table fenced.runs no force row level security");
    expect(await found(plain)).toEqual([expect.stringMatching(/not forced for runs/)]);
    // Opened once more with the wish, it is put right.
    await rig.subject({ ...options, pool: plain });
    expect(await found(plain)).toEqual([]);
    // A wish that a store for reading only cannot carry out.
    await rig.subject({ schema: "unfenced" });
    const address = `${rig.server.url}?schema=unfenced&row_security=on`;
    const { status, out } = await holdfastHere(address, ["doctor"]);
    expect([status, /superuser/.test(out), /not enabled for blobs/.test(out)]).toEqual([0, true, true]);
  });

  test("holds for the roles that the guide makes", async () => {
    const guide = readFileSync(join(import.meta.dirname, "../../../docs/how-to/operate/postgres.md"), "utf8");
    const [owning = "", granting = ""] = [...guide.matchAll(/^```sql\n([\s\S]*?)^```$/gm)].map(
      ([, text]) => text,
    );
    const as = (role: string): string => rig.server.url.replace("postgres:loopback", `${role}:secret`);
    await rig.pool.query(owning);
    const url = as("holdfast_owner");
    await (await postgresStore({ url, schema: "agents" })).close();
    await rig.pool.query(granting);
    const app = { url: as("holdfast_app"), schema: "agents", rowSecurity: true };
    // Only the owner can put the fence up; then whoever asks for it has it.
    await expect(postgresStore(app)).rejects.toMatchObject({ code: "read_only" });
    await (await postgresStore({ ...app, url })).close();
    await using made = new Rig({ open: () => postgresStore(app) });
    const [one, two] = [await made.space("one"), await made.space("two")];
    await made.create(one, "a", [user("one")]);
    expect([await texts(one, "a"), await two.check({ repair: false })]).toEqual([["one"], []]);
    await expect(two.head(a)).rejects.toMatchObject({ code: "conversation_not_found" });
  });
});

const READING: readonly Verb[] = [
  "head",
  "entry",
  "window",
  "page",
  "read",
  "batchEnds",
  "list",
  "ids",
  "labelled",
  "runs",
  "search",
  "getBlob",
  "findAppend",
  "check",
];

describe("stolen ids", () => {
  const probed = (
    options: PostgresStoreOptions & { schema: string },
    spoilt: boolean = false,
  ): ProbedStore => ({
    make: () => rig.subject(options),
    bytes: () => postgresRows(rig.pool, options.schema),
    spoilt,
  });
  const reference = probed({ schema: "reference" });

  test("lead nowhere", async () => {
    const { leaks, changed } = await probeStore(probed({ schema: "holdfast" }), reference);
    expect([leaks, changed]).toEqual([[], false]);
  });

  test.each([true, false])(
    "lead nowhere with the first fence removed, with functions: %s",
    async (functions) => {
      const forgetful = rewrittenPool(plain, withoutSpaces);
      const schema = functions ? "one_fence" : "one_fence_statements";
      const options = { schema, functions, rowSecurity: true, pool: forgetful };
      const { leaks, changed } = await probeStore(probed(options), reference);
      expect([leaks, changed]).toEqual([[], false]);
    },
  );

  test("lead to the other space with both fences removed: the probes can fail", async () => {
    const pool = rewrittenPool(plain, withoutSpaces);
    const { leaks, changed } = await probeStore(probed({ schema: "no_fence", pool }, true), reference);
    const verbs = new Set(leaks.map((attempt) => attempt.split(" ")[1]));
    expect(changed).toBe(true);
    for (const verb of READING) expect(verbs).toContain(verb);
  });
});
