import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { assistant, type Holdfast, type ListFilter, openHoldfast, toolResult, user } from "#index";
import { tempDir } from "../support/temp-dir.ts";
import { spaceOf } from "#conversation/on-space";

const folder = tempDir();
afterAll(() => folder[Symbol.dispose]());

const ADDRESSES = ["memory:", `sqlite:${join(folder.path, "s.db")}`, `jsonl:${join(folder.path, "logs")}`];

describe.each(ADDRESSES)("over %s", (store) => {
  const open = (space: string): Promise<Holdfast> => openHoldfast({ store, space });

  test("a history is read from its end: the last 50, then older, to the first, each entry once", async () => {
    await using holdfast = await open("history");
    const entries = Array.from({ length: 120 }, (_, at) => user(`message ${at}`));
    const chat = await holdfast.create({ id: "chat", entries });
    const fork = await chat.fork({ id: "fork" });
    await fork.append(user("message 120"));
    const pages: number[] = [];
    const ids: string[] = [];
    let cursor: string | null | undefined;
    do {
      const page = await fork.history(cursor == null ? {} : { cursor });
      pages.push(page.entries.length);
      ids.unshift(...page.entries.map(({ id }) => id));
      cursor = page.cursor;
    } while (cursor !== null);
    expect(pages).toEqual([50, 50, 22]);
    expect(ids).toEqual((await fork.branch()).map(({ id }) => id));
  });

  test("a history may ask for types only, and end at any node", async () => {
    await using holdfast = await open("types");
    const chat = await holdfast.create({
      id: "chat",
      entries: [user("a"), assistant("b"), { type: "reset" }, user("c")],
    });
    const { entries, cursor } = await chat.history({ limit: 2, types: ["message"] });
    expect(entries.map((entry) => entry.type === "message" && entry.message.role)).toEqual([
      "assistant",
      "user",
    ]);
    const older = await chat.history({ limit: 2, types: ["message"], cursor: cursor ?? "" });
    expect([older.entries.length, older.cursor]).toEqual([1, null]);
    const at = await chat.history({ at: older.entries[0]?.id ?? "" });
    expect(at.entries.map(({ type }) => type)).toEqual(["conversation", "message"]);
    await expect(chat.history({ cursor: "nonsense" })).rejects.toMatchObject({ code: "invalid_request" });
    await expect(chat.history({ limit: 0 })).rejects.toMatchObject({ code: "invalid_request" });
  });

  test("a list is filtered by what conversations are filed under and by who carries them", async () => {
    await using holdfast = await open("filed");
    const tagged = (...tags: string[]) => ({ type: "metadata", metadata: { tags } }) as const;
    const archived = { type: "metadata", metadata: { archived: true } } as const;
    const link = (agent: string) =>
      ({ type: "upstream_link", upstream: `u-${agent}`, agent, reason: "first" }) as const;
    await holdfast.create({ id: "a", cwd: "/w", entries: [tagged("x", "y"), link("claude")] });
    await holdfast.create({ id: "b", cwd: "/w", entries: [tagged("y"), archived] });
    await holdfast.create({ id: "c", entries: [tagged("x"), archived, link("claude"), link("codex")] });
    await holdfast.create({ id: "d" });
    const shown = async (filter: ListFilter): Promise<string> => {
      const { conversations } = await holdfast.listPage({ filter });
      const all = await Array.fromAsync(holdfast.list({ filter }), ({ conversation }) => conversation);
      const ids = conversations.map(({ conversation }) => conversation);
      expect(all).toEqual(ids);
      return ids.toSorted().join("");
    };
    expect(await shown({ tag: "x" })).toBe("ac");
    expect(await shown({ archived: true })).toBe("bc");
    expect(await shown({ archived: false })).toBe("ad");
    expect(await shown({ agent: "claude" })).toBe("a");
    expect(await shown({ tag: "y", cwd: "/w", archived: false })).toBe("a");
    const chat = await holdfast.conversation("b");
    await chat.append({ type: "metadata", metadata: { archived: null } });
    expect(await shown({ archived: true })).toBe("c");
  });

  test("a list is had page by page, filtered, each conversation once", async () => {
    await using holdfast = await open("list");
    for (let at = 0; at < 25; at++)
      await holdfast.create({
        id: `c${at}`,
        title: `Work ${at % 2 === 0 ? "EVEN" : "odd"}`,
        cwd: `/w/${at % 3}`,
      });
    await (await holdfast.conversation("c3")).fork({ id: "c3-fork" });
    const all = (await Array.fromAsync(holdfast.list())).map(({ conversation }) => conversation);
    const paged: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Awaited<ReturnType<Holdfast["listPage"]>> = await holdfast.listPage({
        limit: 4,
        ...(cursor === null ? {} : { cursor }),
        filter: { title: "even" },
      });
      expect(page.conversations.length).toBeLessThanOrEqual(4);
      paged.push(...page.conversations.map(({ conversation }) => conversation));
      ({ cursor } = page);
    } while (cursor !== null);
    expect(paged).toEqual(all.filter((id) => /^c\d+$/.test(id) && Number(id.slice(1)) % 2 === 0));
    const where = async (filter: object): Promise<readonly string[]> =>
      (await holdfast.listPage({ filter })).conversations.map(({ conversation }) => conversation);
    expect(await where({ fork: true })).toEqual(["c3-fork"]);
    expect((await where({ cwd: "/w/1" })).toSorted()).toContain("c4");
    expect(await where({ suffix: "24" })).toEqual(["c24"]);
    expect(await where({ since: "2999-01-01T00:00:00Z" })).toEqual([]);
  });

  test("after a restart every open turn of the space is found, and no other", async () => {
    await using holdfast = await open("turns");
    await holdfast.create({
      id: "done",
      entries: [
        { type: "turn_start", turn: "t1" },
        { type: "turn_end", turn: "t1", outcome: "completed" },
      ],
    });
    await holdfast.create({ id: "none", entries: [user("hello")] });
    const cut = await holdfast.create({
      id: "cut",
      entries: [user("go"), { type: "turn_start", turn: "t2" }],
    });
    expect(await Array.fromAsync(holdfast.openTurns())).toMatchObject([
      { conversation: "cut", turn: "t2", lease: null },
    ]);
    await using _owner = await cut.own({ writer: "me", leaseMs: 60_000 });
    expect(await cut.openTurn()).toMatchObject({ turn: "t2", lease: { writer: "me" } });
    expect(await (await holdfast.conversation("done")).openTurn()).toBeNull();
  });

  test("a conversation is found by its id, its start or its end; several that fit are named", async () => {
    await using holdfast = await open("find");
    for (const id of ["0199-aaaa", "0199-bbbb", "other-bbbb", "aaaa-x"]) await holdfast.create({ id });
    expect((await holdfast.find("other")).id).toBe("other-bbbb");
    expect((await holdfast.find("9-bbbb")).id).toBe("0199-bbbb");
    expect((await holdfast.find("aaaa")).id).toBe("aaaa-x"); // a start comes before an end
    await expect(holdfast.find("bbbb")).rejects.toMatchObject({
      code: "ambiguous_id",
      details: { matches: expect.arrayContaining(["0199-bbbb", "other-bbbb"]) as unknown },
    });
    await expect(holdfast.find("0199")).rejects.toMatchObject({ code: "ambiguous_id" });
    await expect(holdfast.find("zzzz")).rejects.toMatchObject({ code: "conversation_not_found" });
  });

  test("the port takes ids as plain strings, and refuses one that is none", async () => {
    await using holdfast = await open("ids");
    await holdfast.create({ id: "chat" });
    expect((await spaceOf(holdfast).head("chat")).headSeq).toBe(1);
    const refused = { code: "invalid_id" };
    await expect(spaceOf(holdfast).head("../chat")).rejects.toMatchObject(refused);
    await expect(spaceOf(holdfast).page({ conversation: "", limit: 1 })).rejects.toMatchObject(refused);
    await expect(spaceOf(holdfast).getBlob("chat", "x")).rejects.toMatchObject(refused);
    await expect(spaceOf(holdfast).entry("chat", "a/b")).rejects.toMatchObject(refused);
  });

  test("an entry written as JSON says its text once, and still has it word for word", async () => {
    await using holdfast = await open("json");
    const chat = await holdfast.create({ id: "chat" });
    await chat.append('{"type":"custom","customType":"x","data":12345678901234567890}');
    await chat.append([
      assistant([{ type: "toolCall", id: "c1", name: "t", input: {} }]),
      toolResult("c1", "needle"),
    ]);
    const { leaf } = await chat.head();
    const { nodes } = await chat.tree();
    const entries = [
      await chat.entry(leaf.id),
      (await chat.branch()).at(-1),
      (await chat.facts(["message"])).at(-1),
      (await chat.history()).entries.at(-1),
      nodes.at(-1)?.entry,
    ];
    for (const entry of entries) expect(JSON.stringify(entry).split("needle")).toHaveLength(2);
    expect((await chat.branch())[1]?.payload).toContain("12345678901234567890");
  });
});

test("a log kept for a program is in no list that does not ask for it, and its open turn is found", async () => {
  await using holdfast = await openHoldfast({ store: "memory:" });
  await holdfast.create({ id: "chat" });
  const work = await holdfast.create({ id: "work", unlisted: true });
  await work.append({ type: "turn_start", turn: "t" });
  const ids = (listed: AsyncIterable<{ conversation: string }>): Promise<readonly string[]> =>
    Array.fromAsync(listed, ({ conversation }) => conversation);
  expect(await ids(holdfast.list())).toEqual(["chat"]);
  expect(await ids(holdfast.list({ filter: { unlisted: true } }))).toEqual(["work"]);
  expect(await ids(holdfast.listAll())).toEqual(["chat", "work"]);
  const { conversations } = await holdfast.listPage({ filter: { unlisted: true } });
  expect(conversations.map(({ conversation }) => conversation)).toEqual(["work"]);
  expect(await ids(holdfast.openTurns())).toEqual(["work"]);
});
