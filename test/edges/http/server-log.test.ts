/** What an operator sees of a server: its log, and the probes that restart it or send it requests. */
import { type LogFields, type LogLevel, RequestLog } from "#edges/http/server-log";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import type { ServerLog } from "#edges/http/index";
import { inMemoryStore } from "#stores/in-memory/index";
import { sqliteStore } from "#stores/sqlite/index";
import { decorateStore } from "#store/decorate";
import { storePort } from "#store/port";
import { LogError } from "#log/errors";
import { user } from "#log/message";
import { tempDir } from "../../support/temp-dir.ts";
import { by, posted } from "./raw-requests.ts";
import { serve } from "./served.ts";

interface Line {
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

function collected(): { readonly lines: Line[]; readonly log: ServerLog } {
  const lines: Line[] = [];
  return { lines, log: (level, message, fields) => void lines.push({ level, message, fields }) };
}

test("every request is one line with its id, route, status, duration and space; a refused token is a warning", async () => {
  const { lines, log } = collected();
  await using served = await serve({ log });
  const token = await served.token("write");
  const created = await served.ask(
    "/api/conversations",
    posted(token, { id: "c" }, { "x-request-id": "from-proxy.1" }),
  );
  expect(created.headers.get("x-request-id")).toBe("from-proxy.1");
  const refused = await served.ask("/api/conversations/c?code=hfc_secret", by("hf_unknown"));
  const [first, second] = lines;
  expect(first).toMatchObject({
    level: "info",
    fields: { requestId: "from-proxy.1", route: "createConversation", status: 201, space: "default" },
  });
  expect(first?.fields["ms"]).toEqual(expect.any(Number));
  expect(second).toMatchObject({ level: "warn", fields: { status: 401, code: "wrong_token" } });
  expect(second?.fields["requestId"]).toBe(refused.headers.get("x-request-id"));
  expect(JSON.stringify(lines)).not.toContain("hfc_secret");
});

test("a client is told nothing of files, hosts and processes; the log has it, and says once that the store is lost", async () => {
  const { lines, log } = collected();
  using folder = tempDir();
  const path = join(folder.path, "store.db");
  const holdfast = new Holdfast(await sqliteStore({ path }), "default");
  await using served = await serve({ holdfast, log });
  const token = await served.token("write");
  await holdfast.create({ id: "c" });
  for (const ending of ["", "-wal", "-shm"]) rmSync(`${path}${ending}`, { force: true });
  for (const title of ["x", "y"]) {
    const answer = await served.ask("/api/conversations/c/title", posted(token, { title }));
    expect(answer.status).toBe(503);
    expect(await answer.text()).not.toContain(folder.path);
  }
  // The audit log may say by then that it waits, too.
  const [first, ...more] = lines.filter(
    ({ level, fields }) => level === "error" && fields["status"] === undefined,
  );
  expect(first).toMatchObject({ fields: { code: "store_gone", path } });
  expect(more.map(({ message }) => message)).not.toContain(first?.message);
  expect(lines.findLast(({ fields }) => fields["status"] !== undefined)).toMatchObject({
    level: "error",
    fields: { route: "setTitle", conversation: "c", code: "store_gone" },
  });
});

test("who is busy is told neither a process nor a machine", async () => {
  await using served = await serve();
  const token = await served.token("write");
  const conversation = await served.holdfast.create({ id: "c" });
  const { lastId: entry } = await conversation.append([user("hello")]);
  await using _ = await conversation.own({ writer: "host-7/boot-8/4711", leaseMs: 60_000 });
  const answer = await served.ask("/api/conversations/c/leaf", posted(token, { entry }));
  expect([answer.status, answer.headers.get("retry-after")]).toEqual([423, "1"]);
  expect(await answer.text()).not.toMatch(/host-7|boot-8|4711/);
});

test("livez and readyz need no token and no name; a server that drains is not ready, and neither is a silent store", async () => {
  const silent = Promise.withResolvers<never>();
  let isSilent = false;
  const store = decorateStore(storePort(inMemoryStore()), {
    verbs: (space) => ({ list: (query) => (isSilent ? silent.promise : space.list(query)) }),
  });
  await using served = await serve({ holdfast: new Holdfast(store, "default") });
  const status = async (path: string): Promise<number> =>
    (await served.ask(path, { headers: { host: "10.0.0.7" } })).status;
  expect([await status("/livez"), await status("/readyz")]).toEqual([200, 200]);
  isSilent = true;
  await expect.poll(() => status("/readyz")).toBe(503);
  expect(await status("/livez")).toBe(200);
  const token = await served.token("read");
  expect((await served.ask("/api/health", by(token))).status).toBe(503);
  isSilent = false;
  silent.reject(new Error("over"));
  await expect.poll(() => status("/readyz")).toBe(200);
  await served.handler.drain();
  expect([await status("/livez"), await status("/readyz")]).toEqual([200, 503]);
});

test("the log says once that the store does not answer, and once that it does again", async () => {
  const { lines, log } = collected();
  let isLost = false;
  const store = decorateStore(storePort(inMemoryStore()), {
    verbs: (space) => ({
      head: async (conversation) => {
        if (isLost) throw new LogError("store_gone", "lost");
        return space.head(conversation);
      },
    }),
  });
  await using served = await serve({ holdfast: new Holdfast(store, "default"), log });
  const token = await served.token("read");
  await served.holdfast.create({ id: "c" });
  const ask = async (): Promise<number> => (await served.ask("/api/conversations/c", by(token))).status;
  const statuses: number[] = [];
  for (const lost of [false, true, true, false, false]) {
    isLost = lost;
    statuses.push(await ask());
  }
  expect(statuses).toEqual([200, 503, 503, 200, 200]);
  const ofStore = lines.filter(({ fields }) => fields["status"] === undefined);
  expect(ofStore.map(({ level }) => level)).toEqual(["error", "info"]);
  const failed = lines.filter(({ fields }) => fields["status"] === 503);
  expect(failed).toMatchObject([{ fields: { conversation: "c", code: "store_gone" } }, {}]);
});

test("an answer that breaks off after its beginning is logged with its request, and so is the turn it is about", async () => {
  const { lines, log } = collected();
  const lost = Promise.withResolvers<never>();
  lost.promise.catch(() => undefined);
  const store = decorateStore(storePort(inMemoryStore()), {
    verbs: (space) => ({
      async *tail() {
        yield await lost.promise;
      },
      read: (request) => (request.conversation === "d" ? lost.promise : space.read(request)),
    }),
  });
  await using served = await serve({ holdfast: new Holdfast(store, "default"), log });
  const token = await served.token("read");
  const conversation = await served.holdfast.create({ id: "c" });
  await conversation.append(user("x".repeat(100_000)));
  await served.holdfast.create({ id: "d" });
  const tail = await served.ask("/api/conversations/c/tail", by(token));
  const bundle = await served.ask("/api/bundle?conversation=c&conversation=d", by(token));
  lost.reject(new LogError("store_gone", "lost"));
  for (const { status, body } of [tail, bundle]) {
    expect(status).toBe(200);
    await expect(new Response(body).text()).rejects.toThrow();
  }
  const broken = lines.filter(({ message }) => message === "Response aborted");
  expect(broken).toMatchObject([
    { level: "error", fields: { route: "tail", conversation: "c", space: "default", code: "store_gone" } },
    { level: "error", fields: { route: "exportBundle", space: "default", code: "store_gone" } },
  ]);
  expect(broken[0]?.fields["requestId"]).toBe(tail.headers.get("x-request-id"));
  expect(lines.map(({ message }) => message)).toContain("The store does not respond");
  await served.ask("/api/conversations/c/turns/gone/events", by(token));
  expect(lines.at(-1)).toMatchObject({ fields: { conversation: "c", turn: "gone", status: 404 } });
});

test("a stream of a conversation that is erased meanwhile ends without an error in the log", async () => {
  const { lines, log } = collected();
  await using served = await serve({ log });
  const conversation = await served.holdfast.create({ id: "c" });
  const { body } = await served.ask("/api/conversations/c/tail", by(await served.token("read")));
  await conversation.erase();
  await expect(new Response(body).text()).rejects.toThrow();
  expect(lines.at(-1)).toMatchObject({
    level: "info",
    message: "Response aborted",
    fields: { conversation: "c", code: "conversation_not_found" },
  });
});

test("a turn whose conversation is erased meanwhile is no error; any other failure of its work is one", () => {
  const { lines, log } = collected();
  const requests = new RequestLog(log);
  requests.unexpected(new LogError("conversation_not_found", "gone"), { turn: "t" });
  requests.unexpected(new LogError("damaged", "torn"), { turn: "t" });
  requests.unexpected(new TypeError("broken"));
  expect(lines.map(({ level }) => level)).toEqual(["info", "error", "error"]);
  expect(lines[0]?.fields).toMatchObject({ turn: "t", code: "conversation_not_found" });
});
