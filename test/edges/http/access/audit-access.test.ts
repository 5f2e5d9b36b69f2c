/** The audit log about who comes in: addresses, credentials, tokens. */
import type { Grant } from "#edges/http/access/grant";
import { expect, test } from "vitest";
import { StoredTokens } from "#edges/http/index";
import { by, posted } from "../raw-requests.ts";
import { handClock, serve, URL_HERE } from "../served.ts";

const SERVER_SPACE = "holdfast.server";

test("a trusted proxy says who asks; a client that says it of itself is not believed", async () => {
  await using served = await serve({ clock: handClock(), trustedProxies: ["10.0.0.0/8", "2001:db8::/32"] });
  const [write, admin] = [await served.token("write"), await served.token("admin")];
  await served.holdfast.create({ id: "mine" });
  for (const [address, forwarded] of [
    ["10.1.2.3", "198.51.100.1, 203.0.113.7"],
    ["::ffff:10.1.2.3", "198.51.100.1, 203.0.113.8, 10.9.9.9"],
    ["2001:db8::1", "203.0.113.9"],
    ["192.0.2.1", "203.0.113.10"],
    ["10.1.2.3", "nonsense"],
  ] as const)
    await served.handler.fetch(
      new Request(
        `${URL_HERE}/api/conversations/mine/title`,
        posted(write, { title: address }, { "x-forwarded-for": forwarded }),
      ),
      { address },
    );
  const { lines } = await served.client(admin).listAudit();
  expect(lines.map(({ address }) => address)).toEqual([
    "203.0.113.7",
    "203.0.113.8",
    "203.0.113.9",
    "192.0.2.1",
    "10.1.2.3",
  ]);
  for (const proxy of ["10.0.0.0/33", "nginx", "10.0.0.1/", "::1/129"])
    await expect(serve({ trustedProxies: [proxy] })).rejects.toMatchObject({ code: "invalid_request" });
});

test("refused credentials are counted by minute and address, for the server's own space alone", async () => {
  const clock = handClock();
  const limits = { perSecond: 1_000_000, burst: 1_000_000 };
  await using served = await serve({ clock, limits });
  const admin = await served.token("admin");
  const findGrant = async (secret: string): Promise<Grant | null> =>
    secret === "server-admin" ? { token: "operator", space: SERVER_SPACE, rights: "admin" } : null;
  await using operated = await serve({ holdfast: served.holdfast, clock, limits, findGrant });
  for (let at = 0; at < 60; at++)
    for (const address of [`2001:db8:0:${at.toString(16)}::1`, `2001:db8:0:${at.toString(16)}::2`])
      await operated.handler.fetch(new Request(`${URL_HERE}/api/health`, by(`hf_guess-${at}`)), { address });
  await operated.ask("/launch?code=hfc_guess");
  clock.advance(60_000);
  await operated.handler.fetch(new Request(`${URL_HERE}/api/health`, by("hf_later")), {
    address: "203.0.113.7",
  });
  const { lines } = await operated.client("server-admin").listAudit();
  const refused = lines.filter(({ operation }) => operation === "authenticate");
  expect(refused.length).toBeLessThanOrEqual(25);
  expect(refused.reduce((sum, { count }) => sum + count, 0)).toBe(122);
  expect(refused[0]).toMatchObject({
    token: null,
    space: SERVER_SPACE,
    address: "2001:0db8:0000:0000::/64",
    outcome: "wrong_token",
    count: 2,
  });
  expect(refused.at(-1)).toMatchObject({ address: "203.0.113.7", count: 1 });
  expect((await served.client(admin).listAudit()).lines).toEqual([]);
});

test("tokens that are added and removed are recorded in their space, before and after", async () => {
  await using served = await serve();
  const admin = await served.token("admin");
  await served.token("read");
  await new StoredTokens(served.holdfast).remove("read-2");
  const { lines } = await served.client(admin).listAudit();
  expect(lines.map(({ token, operation, target, outcome }) => [token, operation, target, outcome])).toEqual(
    [
      ["addToken", "admin-1"],
      ["addToken", "read-2"],
      ["removeToken", "read-2"],
    ].flatMap((act) => [
      ["local", ...act, "intent"],
      ["local", ...act, "done"],
    ]),
  );
});

test("the names that the audit log has for itself are no names for tokens", async () => {
  await using served = await serve();
  const tokens = new StoredTokens(served.holdfast);
  for (const token of ["this-run", "local"])
    await expect(tokens.add({ token, space: "default", rights: "admin" })).rejects.toMatchObject({
      code: "invalid_request",
    });
  expect(await tokens.list()).toEqual([]);
});
