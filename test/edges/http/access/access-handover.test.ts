import { expect, test } from "vitest";
import type { KeptAccess } from "#edges/http/access/launch-codes";
import { openHoldfast } from "#open";
import { handClock, serve } from "../served.ts";

const clock = handClock();
const grant = { token: "browser", space: "default", rights: "write" } as const;

test("a browser goes on at the server that takes the place of its own, which is handed hashes and no secret", async () => {
  const kept: KeptAccess[] = [];
  const keep = (access: KeptAccess): void => void kept.push(structuredClone(access));
  const holdfast = await openHoldfast({ store: "memory:" });
  const before = await serve({ holdfast, clock, keptAccess: { known: null, keep } });
  const unused = before.handler.launchCode(grant, "/c/x?at=y");
  const response = await before.ask(`/launch?code=${before.handler.launchCode(grant)}`);
  const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
  const [known] = kept.toReversed();
  expect(known).toMatchObject({ codes: [{ to: "/c/x?at=y" }], sessions: [{ grant }] });
  for (const secret of [unused, cookie.split("=")[1] ?? "-"])
    expect(JSON.stringify(kept)).not.toContain(secret);
  const after = await serve({ holdfast, clock, keptAccess: { known: known ?? null, keep } });
  expect((await after.ask("/api/health", { headers: { cookie } })).status).toBe(200);
  const late = await after.ask(`/launch?code=${unused}`);
  expect([late.status, late.headers.get("location")]).toEqual([303, "/c/x?at=y"]);
  expect((await after.ask(`/launch?code=${unused}`)).status).toBe(401);
  expect((await (await serve({ holdfast, clock })).ask("/api/health", { headers: { cookie } })).status).toBe(
    401,
  );
});
