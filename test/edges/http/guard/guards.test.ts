import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { by, posted, told } from "../raw-requests.ts";
import { handClock, serve, type Served, URL_HERE } from "../served.ts";

let served: Served;
const clock = handClock();
const tokens = { read: "", write: "", admin: "", metrics: "", other: "" };

beforeAll(async () => {
  served = await serve({ clock, limits: { perSecond: 1_000_000, burst: 1_000_000 } });
  tokens.read = await served.token("read");
  tokens.write = await served.token("write");
  tokens.admin = await served.token("admin");
  tokens.metrics = await served.token("metrics");
  tokens.other = await served.token("admin", "other");
  await served.holdfast.create({ id: "mine", title: "Of the first space" });
  await served.holdfast.inSpace("other").create({ id: "theirs", title: "Of the other space" });
});

afterAll(() => served[Symbol.asyncDispose]());

describe("who asks", () => {
  test("a request without a token, or with one that nobody has, is told so; with one it is answered", async () => {
    expect(await told(await served.ask("/api/health"))).toEqual({ status: 401, code: "no_token" });
    for (const header of [
      "Bearer nope",
      "Bearer ",
      "Basic abc",
      `Bearer ${tokens.read}x`,
      "x".repeat(5_000),
    ]) {
      const response = await served.ask("/api/health", { headers: { authorization: header } });
      expect(await told(response)).toEqual({ status: 401, code: "wrong_token" });
    }
    // Not in an address either, where it would be written down on the way.
    expect((await served.ask(`/api/health?token=${tokens.read}`)).status).toBe(401);
    const health = await served.client(tokens.read).health();
    expect(health).toMatchObject({ ok: true, space: "default", rights: "read" });
  });

  test("a path that does not exist needs a token like every other, and says no more", async () => {
    expect((await served.ask("/api/nope")).status).toBe(401);
    expect(await told(await served.ask("/api/nope", by(tokens.read)))).toEqual({
      status: 404,
      code: "wrong_path",
    });
    const method = await served.ask("/api/health", { ...by(tokens.read), method: "PUT" });
    expect(await told(method)).toEqual({ status: 405, code: "wrong_method" });
  });

  test("a name that is not the server's own is refused before anything else, also with a token", async () => {
    for (const host of [
      "evil.example",
      "evil.example:8080",
      "127.0.0.1",
      "127.0.0.1:9",
      "localhost.:8080",
      "127.0.0.1:8080.evil.example",
      "",
    ])
      for (const path of ["/api/health", "/x/../api/health", "/nope", "/launch?code=x"])
        expect(await told(await served.ask(path, by(tokens.admin, { host })))).toEqual({
          status: 403,
          code: "wrong_host",
        });
    for (const host of ["localhost:8080", "LOCALHOST:8080", "[::1]:8080", "127.0.0.1:8080"])
      expect((await served.ask("/api/health", by(tokens.read, { host }))).status).toBe(200);
  });

  test("a page of another origin or site is refused, also with a token; there is no CORS", async () => {
    for (const origin of [
      "https://evil.example",
      "null",
      "http://127.0.0.1:9",
      "https://127.0.0.1:8080",
      "http://127.0.0.1:8080.evil.example",
    ])
      expect(await told(await served.ask("/api/health", by(tokens.admin, { origin })))).toEqual({
        status: 403,
        code: "wrong_origin",
      });
    for (const site of ["cross-site", "same-site", "other"])
      expect((await served.ask("/api/health", by(tokens.admin, { "sec-fetch-site": site }))).status).toBe(
        403,
      );
    const asked = { origin: URL_HERE, "access-control-request-method": "POST" };
    const preflight = await served.ask("/api/conversations", {
      ...by(tokens.admin, asked),
      method: "OPTIONS",
    });
    expect([...preflight.headers.keys()].filter((name) => name.startsWith("access-control"))).toEqual([]);
    expect(preflight.status).toBe(405);
    const fine = await served.ask(
      "/api/health",
      by(tokens.read, { origin: URL_HERE, "sec-fetch-site": "same-origin" }),
    );
    expect(fine.status).toBe(200);
  });

  test("every answer has the strict headers, whatever it says", async () => {
    for (const response of [
      await served.ask("/api/health", by(tokens.read)),
      await served.ask("/api/health"),
      await served.ask("/nope", by(tokens.read)),
      await served.ask("/api/health", { headers: { host: "evil.example" } }),
    ]) {
      expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
      expect(response.headers.get("x-content-type-options")).toBe("nosniff");
      expect(response.headers.get("cache-control")).toBe("no-store");
      expect(response.headers.get("cross-origin-resource-policy")).toBe("same-origin");
      expect(response.headers.get("content-type")).toContain("application/json");
    }
  });
});

describe("a browser", () => {
  const grant = { token: "browser", space: "default", rights: "write" } as const;

  async function launched(): Promise<string> {
    const response = await served.ask(`/launch?code=${served.handler.launchCode(grant)}`);
    expect([response.status, response.headers.get("location")]).toEqual([303, "/api/health"]);
    const cookie = response.headers.get("set-cookie") ?? "";
    expect(cookie).toMatch(/^holdfast=hf_[\w-]{43}; Path=\/; HttpOnly; SameSite=Strict$/);
    return cookie.split(";")[0] ?? "";
  }

  test("is let in by a launch code once; the code is worth nothing after that, nor later, nor guessed", async () => {
    const cookie = await launched();
    expect((await served.ask("/api/health", { headers: { cookie } })).status).toBe(200);
    const code = served.handler.launchCode(grant);
    expect((await served.ask(`/launch?code=${code}`)).status).toBe(303);
    expect(await told(await served.ask(`/launch?code=${code}`))).toEqual({ status: 401, code: "wrong_code" });
    expect(await told(await served.ask("/launch?code=hfc_guessed"))).toEqual({
      status: 401,
      code: "wrong_code",
    });
    expect(await told(await served.ask("/launch"))).toEqual({ status: 401, code: "wrong_code" });
    const late = served.handler.launchCode(grant);
    clock.advance(300_001);
    expect((await served.ask(`/launch?code=${late}`)).status).toBe(401);
    // The code is no token, and neither is the cookie's value elsewhere.
    expect((await served.ask("/api/health", by(code))).status).toBe(401);
    expect((await served.ask("/api/health", { headers: { cookie: "holdfast=hf_made-up" } })).status).toBe(
      401,
    );
    clock.advance(86_400_001);
    expect((await served.ask("/api/health", { headers: { cookie } })).status).toBe(401);
  });

  test("writes only from a page of the server: a form of somebody else's page sends the cookie, too", async () => {
    const cookie = await launched();
    const write = (headers: Record<string, string>): Promise<Response> =>
      served.ask("/api/conversations/mine/title", {
        method: "POST",
        headers: { cookie, "content-type": "application/json", ...headers },
        body: JSON.stringify({ title: "By a browser" }),
      });
    expect(await told(await write({}))).toEqual({ status: 403, code: "wrong_origin" });
    expect((await write({ origin: URL_HERE })).status).toBe(403);
    expect((await write({ "holdfast-client": "1" })).status).toBe(403);
    expect((await write({ origin: "https://evil.example", "holdfast-client": "1" })).status).toBe(403);
    expect((await write({ origin: URL_HERE, "holdfast-client": "1" })).status).toBe(200);
    expect((await write({ "sec-fetch-site": "same-origin", "holdfast-client": "1" })).status).toBe(200);
    const form = {
      origin: URL_HERE,
      "holdfast-client": "1",
      "content-type": "application/x-www-form-urlencoded",
    };
    expect(await told(await write(form))).toEqual({ status: 415, code: "wrong_type" });
  });
});

describe("what a token may do", () => {
  test("a token of one space sees nothing of another, not even that it exists", async () => {
    const mine = served.client(tokens.admin);
    const theirs = served.client(tokens.other);
    expect((await mine.listConversations()).conversations.map((one) => one.conversation)).toEqual(["mine"]);
    expect((await theirs.listConversations({ unlisted: true })).conversations).toEqual([]);
    const answers = await Promise.all(
      ["theirs", "nobodys"].map(async (id) => {
        const response = await served.ask(`/api/conversations/${id}`, by(tokens.admin));
        return (await response.text()).replaceAll(id, "ID");
      }),
    );
    expect(answers[0]).toBe(answers[1]);
    expect(answers[0]).toContain("conversation_not_found");
    await expect(theirs.setTitle({ conversation: "mine", title: "x" })).rejects.toMatchObject({
      status: 404,
    });
  });

  test("a removed token is let in nowhere a second later; only hashes are in the store", async () => {
    const secret = await served.token("read");
    const { StoredTokens } = await import("#edges/http/index");
    const tokensHere = new StoredTokens(served.holdfast);
    const listed = await tokensHere.list();
    expect((await served.ask("/api/health", by(secret))).status).toBe(200);
    expect(await tokensHere.remove(listed.at(-1)?.token ?? "")).toBe(true);
    clock.advance(1_001);
    expect((await served.ask("/api/health", by(secret))).status).toBe(401);
    const server = served.holdfast.inSpace("holdfast.server");
    const kept: string[] = [];
    for await (const entry of server.handle("tokens").log()) kept.push(entry.payload);
    expect(kept.join("\n")).toContain('"hash":"');
    for (const one of [secret, ...Object.values(tokens)]) expect(kept.join("\n")).not.toContain(one);
    await expect(
      tokensHere.add({ token: "x", space: "holdfast.server", rights: "admin" }),
    ).rejects.toMatchObject({
      code: "invalid_request",
    });
  });

  test("a server that only reads writes nothing, whatever the token; one that is about to stop begins nothing", async () => {
    const reading = await serve({ holdfast: served.holdfast, clock, readOnly: true });
    const before = (await served.holdfast.handle("mine").head()).headSeq;
    const write = posted(tokens.admin, { title: "No" });
    expect(await told(await reading.ask("/api/conversations/mine/title", write))).toEqual({
      status: 403,
      code: "only_reading",
    });
    expect((await reading.client(tokens.admin).health()).readOnly).toBe(true);
    const stopping = await serve({ holdfast: served.holdfast, clock });
    await stopping.handler.drain();
    const answer = await stopping.ask("/api/conversations/mine/title", write);
    expect(answer.headers.get("retry-after")).toBe("1");
    expect(await told(answer)).toEqual({ status: 503, code: "stopping" });
    expect((await served.holdfast.handle("mine").head()).headSeq).toBe(before);
  });
});
