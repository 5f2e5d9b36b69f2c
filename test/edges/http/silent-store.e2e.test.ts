/**
 * Goal: a store that says nothing hangs no request: each is answered with 503 in its time, what was written is known again by its
 * key, and the server goes on by itself.
 * Method: a store in memory whose appends are kept back, and a PostgreSQL whose processes are all stopped where they are.
 */
import { expect, test, vi } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { openHoldfast } from "#open";
import { decorateStore } from "#store/decorate";
import { storePort } from "#store/port";
import { inMemoryStore } from "#stores/in-memory/index";
import { HANG_MS } from "../../support/hang.ts";
import { startPostgres } from "../../support/loopback-postgres.ts";
import { by, posted } from "./raw-requests.ts";
import { serve } from "./served.ts";

const title = (text: string): object => ({ title: text });
const TITLE = "/api/conversations/c/title";

test("a request whose store says nothing is refused in its time; what comes late is there, once", async () => {
  const gate = Promise.withResolvers<void>();
  let isSilent = false;
  const store = decorateStore(storePort(inMemoryStore()), {
    verbs: (space) => ({
      append: async (request) => {
        if (isSilent && request.conversation === "c") await gate.promise;
        return space.append(request);
      },
    }),
  });
  const holdfast = new Holdfast(store, "default");
  await using served = await serve({ holdfast, limits: { answerMs: 200 } });
  const token = await served.token("write");
  const conversation = await holdfast.create({ id: "c" });
  isSilent = true;
  const ask = (): Promise<Response> =>
    served.ask(TITLE, posted(token, title("T"), { "idempotency-key": "k" }));
  const late = await ask();
  expect([late.status, late.headers.get("retry-after")]).toEqual([503, "1"]);
  expect(await late.json()).toMatchObject({ error: { code: "store_gone" } });
  isSilent = false;
  gate.resolve();
  await vi.waitFor(async () => expect((await ask()).status).toBe(200), { timeout: HANG_MS });
  expect(await conversation.facts(["title"])).toHaveLength(1);
});

test("a PostgreSQL that is stopped where it is hangs no request, and the server goes on when it does", async () => {
  await using server = await startPostgres();
  await using holdfast = await openHoldfast({ store: `${server.direct}?query_ms=500` });
  await using served = await serve({ holdfast, limits: { answerMs: 4_000 } });
  const token = await served.token("admin");
  const conversation = await holdfast.create({ id: "c" });
  const status = async (path: string, init = by(token)): Promise<number> =>
    (await served.ask(path, init)).status;
  const write = (key: string): Promise<number> =>
    status(TITLE, posted(token, title(key), { "idempotency-key": key }));
  await vi.waitFor(async () => expect(await status("/readyz")).toBe(200), { timeout: HANG_MS });
  await server.pause();
  try {
    const keys = Array.from({ length: 30 }, (_, n) => `k${n}`);
    expect(new Set(await Promise.all(keys.map(write)))).toEqual(new Set([503]));
    for (const path of ["/readyz", "/api/health"]) await expect.poll(() => status(path)).toBe(503);
    expect(await status("/livez")).toBe(200);
  } finally {
    server.resume();
  }
  for (const path of ["/readyz", "/api/health"])
    await vi.waitFor(async () => expect(await status(path)).toBe(200), { timeout: HANG_MS });
  for (let n = 0; n < 30; n++)
    await vi.waitFor(async () => expect(await write(`k${n}`)).toBe(200), { timeout: HANG_MS });
  const facts = await vi.waitFor(() => conversation.facts(["title"]), { timeout: HANG_MS });
  const titles = facts.map((fact) => (fact.type === "title" ? fact.title : ""));
  expect(titles.toSorted()).toEqual(Array.from({ length: 30 }, (_, n) => `k${n}`).toSorted());
  expect(await holdfast.check({ repair: false })).toEqual([]);
});
