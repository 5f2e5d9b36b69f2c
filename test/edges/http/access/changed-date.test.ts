import type { KeptAccess } from "#edges/http/access/launch-codes";
import { beforeEach, describe, expect, test } from "vitest";
import { StoredTokens } from "#edges/http/index";
import { by, posted } from "../raw-requests.ts";
import { type HandClock, handClock, serve } from "../served.ts";

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;
const grant = { token: "browser", space: "default", rights: "write" } as const;
const limits = { perSecond: 10, burst: 20 };

let clock: HandClock;
beforeEach(() => {
  clock = handClock();
});

describe.each([
  ["back", -HOUR_MS],
  ["forward", HOUR_MS],
])("while the date is set %s by an hour", (_, byMs) => {
  test("a removed token works for no longer than a second", async () => {
    await using served = await serve({ clock });
    const secret = await served.token("write");
    const create = async (): Promise<number> =>
      (await served.ask("/api/conversations", posted(secret, { title: "T" }))).status;
    expect(await create()).toBe(201);
    clock.setDate(byMs);
    await new StoredTokens(served.holdfast).remove("write-1");
    clock.advance(1_000);
    expect(await create()).toBe(401);
  });

  test("no token is refused for requests that it did not make, and none may make more", async () => {
    await using served = await serve({ clock, limits });
    const secret = await served.token("read");
    const ask = async (): Promise<number> => (await served.ask("/api/health", by(secret))).status;
    for (let at = 0; at < 20; at++) expect(await ask()).toBe(200);
    clock.setDate(byMs);
    expect(await ask()).toBe(429);
    clock.advance(1_000);
    for (let at = 0; at < 10; at++) expect(await ask()).toBe(200);
    expect(await ask()).toBe(429);
  });

  test("a launch code opens a browser for 5 minutes, and its cookie is good for a day", async () => {
    await using served = await serve({ clock });
    const launch = async (code: string): Promise<string | null> =>
      (await served.ask(`/launch?code=${code}`)).headers.get("set-cookie")?.split(";")[0] ?? null;
    const [early, late] = [served.handler.launchCode(grant), served.handler.launchCode(grant)];
    clock.setDate(byMs);
    clock.advance(299_999);
    const cookie = (await launch(early)) ?? "";
    clock.advance(1);
    expect([cookie, await launch(late)]).toEqual([expect.any(String), null]);
    const health = async (): Promise<number> =>
      (await served.ask("/api/health", { headers: { cookie } })).status;
    clock.setDate(byMs);
    clock.advance(DAY_MS - 2);
    expect(await health()).toBe(200);
    clock.advance(1);
    expect(await health()).toBe(401);
  });

  test("a server lets in whom the one before let in, for no longer than that one would have", async () => {
    const access: KeptAccess[] = [];
    const keep = (all: KeptAccess): void => void access.push(all);
    await using before = await serve({ clock, keptAccess: { known: null, keep } });
    const code = before.handler.launchCode(grant);
    clock.advance(100_000);
    if (byMs < 0) clock.setDate(byMs);
    const { holdfast } = before;
    const after = await serve({ holdfast, clock, keptAccess: { known: access.at(-1) ?? null, keep } });
    if (byMs > 0) clock.setDate(byMs);
    clock.advance(byMs < 0 ? 300_000 : 200_000);
    expect((await after.ask(`/launch?code=${code}`)).status).toBe(401);
  });
});

test.each([-HOUR_MS, HOUR_MS])(
  "an act under a key is done once, though the month changes with the date by %i ms",
  async (byMs) => {
    clock = handClock(Date.UTC(2026, 1, 1) - byMs / 2 - HOUR_MS);
    clock.advance(HOUR_MS);
    await using served = await serve({ clock });
    const secret = await served.token("write");
    const save = async (): Promise<string | null> => {
      const memory = { scope: "user", content: "Be brief", memory: "style" };
      const response = await served.ask("/api/memory", posted(secret, memory, { "idempotency-key": "k" }));
      expect(response.status).toBe(200);
      return response.headers.get("holdfast-repeated");
    };
    expect(await save()).toBeNull();
    clock.setDate(byMs);
    expect(await save()).toBe("same");
  },
);
