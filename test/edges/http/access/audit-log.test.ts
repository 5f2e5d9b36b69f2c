import { expect, test } from "vitest";
import type { Clock } from "#conversation/clock";
import { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import type { AppendRequest } from "#store/requests";
import type { Store } from "#store/store";
import { inMemoryStore } from "#stores/in-memory/index";
import { countedStore } from "../../../support/counted-store.ts";
import { by, posted, told } from "../raw-requests.ts";
import { handClock, serve, type Served, URL_HERE } from "../served.ts";

const SERVER_SPACE = "holdfast.server";

interface Watched {
  readonly store: Store;
  /** Those to the server's own space. */
  readonly appends: AppendRequest[];
  /** Whether that space accepts none. */
  isBroken: boolean;
}

function watchedStore(): Watched {
  const inner = inMemoryStore();
  const space: Store["space"] = (id) => {
    const own = inner.space(id);
    const append: typeof own.append = async (request) => {
      if (watched.isBroken) throw new LogError("store_failed", "The audit log cannot be written");
      const appended = await own.append(request);
      watched.appends.push(request);
      return appended;
    };
    return id === SERVER_SPACE ? { ...own, append } : own;
  };
  const watched: Watched = { store: { ...inner, space }, appends: [], isBroken: false };
  return watched;
}

/** Time that stands still: a pause ends when it is cut short. */
function stillClock(): Clock {
  const sleep = async (_: number, signal: AbortSignal): Promise<void> => {
    if (signal.aborted) return;
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  };
  return { nowMs: () => Date.UTC(2026, 0, 1), steadyMs: () => 0, sleep };
}

const title = (served: Served, token: string, text: string): Promise<Response> =>
  served.ask("/api/conversations/mine/title", posted(token, { title: text }));

const AUDIT = "/api/audit";

test("writes wait for no audit line; those of the same moment share one append", async () => {
  const { store, appends } = watchedStore();
  await using served = await serve({ holdfast: new Holdfast(store, "default"), clock: stillClock() });
  const [write, admin] = [await served.token("write"), await served.token("admin")];
  await served.holdfast.create({ id: "mine" });
  appends.length = 0;
  const answers = await Promise.all(Array.from({ length: 16 }, (_, at) => title(served, write, `${at}`)));
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  expect(appends).toEqual([]);
  const { lines } = await served.client(admin).listAudit();
  expect(lines.filter(({ operation }) => operation === "setTitle")).toHaveLength(16);
  expect(appends.map(({ drafts }) => drafts.length)).toEqual([16]);
});

test("a server that stops stores the lines that wait", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  await using served = await serve({ holdfast, clock: stillClock() });
  await using other = await serve({ holdfast, clock: stillClock() });
  const [write, admin] = [await served.token("write"), await served.token("admin")];
  await holdfast.create({ id: "mine" });
  await title(served, write, "Last");
  const listed = async (): Promise<readonly string[]> =>
    (await other.client(admin).listAudit()).lines.map(({ operation }) => operation);
  expect(await listed()).not.toContain("setTitle");
  await served.handler.drain();
  expect(await listed()).toContain("setTitle");
});

test("while audit lines cannot be stored nothing more is written; afterwards each line is there once", async () => {
  const watched = watchedStore();
  await using served = await serve({ holdfast: new Holdfast(watched.store, "default"), clock: handClock() });
  const [write, admin] = [await served.token("write"), await served.token("admin")];
  await served.holdfast.create({ id: "mine" });
  watched.isBroken = true;
  expect((await title(served, write, "Unrecorded")).status).toBe(200);
  expect((await served.ask(AUDIT, by(admin))).status).toBe(503);
  const before = (await served.holdfast.handle("mine").head()).headSeq;
  expect((await title(served, write, "Never")).status).toBe(503);
  expect((await served.holdfast.handle("mine").head()).headSeq).toBe(before);
  watched.isBroken = false;
  expect((await title(served, write, "Again")).status).toBe(200);
  const { lines } = await served.client(admin).listAudit();
  const outcomes = lines.filter(({ operation }) => operation === "setTitle").map(({ outcome }) => outcome);
  expect(outcomes).toEqual(["done", "store_failed", "done"]);
});

test("each line of a write has its token, key and address, and what came of it", async () => {
  await using served = await serve({ clock: handClock() });
  const [read, write] = [await served.token("read"), await served.token("write")];
  const [admin, other] = [await served.token("admin"), await served.token("admin", "other")];
  await served.holdfast.create({ id: "mine" });
  const ask = (token: string, body: unknown, key: string): Promise<Response> =>
    served.handler.fetch(
      new Request(`${URL_HERE}/api/conversations/mine/title`, {
        ...posted(token, body, { "idempotency-key": key, "x-forwarded-for": "198.51.100.9" }),
      }),
      { address: "::ffff:203.0.113.7" },
    );
  await ask(write, { title: "Audited" }, "k1");
  await ask(read, { title: "No" }, "k2");
  await ask(write, { nothing: true }, "k3");
  const { lines } = await served.client(admin).listAudit();
  const about = { operation: "setTitle", space: "default", conversation: "mine", address: "203.0.113.7" };
  expect(lines).toEqual([
    expect.objectContaining({ ...about, token: "write-2", key: "k1", outcome: "done", status: 200 }),
    expect.objectContaining({ ...about, token: "read-1", key: "k2", outcome: "no_right", status: 403 }),
    expect.objectContaining({
      ...about,
      token: "write-2",
      key: "k3",
      outcome: "invalid_request",
      status: 400,
    }),
  ]);
  expect((await served.client(other).listAudit()).lines).toEqual([]);
  const one = await served.client(admin).listAudit({ limit: 1 });
  expect(one.lines).toEqual(lines.slice(0, 1));
  expect((await served.client(admin).listAudit({ after: one.next ?? 0 })).lines).toEqual(lines.slice(1));
});

test("an act that ends after its answer was given up is recorded as done", async () => {
  const inner = inMemoryStore();
  const gate = Promise.withResolvers<void>();
  const space: Store["space"] = (id) => {
    const own = inner.space(id);
    const append: typeof own.append = async (request) => {
      await gate.promise;
      return own.append(request);
    };
    return id === "default" ? { ...own, append } : own;
  };
  const holdfast = new Holdfast({ ...inner, space }, "default");
  await using served = await serve({ holdfast, limits: { answerMs: 50 } });
  await using other = await serve({ holdfast });
  const [write, admin] = [await other.token("write"), await other.token("admin")];
  await holdfast.create({ id: "mine" });
  expect((await title(served, write, "Late")).status).toBe(503);
  gate.resolve();
  const listed = async (): Promise<unknown> => {
    await served.handler.flush();
    const { lines } = await other.client(admin).listAudit();
    return lines.find(({ operation }) => operation === "setTitle");
  };
  await expect.poll(listed).toMatchObject({ outcome: "done", status: 200 });
});

test("an export goes out after its line is on disk; where that fails nothing goes out", async () => {
  const watched = watchedStore();
  const { store, appends } = watched;
  await using served = await serve({ holdfast: new Holdfast(store, "default"), clock: stillClock() });
  const [read, admin] = [await served.token("read"), await served.token("admin")];
  for (const id of ["mine", "second"]) await served.holdfast.create({ id, title: "Secret" });
  appends.length = 0;
  const bundle = await served.ask("/api/bundle?conversation=mine&conversation=second", by(read));
  expect(appends.map(({ drafts, durability }) => [drafts.length, durability])).toEqual([[2, "full"]]);
  expect(await bundle.text()).toContain("Secret");
  await served.ask("/api/conversations/mine/transcript?format=html", by(read));
  expect(appends).toHaveLength(2);
  await served.ask("/api/bundle?conversation=nowhere", by(read));
  watched.isBroken = true;
  const refused = await served.ask("/api/bundle?conversation=mine", by(read));
  expect(await told(refused)).toEqual({ status: 503, code: "store_failed" });
  watched.isBroken = false;
  const { lines } = await served.client(admin).listAudit();
  expect(lines.map(({ operation, conversation, outcome }) => [operation, conversation, outcome])).toEqual([
    ["exportBundle", "mine", "done"],
    ["exportBundle", "second", "done"],
    ["exportTranscript", "mine", "done"],
    ["exportBundle", "nowhere", "conversation_not_found"],
  ]);
});

test("the audit log of one space is read without the lines of others", async () => {
  const { store, count } = countedStore();
  await using served = await serve({ holdfast: new Holdfast(store, "default"), clock: handClock() });
  const [write, admin] = [await served.token("write"), await served.token("admin", "quiet")];
  await served.holdfast.create({ id: "mine" });
  await Promise.all(Array.from({ length: 200 }, (_, at) => title(served, write, `${at}`)));
  await served.handler.flush();
  await served.client(admin).health(); // the token is known now
  const before = count();
  expect((await served.client(admin).listAudit()).lines).toEqual([]);
  expect(count() - before).toBeLessThan(10);
});

test("lines of a month that older servers began come first, page by page", async () => {
  const clock = handClock();
  await using served = await serve({ clock });
  const [write, admin] = [await served.token("write"), await served.token("admin")];
  const old = await served.holdfast.inSpace(SERVER_SPACE).create({ id: "audit-2026-01", unlisted: true });
  const data = { token: "old", operation: "setTitle", conversation: "mine", key: null };
  for (const [space, refused] of [
    ["default", null],
    ["other", null],
    ["default", "no_right"],
  ] as const)
    await old.append({ type: "custom", customType: "http_write", data: { ...data, space, refused } });
  await served.holdfast.create({ id: "mine" });
  await title(served, write, "New");
  await title(served, write, "Newer");
  const client = served.client(admin);
  const pages: unknown[] = [];
  for (let after: number | null = 0; after !== null;) {
    const page = await client.listAudit({ after, limit: 1 });
    pages.push(...page.lines.map(({ token, outcome }) => [token, outcome]));
    after = page.next;
  }
  expect(pages).toEqual([
    ["old", "intent"],
    ["old", "no_right"],
    ["write-1", "done"],
    ["write-1", "done"],
  ]);
});
