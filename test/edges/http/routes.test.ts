import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import type { Client } from "#edges/http/client/index";
import { OPERATIONS } from "#edges/http/routes/api";
import { MEMORY_ROUTES } from "#edges/http/routes/memory-api";
import { SERVER_ROUTES } from "#edges/http/routes/server-api";
import { TURN_ROUTES } from "#edges/http/routes/turn-api";
import { assistant, toolResult, user } from "#log/say";
import { tempDir } from "../../support/temp-dir.ts";
import { jsonLines } from "../cli-run.ts";
import { holdfastHere } from "../cli-here.ts";
import { by, posted } from "./asking.ts";
import { fill } from "./filled.ts";
import { exercised, serve, type Served } from "./served.ts";

const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

describe.each(["sqlite", "memory"] as const)("on %s", (kind) => {
  const folder = tempDir();
  const store = kind === "sqlite" ? `sqlite:${join(folder.path, "store.db")}` : "memory:";
  let served: Served;
  let client: Client;
  let conversation: Conversation;
  let token = "";

  beforeAll(async () => {
    served = await serve({ store, cwd: folder.path });
    token = await served.token("admin");
    client = served.client(token);
    conversation = await served.holdfast.create({ id: "a", title: "First" });
    await fill(conversation);
  });

  afterAll(async () => {
    await served[Symbol.asyncDispose]();
    folder[Symbol.dispose]();
  });

  /** What a command prints of the same store; a store in memory has no other process to look at it. */
  async function cli(...args: readonly string[]): Promise<readonly object[] | null> {
    if (kind === "memory") return null;
    const { status, out, err } = await holdfastHere(store, [...args, "--json"]);
    expect([status, err]).toEqual([0, ""]);
    return jsonLines(out);
  }

  async function sameAsCli(given: object, ...args: readonly string[]): Promise<void> {
    const [printed] = (await cli(...args)) ?? [given];
    expect(given).toEqual(printed);
  }

  test("conversations are listed, filtered and paged; one is shown as it stands", async () => {
    await client.createConversation({ id: "b", title: "Second" });
    const { conversations, next } = await client.listConversations({ limit: 1 });
    expect([conversations.length, typeof next]).toEqual([1, "string"]);
    const rest = await client.listConversations({ limit: 1, cursor: next ?? "" });
    expect([...conversations, ...rest.conversations].map((one) => one.conversation).toSorted()).toEqual([
      "a",
      "b",
    ]);
    expect((await client.listConversations({ title: "first" })).conversations).toHaveLength(1);
    expect((await client.listConversations({ fork: true })).conversations).toEqual([]);
    const printed = await cli("ls");
    const all = (await client.listConversations()).conversations;
    if (printed !== null) expect(all.map((one) => Object.assign(one, { schemaVersion: 1 }))).toEqual(printed);
    const view = await client.getConversation({ conversation: "a" });
    const { headSeq, leaf } = await conversation.head();
    expect(view).toMatchObject({
      title: "First",
      headSeq,
      leaf: leaf.id,
      openTurn: null,
      lease: null,
      space: "default",
    });
    expect(view.settings).toEqual(await conversation.settings());
    expect((await client.getConversation({ conversation: "b" })).cwd).toBe(folder.path);
  });

  test("a conversation is made once under its key; its entries keep their exact text", async () => {
    const exact =
      '{"type":"custom","customType":"x","data":{"big":12345678901234567890,"a":1,"a":2,"s":"\\u2028"}}';
    const body =
      `{"title":"Exact","entries":[ ${exact} ,{"type":"label","target":"x1","label":"l"}]}`.replace(
        '"customType"',
        '"id":"x1","customType"',
      );
    const made = async (): Promise<string> => {
      const response = await served.ask(
        "/api/conversations",
        posted(token, body, { "idempotency-key": "made" }),
      );
      expect(response.status).toBe(201);
      return ((await response.json()) as { conversation: string }).conversation;
    };
    const id = await made();
    expect(await made()).toBe(id);
    const entry = await served.ask(`/api/conversations/${id}/entries/x1`, by(token));
    expect(await entry.text()).toContain('"data":{"big":12345678901234567890,"a":1,"a":2,"s":"\\u2028"}');
  });

  test("entries are paged both ways, by type too; a page says where others begin", async () => {
    const all = await client.listEntries({ conversation: "a", limit: 500 });
    expect(all.entries.map(({ seq }) => seq)).toEqual(all.entries.map((_, at) => at + 1));
    expect([all.next, all.previous, all.headSeq]).toEqual([null, null, all.entries.length]);
    const forwards: number[] = [];
    for (let after: number | null = 0; after !== null;) {
      const page = await client.listEntries({ conversation: "a", after, limit: 4 });
      forwards.push(...page.entries.map(({ seq }) => seq));
      after = page.next;
    }
    const backwards: number[] = [];
    for (let before: number | null = 1_000; before !== null;) {
      const page = await client.listEntries({ conversation: "a", before, limit: 4 });
      backwards.unshift(...page.entries.map(({ seq }) => seq));
      before = page.previous;
    }
    expect([forwards, backwards]).toEqual([
      all.entries.map(({ seq }) => seq),
      all.entries.map(({ seq }) => seq),
    ]);
    const { entries } = await client.listEntries({ conversation: "a", types: ["turn_start", "turn_end"] });
    expect(entries.map(({ type }) => type)).toEqual(["turn_start", "turn_end"]);
    await expect(client.listEntries({ conversation: "a", types: ["nonsense"] })).rejects.toMatchObject({
      status: 400,
    });
    await expect(client.listEntries({ conversation: "a", after: 1, before: 3 })).rejects.toMatchObject({
      status: 400,
    });
    const printed = await cli("log", "a");
    if (printed !== null) expect(all.entries).toEqual(printed);
  });

  test("a branch is paged from its end; context, tree and one entry are what the library says", async () => {
    const newest = await client.listHistory({ conversation: "a", limit: 2 });
    expect(newest.entries.map(({ id }) => id)).toEqual(["m3", "m4"]);
    const older = await client.listHistory({ conversation: "a", limit: 2, cursor: newest.next ?? "" });
    expect(older.entries.map(({ id }) => id)).toEqual(["m1", "m2"]);
    const context = await client.getContext({ conversation: "a" });
    await sameAsCli(context, "context", "a");
    const { messages } = await conversation.context();
    expect(context.messages.map(({ role }) => role)).toEqual(messages.map(({ role }) => role));
    const then = await client.getContext({ conversation: "a", at: "m1" });
    expect([then.messages.length, then.leaf]).toEqual([1, "m1"]);
    const tree = await client.getTree({ conversation: "a" });
    await sameAsCli({ ...tree, next: undefined }, "tree", "a");
    const [one, two] = [
      await client.getTree({ conversation: "a", limit: 2 }),
      await client.getTree({ conversation: "a", limit: 500, cursor: "2" }),
    ];
    expect([...one.nodes, ...two.nodes]).toEqual(tree.nodes);
    expect(await client.getEntry({ conversation: "a", entry: "m4" })).toMatchObject({
      id: "m4",
      type: "message",
    });
  });

  test("chain, stamps, effects, usage, issues, runs and search are what the library says", async () => {
    const chain = await client.getChain({ conversation: "a" });
    await sameAsCli(chain, "chain", "a");
    expect(chain.links).toMatchObject([{ id: "s1", agent: "sim", fidelity: "native" }]);
    const { stamps } = await client.listStamps({ conversation: "a" });
    expect(stamps.find(({ entry }) => entry === "m1")?.upstreams).toEqual([
      { id: "s1", agent: "sim", account: null },
    ]);
    expect((await client.listStamps({ conversation: "a", upstream: "s1" })).stamps).toEqual(stamps);
    expect((await client.listStamps({ conversation: "a", upstream: "s2" })).stamps).toEqual([]);
    expect((await client.listStamps({ conversation: "a", entry: "m4" })).stamps).toHaveLength(1);
    const effects = await client.listEffects({ conversation: "a" });
    await sameAsCli(effects, "effects", "a");
    expect(effects.effects).toMatchObject([{ call: "c1", state: "done", input: { q: "needle" } }]);
    const usage = await client.getUsage({ conversation: "a" });
    await sameAsCli(usage, "usage", "a");
    expect(usage.total).toMatchObject({ inputTokens: 10, costMicros: 70 });
    expect((await client.getUsage({ conversation: "a", by: "day" })).rows).toHaveLength(1);
    expect((await client.getSpaceUsage({ by: "conversation" })).rows.map(({ name }) => name)).toContain("a");
    expect((await client.listIssues({ conversation: "a" })).issues).toEqual(await conversation.issues());
    expect(await client.listWaiting({ conversation: "a" })).toMatchObject({ queue: [], asked: [] });
    const { hits } = await client.search({ q: "needle", conversation: "a" });
    expect(hits.map(({ entry }) => entry)).toContain("m1");
    expect((await client.listRuns({ mailbox: "in" })).runs).toEqual([await served.holdfast.run("run-1")]);
    expect((await client.listRuns({ mailbox: "out" })).runs).toEqual([]);
    expect(await client.getRun({ run: "run-1" })).toMatchObject({ run: "run-1", status: "completed" });
    await expect(client.getRun({ run: "run-2" })).rejects.toMatchObject({
      status: 404,
      code: "run_not_found",
    });
    const hydrated = await client.hydrate({ run: "run-1" });
    await sameAsCli(hydrated, "hydrate", "run-1");
    expect(hydrated.messages).toHaveLength(4);
  });

  test("a fork is made once under its key, and compared with its source", async () => {
    const fork = await client.fork({ conversation: "a", at: "m2", id: "f" }, { key: "f1" });
    expect(await client.fork({ conversation: "a", at: "m2", id: "f" }, { key: "f1" })).toEqual(fork);
    expect(fork).toMatchObject({ conversation: "f", source: "a", entry: "m2" });
    const written = await client.appendEntries({
      conversation: "f",
      entries: [toolResult("c1", "nothing there"), assistant("It is not there")],
    });
    expect(written).toMatchObject({ conversation: "f", deduped: false });
    const diff = await client.diff({ a: "a", b: "f" });
    await sameAsCli(diff, "diff", "a", "f");
    expect(diff.same).toBe(false);
    await sameAsCli(
      await client.diff({ a: "a@m2", b: "f@m2", stat: true }),
      "diff",
      "a@m2",
      "f@m2",
      "--stat",
    );
  });

  test("every write of a mark is done once under its key, and says when it comes again with other words", async () => {
    const once = async (
      write: () => Promise<{ readonly toSeq: number; readonly deduped: boolean }>,
    ): Promise<void> => {
      const [first, again] = [await write(), await write()];
      expect([first.deduped, again.deduped, again.toSeq]).toEqual([false, true, first.toSeq]);
    };
    const key = "k";
    await once(() => client.setTitle({ conversation: "a", title: "Renamed" }, { key }));
    await once(() =>
      client.setMetadata({ conversation: "a", metadata: { tags: ["x"], archived: true } }, { key }),
    );
    await once(() => client.setLabel({ conversation: "a", entry: "m2", label: "here" }, { key }));
    await once(() => client.setHidden({ conversation: "a", entry: "m3", hidden: true }, { key }));
    await once(() => client.goTo({ conversation: "a", entry: "m2" }, { key }));
    await once(() => client.appendEntries({ conversation: "a", entries: [user("More")] }, { key }));
    await once(() => client.newChat({ conversation: "a" }, { key }));
    const other = await client.setTitle({ conversation: "a", title: "Other" }, { key });
    expect([other.deduped, other.differs]).toEqual([true, true]);
    const view = await client.getConversation({ conversation: "a" });
    expect([view.title, view.metadata]).toEqual(["Renamed", { tags: ["x"], archived: true }]);
    expect((await client.listConversations({ tag: "x", archived: true })).conversations).toHaveLength(1);
    const { nodes } = await client.getTree({ conversation: "a" });
    expect(nodes.find(({ id }) => id === "m2")?.label).toBe("here");
    expect(nodes.find(({ id }) => id === "m3")?.hidden).toBe(true);
    await client.setHidden({ conversation: "a", entry: "m3", hidden: false });
    await client.setLabel({ conversation: "a", entry: "m2", label: null });
    const again = (await client.getTree({ conversation: "a" })).nodes;
    expect(again.filter(({ hidden, label }) => hidden || label !== null)).toEqual([]);
  });

  test("an append is refused where somebody wrote before, and where an entry is not the client's to write", async () => {
    const { headSeq } = await conversation.head();
    const append = (entries: readonly object[], more: object = {}, as: Client = client): Promise<unknown> =>
      as.appendEntries({ conversation: "a", entries, ...more });
    await expect(append([user("x")], { expected: 1 })).rejects.toMatchObject({
      status: 409,
      code: "head_moved",
    });
    await expect(append([user("x")], { outside: true })).rejects.toMatchObject({ status: 400 });
    const writer = served.client(await served.token("write"));
    for (const entry of [
      { type: "cwd", cwd: "/" },
      { type: "config_change", config: { cwd: "/" } },
      { type: "upstream_link", upstream: "other", agent: "sim", reason: "new" },
      { type: "attempt", turn: "t", upstream: "s", process: "1" },
      { type: "attempt", turn: "t", upstream: "s", process: "1" },
      { type: "memory", change: "saved" },
      { type: "conversation" },
    ])
      await expect(append([entry], {}, writer)).rejects.toMatchObject({ status: 400, code: "invalid_entry" });
    await expect(writer.createConversation({ entries: [{ type: "cwd", cwd: "/" }] })).rejects.toMatchObject({
      code: "invalid_entry",
    });
    expect((await conversation.head()).headSeq).toBe(headSeq);
    await expect(append([{ type: "cwd", cwd: folder.path }])).resolves.toMatchObject({ deduped: false });
  });

  test("blobs are given as images or as files, never as pages", async () => {
    const image = await conversation.putBlob(PNG);
    const page = await conversation.putBlob(Buffer.from("<script>alert(1)</script>"));
    expect(Buffer.from(await client.getBlob({ conversation: "a", digest: image }))).toEqual(PNG);
    const [png, html] = await Promise.all(
      [image, page].map((digest) => served.ask(`/api/conversations/a/blobs/${digest}`, by(token))),
    );
    expect(png?.headers.get("content-type")).toBe("image/png");
    expect(html?.headers.get("content-type")).toBe("application/octet-stream");
    expect(html?.headers.get("content-disposition")).toMatch(/^attachment;/);
    for (const one of [png, html])
      expect(one?.headers.get("content-security-policy")).toBe("default-src 'none'; sandbox");
    await expect(client.getBlob({ conversation: "b", digest: image })).rejects.toMatchObject({ status: 404 });
  });
});

test("every route of the table was exercised by the client", () => {
  const others = { ...SERVER_ROUTES, exportBundle: 0, ...MEMORY_ROUTES, ...TURN_ROUTES }; // in tests of their own
  const names = OPERATIONS.map(([name]) => name).filter((name) => !exercised.has(name));
  expect(names.filter((name) => !(name in others))).toEqual([]);
});
