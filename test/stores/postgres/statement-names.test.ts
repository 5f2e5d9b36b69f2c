/**
 * Goal: a statement has a name only where the connection has a process of the server to itself, and one that the connection does
 * not know is sent again without.
 * Method: a client and a sender that answer as a server and poolers do.
 */
import { expect, test } from "vitest";
import type { PgClient, PgQuery } from "#stores/postgres/connections";
import { StatementNames } from "#stores/postgres/statement-names";

const OPTIONS = {
  rowMode: "array",
  types: { getTypeParser: () => String },
  query_timeout: 1_000,
} satisfies Partial<PgQuery>;

/** A connection that was told of one process and is answered by another one. */
function client(told: number | null | undefined, answering: number): PgClient {
  return {
    ...(told === undefined ? {} : { processID: told }),
    query: async () => ({ rows: [[answering]] }),
    release: () => undefined,
  };
}

const sent = async (names: StatementNames, text: string): Promise<string | null> =>
  names.send(text, async ({ name }) => name ?? null);

test.each([
  ["a pooler", 1, 2],
  ["a driver that does not say the process", undefined, 2],
  ["a server that does not", null, 2],
])("behind %s no statement has a name", async (_, told, answering) => {
  const names = new StatementNames();
  await names.find(client(told, answering), OPTIONS);
  expect(await sent(names, "select 1")).toBeNull();
});

test("in front of a server each text has a name of its own, the same every time", async () => {
  const names = new StatementNames();
  expect(await sent(names, "select 1")).toBeNull();
  await names.find(client(7, 7), OPTIONS);
  const one = await sent(names, "select 1");
  expect(one).toEqual(expect.any(String));
  expect(await sent(names, "select 1")).toBe(one);
  expect(await sent(names, "select 2")).not.toBe(one);
});

test.each(["26000", "42P05", "0A000"])(
  "a statement that fails with %s is sent again without a name, and so are all from then on",
  async (code) => {
    const names = new StatementNames();
    await names.find(client(7, 7), OPTIONS);
    const tried: (string | undefined)[] = [];
    const answer = await names.send("select 1", async ({ name }) => {
      tried.push(name);
      if (name !== undefined) throw Object.assign(new Error("unusable"), { code });
      return "answered";
    });
    expect(answer).toBe("answered");
    expect(tried).toEqual([expect.any(String), undefined]);
    expect(await sent(names, "select 1")).toBeNull();
  },
);

test("another failure is the caller's, and names stay in use", async () => {
  const names = new StatementNames();
  await names.find(client(7, 7), OPTIONS);
  const failing = names.send("select 1", async () => {
    throw Object.assign(new Error("no room"), { code: "53100" });
  });
  await expect(failing).rejects.toMatchObject({ code: "53100" });
  expect(await sent(names, "select 1")).not.toBeNull();
});
