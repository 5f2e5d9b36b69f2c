/**
 * Goal: an app's messages in PostgreSQL are moved in and compared, from a queue of Absurd and from a table of its own.
 * Method: a throwaway server. The rows of the queue were recorded from a real one that Absurd's own SDK filled (`npm run test:absurd`
 * makes it and migrates it itself); the table is read by a role that may do nothing else.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type pg from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openHoldfast } from "#open";
import { type AbsurdRows, loadRows, readRows } from "../../../support/absurd-rows.ts";
import { type LoopbackPostgres, startPostgres } from "../../../support/loopback-postgres.ts";
import { poolOf } from "../../../support/postgres-subject.ts";
import { tempDir } from "../../../support/temp-dir.ts";
import { checkMigrated } from "../../../transfer/migrate/absurd-cases.ts";
import { holdfastHere } from "../cli-here.ts";
import { jsonLines, MAIN, type Ran, ROOT } from "../cli-run.ts";
import { guideCommands } from "../../../docs/guide-commands.ts";

const folder = tempDir();
let server: LoopbackPostgres;
let pool: pg.Pool;

beforeAll(async () => {
  server = await startPostgres();
  pool = poolOf(server.url, 4);
});

afterAll(async () => {
  await pool?.end();
  await server?.[Symbol.asyncDispose]();
  folder[Symbol.dispose]();
});

const ROWS = readRows(readFileSync(join(ROOT, "test/transfer/migrate/absurd-rows.jsonl"), "utf8"));

/** The same queue as an app leaves it whose steps give the whole list each time. */
function wholeLists({ tasks, checkpoints }: AbsurdRows): AbsurdRows {
  const lists = new Map<string, unknown[]>();
  const number = (name: string | null | undefined): number => Number(/#(\d+)$/.exec(name ?? "")?.[1] ?? 1);
  const inOrder = checkpoints.toSorted(([, one], [, other]) => number(one) - number(other));
  const rows = inOrder.map((row) => {
    const [task, , state] = row;
    const value = JSON.parse(state ?? "null") as unknown;
    const { appendedMessages, newMessages = appendedMessages, role } = Object(value);
    const added: unknown[] | undefined = newMessages ?? (role === undefined ? undefined : [value]);
    if (added === undefined) return row;
    const list = (lists.get(task ?? "") ?? []).concat(added);
    lists.set(task ?? "", list);
    return row.with(2, JSON.stringify({ messages: list }));
  });
  return { tasks, checkpoints: rows };
}

test("a queue of Absurd is brought step by step, and is the same as its step results", async () => {
  await loadRows(pool, "turns", ROWS);
  const given = { pool, url: server.url, queue: "turns" };
  // Into a file, and into the database that the queue is in.
  const file = await checkMigrated({ ...given, store: `sqlite:${join(folder.path, "queue.db")}` });
  const beside = await checkMigrated({ ...given, store: `${server.url}?schema=holdfast` });
  expect(file).toMatchObject({ messages: 2 * (1 + 12 * 2 + 1) + 4 + 2 });
  expect(beside).toEqual(file);
  // The guide's walk through a queue, word for word.
  await loadRows(pool, "default", ROWS);
  const walk = guideCommands("operate/migrate.md").filter((line) => line.includes("$DATABASE_URL"));
  for (const line of walk) {
    const args = line
      .replaceAll('"', "")
      .replaceAll("$DATABASE_URL", server.url)
      .replace("schema=holdfast", "schema=walk");
    expect((await holdfastHere("memory:", args.split(" ").slice(1))).status, line).toBe(0);
  }
  expect(walk).toHaveLength(3);
  const one = async (...args: readonly string[]): Promise<Ran> =>
    holdfastHere(`${server.url}?schema=holdfast`, [
      "migrate",
      "--from",
      `${server.url}?queue=turns`,
      ...args,
    ]);
  // A checkpoint that says something else is found, and told with its task and step.
  const changed = `update absurd.c_turns set state = replace(state::text, 'Looking (7)', 'looking (7)')::jsonb where checkpoint_name = 'agent-loop#7'`;
  await pool.query(changed);
  const differs = await one("--verify");
  expect(differs.status).toBe(8);
  expect(differs.err).toMatch(/absurd\.c_turns, task [0-9a-f-]{36}, step agent-loop#7\)/);
  expect(differs.err).toMatch(/^there: .*looking \(7\)/m);
  expect(differs.err).toMatch(/^here: .*Looking \(7\)/m);
  // Steps that have all messages again and again are not taken for what they appended.
  await loadRows(pool, "whole", wholeLists(ROWS));
  const whole = [
    "migrate",
    "--from",
    `${server.url}?queue=whole`,
    "--to",
    `sqlite:${join(folder.path, "whole.db")}`,
  ];
  const refused = await holdfastHere("memory:", whole);
  expect([refused.status, refused.err.includes("--whole-lists")]).toEqual([2, true]);
  expect((await holdfastHere("memory:", [...whole, "--whole-lists"])).out).toContain("Brought 58 messages");
  expect((await holdfastHere("memory:", [...whole, "--whole-lists", "--verify"])).status).toBe(0);
  // A step without which the order is not known, and one whose messages are none.
  await pool.query("delete from absurd.c_turns where checkpoint_name = 'iteration'");
  await pool.query(
    `update absurd.c_turns set state = '{"appendedMessages":[{"role":"king"}]}' where checkpoint_name = 'agent-loop#2'`,
  );
  const bad = await one("--verify");
  expect(bad.err).toMatch(/step iteration#2/);
  expect(bad.err).toMatch(/step agent-loop#2: .*"king"/);
  expect((await one("--conversation-in", "nowhere", "--task", "mail", "--dry-run")).status).toBe(2);
  const none = await holdfastHere("memory:", ["migrate", "--from", `${server.url}?queue=nowhere`]);
  expect([none.status, none.err.includes("loopback")]).toEqual([2, false]);
});

test("tasks of several tenants are runs in their own spaces, by their trigger, with mailbox and parent", async () => {
  const task = (n: number, params: object, state: string): readonly (string | null)[] => {
    const at = `2026-01-01 10:0${n}:00+00`;
    return [`01a1e4e4-0000-7000-8000-00000000000${n}`, "mail", JSON.stringify(params), at, at, state];
  };
  const trigger = { type: "email", id: "<17@example.org>" };
  const acme = { tenantId: "acme", conversationId: "thread", prompt: "Is it paid?" };
  const tasks = [
    task(1, { ...acme, trigger, mailbox: "billing" }, "completed"),
    task(2, { ...acme, parentConversationId: "inbox" }, "failed"),
    task(3, { tenantId: "umbrella", conversationId: "thread", prompt: "Hello?" }, "cancelled"),
    task(4, acme, "running"),
  ];
  const reply = JSON.stringify({ appendedMessages: [{ role: "assistant", content: "Yes." }] });
  const checkpoints = tasks.map(([id = null, , , at = null]) => [id, "agent-loop", reply, "committed", at]);
  await loadRows(pool, "tenants", { tasks, checkpoints });
  const store = `sqlite:${join(folder.path, "tenants.db")}`;
  const args = ["migrate", "--from", `${server.url}?queue=tenants`, "--space-in", "tenantId"];
  expect((await holdfastHere(store, args)).out).toContain("Brought 8 messages in 2 conversations");
  expect((await holdfastHere(store, [...args, "--verify"])).status).toBe(0);
  const runsOf = async (space: string): Promise<readonly unknown[]> => {
    await using holdfast = await openHoldfast({ store, space, readOnly: true });
    const runs = await Array.fromAsync(holdfast.runs());
    const { summary } = await (await holdfast.conversation("thread")).head();
    return [
      summary?.parent,
      ...runs.map((run) => [run.trigger, run.mailbox, run.status, run.prompts, run.steps]),
    ];
  };
  const [, second, third, fourth] = tasks.map(([id]) => id);
  expect(await runsOf("acme")).toEqual([
    { conversation: "inbox" },
    [trigger, "billing", "completed", 1, 1],
    [{ type: "mail", id: second }, null, "failed", 1, 1],
    [{ type: "mail", id: fourth }, null, "running", 1, 1],
  ]);
  expect(await runsOf("umbrella")).toEqual([null, [{ type: "mail", id: third }, null, "failed", 1, 1]]);
  // Once the task ends so does its run; a second pass writes that and nothing else.
  await pool.query(`update absurd.t_tenants set state = 'completed' where task_id = $1`, [fourth]);
  expect((await holdfastHere(store, args)).out).toContain("Nothing new");
  expect((await runsOf("acme")).at(-1)).toEqual([{ type: "mail", id: fourth }, null, "completed", 1, 1]);
  await pool.query(`update absurd.t_tenants set params = params - 'tenantId' where task_id = $1`, [fourth]);
  expect((await holdfastHere(store, args)).status).toBe(2);
});

test("a table of messages is brought from PostgreSQL by a role that may only read it, and is the same", async () => {
  await pool.query(`create schema chat;
    create table chat.entries (id bigserial primary key, "threadId" uuid not null, role text, content jsonb, "createdAt" timestamptz default now());
    create role reader login password 'loopback'; grant usage on schema chat to reader; grant select on chat.entries to reader`);
  const ids = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];
  for (let n = 0; n < 30; n++)
    await pool.query(
      `insert into chat.entries ("threadId", role, content, "createdAt") values ($1, $2, $3, $4)`,
      [
        ids[n % 2],
        n % 4 < 2 ? "user" : "assistant",
        JSON.stringify(n % 3 === 0 ? `text ${n}` : [{ type: "text", text: `block ${n}` }]),
        // Many of one moment: their ids say which came first.
        "2026-01-01T10:00:00+01:00",
      ],
    );
  const from = server.url.replace("postgres:loopback@", "reader:loopback@");
  const store = `sqlite:${join(folder.path, "table.db")}`;
  const migrate = (...args: readonly string[]): Promise<Ran> =>
    holdfastHere(store, ["migrate", "--from", from, "--table", "chat.entries", ...args]);
  const first = await migrate("--json");
  expect(jsonLines(first.out).at(-1)).toMatchObject({ conversations: 2, messages: 30, left: 0 });
  const shown = (await holdfastHere(store, ["log", ids[0] ?? "", "--json"])).out;
  expect(shown).toContain("2026-01-01T09:00:00.000Z");
  await using holdfast = await openHoldfast({ store, readOnly: true });
  const branch = await (await holdfast.conversation(ids[0] ?? "")).branch();
  const texts = branch.flatMap((entry) =>
    entry.type === "message" ? [Number(/\d+$/.exec(String(Object(entry.message.content[0]).text)))] : [],
  );
  expect(texts).toEqual(Array.from({ length: 15 }, (_, n) => n * 2));
  expect((await migrate("--verify")).status).toBe(0);
  // A store in the same database is not taken for the app's table.
  const found = await holdfastHere(`${server.url}?schema=beside`, [
    "migrate",
    "--from",
    server.url,
    "--json",
  ]);
  expect(jsonLines(found.out).at(-1)).toMatchObject({ conversations: 2, messages: 30 });
  expect((await holdfastHere(`${server.url}?schema=beside`, ["migrate", "--from", server.url])).status).toBe(
    0,
  );
  await pool.query(`update chat.entries set role = 'assistant' where id = 30`);
  expect((await migrate("--verify")).status).toBe(8);
  const refused = await holdfastHere(store, [
    "migrate",
    "--from",
    from.replace("loopback", "wrong"),
    "--table",
    "x",
  ]);
  expect([refused.status, /wrong|loopback/.test(refused.err)]).toEqual([5, false]);
});

test("a process that brings and follows is killed, begun again and stopped: each message is there once", async () => {
  await pool.query(
    `create table notes (chat_id text, ordinal int, role text, content text, primary key (chat_id, ordinal))`,
  );
  const insert = (from: number, to: number): Promise<unknown> =>
    pool.query(
      `insert into notes select 'chat ' || n % 5, n, 'user', 'note ' || n from generate_series($1::int, $2::int) n`,
      [from, to],
    );
  await insert(1, 4_000);
  const store = `sqlite:${join(folder.path, "followed.db")}`;
  const args = ["migrate", "--from", server.url, "--table", "notes", "--to", store];
  const start = (): ChildProcess =>
    spawn(process.execPath, [MAIN, ...args, "--follow"], { stdio: ["ignore", "ignore", "pipe"] });
  const count = async (): Promise<number> => {
    await using holdfast = await openHoldfast({ store, readOnly: true });
    let entries = 0;
    for await (const { headSeq } of holdfast.list()) entries += headSeq;
    return entries;
  };
  const killed = start();
  await expect.poll(() => count().catch(() => 0), { interval: 10 }).toBeGreaterThan(100);
  killed.kill("SIGKILL");
  await once(killed, "close");
  expect(await count()).toBeLessThan(4_000);
  const second = start();
  await once(createInterface({ input: second.stderr ?? process.stdin }), "line");
  await insert(4_001, 4_010);
  // The conversations' roots and what they are called there are entries, too.
  await expect.poll(count, { interval: 50 }).toBe(4_010 + 2 * 5);
  second.kill("SIGINT");
  expect((await once(second, "close"))[0]).toBe(0);
  const verified = await holdfastHere("memory:", [...args, "--verify", "--json"]);
  expect(jsonLines(verified.out).at(-1)).toMatchObject({ same: 4_010, ahead: 0, differences: 0, left: 0 });
});
