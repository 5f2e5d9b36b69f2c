import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { tempDir } from "../../../support/temp-dir.ts";
import { by, told } from "../raw-requests.ts";
import { handClock, serve, type Served, URL_HERE } from "../served.ts";

const LIMITS = { perSecond: 1, burst: 3 };
const GRANT = { token: "browser", space: "default", rights: "read" } as const;

const from = (served: Served, address: string, path: string, init: RequestInit = {}): Promise<Response> =>
  served.handler.fetch(new Request(`${URL_HERE}${path}`, init), { address });

test("guesses of launch codes are limited by address, and lock out nobody who has one", async () => {
  await using served = await serve({ clock: handClock(), limits: LIMITS });
  const [guesser, other] = ["203.0.113.7", "203.0.113.8"];
  for (let at = 0; at < LIMITS.burst; at++)
    expect((await from(served, guesser, "/launch?code=hfc_guess")).status).toBe(401);
  const refused = await from(served, guesser, "/launch?code=hfc_guess");
  expect(await told(refused)).toEqual({ status: 429, code: "too_many" });
  expect(
    (await from(served, guesser, "/launch?code=hfc_guess", { headers: { accept: "text/html" } })).status,
  ).toBe(429);
  expect((await from(served, other, "/launch?code=hfc_guess")).status).toBe(401);
  expect((await from(served, guesser, `/launch?code=${served.handler.launchCode(GRANT)}`)).status).toBe(303);
  const token = await served.token("read");
  expect((await from(served, other, "/api/health", by(token))).status).toBe(200);
});

test("pages are limited by address; what else an address asks for has a measure of its own", async () => {
  using folder = tempDir();
  mkdirSync(join(folder.path, "assets"));
  writeFileSync(join(folder.path, "index.html"), "<!doctype html>");
  writeFileSync(join(folder.path, "assets", "app.js"), "");
  await using served = await serve({ clock: handClock(), limits: LIMITS, ui: folder.path });
  const address = "2001:db8::1";
  for (const path of ["/", "/assets/app.js", "/c/x"])
    expect((await from(served, address, path)).status).toBe(200);
  for (const path of ["/", "/assets/app.js", "/assets/none.js"])
    expect(await told(await from(served, "2001:db8::2", path))).toEqual({ status: 429, code: "too_many" });
  expect((await from(served, address, "/api/health")).status).toBe(401);
  expect((await from(served, "2001:db8:0:1::1", "/")).status).toBe(200);
});
