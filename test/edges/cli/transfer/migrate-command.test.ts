/** A table of messages in a SQLite file is moved in: brought, again, followed, compared, refused. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { openHoldfast } from "#open";
import { tempDir } from "../../../support/temp-dir.ts";
import { holdfastHere } from "../cli-here.ts";
import { jsonLines, type Ran, said } from "../cli-run.ts";

type Row = readonly [
  chat: string,
  ordinal: number | null,
  role: string | null,
  content: string | null,
  at?: string,
];

const MESSAGES =
  "create table messages (chat_id text, ordinal int, role text, content text, created_at text)";

interface App extends Disposable {
  readonly folder: string;
  readonly store: string;
  add(...rows: readonly Row[]): void;
  run(sql: string): void;
  migrate(...args: readonly string[]): Promise<Ran>;
  /** What the messages of a conversation say. */
  texts(id: string): Promise<readonly string[]>;
}

function app(): App {
  const folder = tempDir();
  const file = join(folder.path, "app.db");
  const store = `sqlite:${join(folder.path, "log.db")}`;
  const database = new DatabaseSync(file);
  database.exec(MESSAGES);
  const insert = database.prepare("insert into messages values (?, ?, ?, ?, ?)");
  return {
    folder: folder.path,
    store,
    add: (...rows) => {
      for (const [chat, ordinal, role, content, at] of rows)
        insert.run(chat, ordinal, role, content, at ?? null);
    },
    run: (sql) => database.exec(sql),
    migrate: (...args) => holdfastHere(store, ["migrate", "--from", `sqlite:${file}`, ...args]),
    async texts(id) {
      await using holdfast = await openHoldfast({ store, readOnly: true });
      const branch = await (await holdfast.conversation(id)).branch();
      return branch.flatMap((entry) =>
        entry.type === "message" ? [entry.message.content.map((block) => Object(block).text).join("")] : [],
      );
    },
    [Symbol.dispose]: () => {
      database.close();
      folder[Symbol.dispose]();
    },
  };
}

const PNG = "data:image/png;base64,aGVsbG8=";

test("each tenant has a space of its own, with ids, what people are not shown, mailbox and parent", async () => {
  using made = app();
  made.run(`create table records (tenant_id text, conversation_id text, parent_conversation_id text, mailbox_id text,
    message_number int, message_id text, role text, content text, internal boolean);
    insert into records values ('acme', 'thread', null, 'billing', 1, 'msg-1', 'user', 'hi', 0),
      ('acme', 'thread', null, 'billing', 2, 'msg-2', 'assistant', 'a note', 1),
      ('acme', 'asked', 'thread', null, 1, null, 'user', 'on behalf', null),
      ('umbrella', 'thread', null, null, 1, 'msg-1', 'user', 'another', 0)`);
  const args = ["--table", "records", "--columns", "space=tenant_id"];
  const run = await made.migrate(...args, "--json");
  expect(jsonLines(run.out).at(-1)).toMatchObject({ conversations: 3, messages: 4, left: 0 });
  expect((await made.migrate(...args, "--dry-run")).err).toContain("space: tenant_id · message: message_id");
  const inSpace = (space: string, ...words: string[]): Promise<Ran> =>
    holdfastHere(made.store, ["--space", space, ...words, "--json"]);
  const acme = jsonLines((await inSpace("acme", "log", "thread")).out);
  expect(acme.filter(({ type }) => type === "message")).toMatchObject([
    { id: "msg-1", message: { role: "user" } },
    { id: "msg-2", message: { role: "assistant", internal: true } },
  ]);
  expect((await inSpace("acme", "ls")).out).toContain('"metadata":{"mailbox":"billing"}');
  expect(jsonLines((await inSpace("acme", "log", "asked")).out)[0]).toMatchObject({
    type: "conversation",
    parent: { conversation: "thread" },
  });
  const counts = ["umbrella", "default"].map(async (one) => jsonLines((await inSpace(one, "ls")).out).length);
  expect(await Promise.all(counts)).toEqual([1, 0]);
  expect((await made.migrate(...args, "--verify")).status).toBe(0);
  made.run("update records set internal = 0 where message_id = 'msg-2'");
  expect((await made.migrate(...args, "--verify")).status).toBe(8);
  made.run("update records set tenant_id = null where message_id = 'msg-2'");
  expect((await made.migrate(...args)).status).toBe(2);
});

test("rows are brought in order with their times, again only what came since, and both sides are the same", async () => {
  using made = app();
  made.add(
    ["a", 2, "assistant", "hello", "2026-01-01 10:00:01"],
    ["a", 1, "human", "hi", "2026-01-01 10:00:00"],
    ["a", 0, "system", "Be brief."],
    ["b@example.org", 1, "user", `[{"type":"image_url","image_url":{"url":"${PNG}"}}]`],
    [
      "b@example.org",
      2,
      null,
      '{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"ls","arguments":"{\\"a\\": 1}"}}]}',
    ],
    ["b@example.org", 3, null, '{"role":"tool","tool_call_id":"c","content":"README"}'],
    ["b@example.org", 10, "user", "ten comes after three"],
  );
  const dry = await made.migrate("--dry-run");
  expect([dry.status, dry.out]).toEqual([
    0,
    expect.stringContaining("Would bring 6 messages in 2 conversations"),
  ]);
  expect(dry.err).toContain("conversation: chat_id");
  expect((await holdfastHere(made.store, ["ls"])).out).not.toContain("a ");
  const first = await made.migrate("--json");
  expect([first.status, first.err]).toEqual([0, ""]);
  const lines = jsonLines(first.out);
  expect(lines.at(-1)).toMatchObject({
    type: "end",
    conversations: 2,
    brought: 2,
    messages: 6,
    system: 1,
    left: 0,
  });
  const other = lines.find(({ source }) => source === "b@example.org");
  expect(await made.texts("a")).toEqual(["hi", "hello"]);
  expect((await made.texts(String(other?.["conversation"]))).at(-1)).toBe("ten comes after three");
  const shown = await holdfastHere(made.store, ["log", "a", "--json"]);
  expect(shown.out).toContain("2026-01-01T10:00:00.000Z");
  expect((await holdfastHere(made.store, ["doctor"])).status).toBe(0);

  expect((await made.migrate()).out).toContain("Nothing new in 2 conversations");
  made.add(["a", 3, "user", "and now?"]);
  expect((await made.migrate("--verify")).status).toBe(8);
  expect((await made.migrate()).out).toContain("Brought 1 message in 1 of 2 conversations");
  const verified = await made.migrate("--verify");
  expect([verified.status, verified.out]).toEqual([
    0,
    expect.stringContaining("All 7 messages in 2 conversations"),
  ]);
  // Once reads and writes are switched, what is here alone stands behind what came from there.
  await holdfastHere(made.store, ["append", "a"], { input: said("assistant", "written here") });
  const ahead = await made.migrate("--verify", "--json");
  expect([ahead.status, jsonLines(ahead.out).at(-1)]).toEqual([
    0,
    expect.objectContaining({ same: 7, ahead: 1, differences: 0 }),
  ]);
});

test("the first difference of each conversation is told with both sides and its row, and the status is 8", async () => {
  using made = app();
  made.add(["a", 1, "user", "one"], ["a", 2, "assistant", "two"], ["b", 1, "user", "only there"]);
  await made.migrate("--only", "a");
  made.run("update messages set content = 'TWO' where ordinal = 2");
  const told = await made.migrate("--verify");
  expect(told.status).toBe(8);
  expect(told.err).toMatch(/a, message 2 is not the same \(messages, chat_id a, ordinal 2\)/);
  expect(told.err).toMatch(/^there: .*TWO/m);
  expect(told.err).toMatch(/^here: .*two/m);
  expect(told.err).toMatch(/^here: nothing/m);
  const { out } = await made.migrate("--verify", "--json");
  expect(jsonLines(out)).toMatchObject([
    { type: "difference", source: "a", number: 2, there: { content: "TWO" }, here: { content: "two" } },
    { type: "difference", source: "b", number: 1, here: null },
    { type: "end", same: 1, differences: 2 },
  ]);
});

const BAD: readonly (readonly [string, readonly Row[]])[] = [
  ["a role that nobody knows", [["bad", 7, "king", "x"]]],
  ["no role", [["bad", 7, null, "x"]]],
  ["no content", [["bad", 7, "user", null]]],
  [
    "a place that two have",
    [
      ["bad", 7, "user", "x"],
      ["bad", 7, "user", "y"],
    ],
  ],
  ["no place", [["bad", null, "user", "x"]]],
  ["a time that is none", [["bad", 7, "user", "x", "yesterday"]]],
  [
    "a number that would be rounded",
    [["bad", 7, "user", '[{"type":"text","text":"x","n":12345678901234567890}]']],
  ],
];

test.each(BAD)(
  "a row with %s leaves its conversation out whole, is named, and keeps no other from it",
  async (_, rows) => {
    using made = app();
    made.add(["good", 1, "user", "fine"], ["bad", 1, "user", "fine, too"], ...rows);
    const ran = await made.migrate();
    expect(ran.status).toBe(2);
    expect(ran.err).toMatch(/bad: messages, chat_id bad, ordinal/);
    expect(ran.out).toContain("Brought 1 message in 1 of 2 conversations");
    expect((await holdfastHere(made.store, ["show", "bad"])).status).toBe(3);
    expect((await made.migrate("--dry-run")).status).toBe(2);
    expect((await made.migrate("--verify")).status).toBe(2);
  },
);

test("rows that belong to nobody are told before anything is made, and no name or word there moves a terminal", async () => {
  using made = app();
  made.add(["\u001B[31mred\u0007", 1, "\u001B]0;king\u0007", "x"]);
  const named = await made.migrate();
  expect([named.status, named.err.includes("king"), `${named.err}${named.out}`.includes("\u001B")]).toEqual([
    2,
    true,
    false,
  ]);
  made.run("update messages set role = 'user', content = 'a'");
  await made.migrate();
  made.run("update messages set content = char(27) || '[2Jb'");
  const differs = await made.migrate("--verify");
  expect([differs.status, differs.err.includes("\u001B")]).toEqual([8, false]);
  made.run("insert into messages values (null, 1, 'user', 'whose?', null)");
  const nobody = await made.migrate();
  expect([nobody.status, nobody.err]).toEqual([2, expect.stringContaining("chat_id")]);
});

test("the source is not written to, and a conversation that is here by other ways is not touched", async () => {
  using made = app();
  made.add(["mine", 1, "user", "theirs"]);
  const digest = (): string =>
    createHash("sha256")
      .update(readFileSync(join(made.folder, "app.db")))
      .digest("hex");
  const before = digest();
  await holdfastHere(made.store, ["new", "--id", "mine"]);
  const log = (await holdfastHere(made.store, ["log", "mine", "--json"])).out;
  expect((await made.migrate()).status).toBe(4);
  expect((await holdfastHere(made.store, ["log", "mine", "--json"])).out).toBe(log);
  expect(digest()).toBe(before);
});

test("what is asked wrongly is told before anything is made", async () => {
  using made = app();
  made.add(["a", 1, "user", "hi"]);
  made.run(
    "create table chat_log (thread_id text, seq int, role text, body text); create table other (x int)",
  );
  const calls: readonly (readonly string[])[] = [
    [],
    ["--table", "nowhere"],
    ["--table", "other"],
    ["--table", "messages", "--columns", "ordinal=nowhere"],
    ["--table", "messages", "--columns", "what"],
    ["--table", "messages", "--shape", "telegram"],
    ["--table", "messages", "--verify", "--dry-run"],
  ];
  for (const args of calls) expect((await made.migrate(...args)).status, args.join(" ")).toBe(2);
  const none = join(made.folder, "none.db");
  for (const from of [`sqlite:${none}`, "redis://x", "postgres:", `sqlite:${made.folder}`])
    expect((await holdfastHere(made.store, ["migrate", "--from", from])).status, from).toBe(2);
  expect((await holdfastHere(made.store, ["migrate"])).status).toBe(2);
  expect((await made.migrate("--table", "messages", "--only", "nobody")).status).toBe(3);
  expect(() => readFileSync(none)).toThrow();
  expect((await made.migrate("--table", "chat_log")).out).toContain("Nothing new in 0 conversations");
});
