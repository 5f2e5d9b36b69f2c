/** The lane is what it says: whatever runs in it shares one connection with everybody else, a transaction at a time. */
import { expect, test } from "vitest";
import { startPostgres } from "../../support/loopback-postgres.ts";
import { poolOf } from "../../support/postgres-subject.ts";

test("18: two clients have one connection between them, and wait for each other's transactions", async () => {
  await using server = await startPostgres();
  const [one, two] = [poolOf(server.url, 1), poolOf(server.url, 1)];
  const pid = "select pg_backend_pid() as pid";
  const held = await one.connect();
  const order: string[] = [];
  await held.query("begin");
  const { rows: first } = await held.query(pid);
  const waiting = two.query(pid).finally(() => order.push("two"));
  await held.query("select pg_advisory_xact_lock(1)");
  order.push("one");
  await held.query("commit");
  expect((await waiting).rows).toEqual(first);
  expect(order).toEqual(["one", "two"]);
  held.release();
  await Promise.all([one.end(), two.end()]);
  expect(server.url).not.toBe(server.direct);
});
