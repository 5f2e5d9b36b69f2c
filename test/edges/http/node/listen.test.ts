import type { Listening, ListenOptions } from "#edges/http/node/listen";
import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Holdfast } from "#conversation/holdfast";
import { HttpHandler, knownNames, listen, StoredTokens } from "#edges/http/index";
import { openHoldfast } from "#open";

let holdfast: Holdfast;
let listening: Listening;
let token = "";

beforeAll(async () => {
  holdfast = await openHoldfast({ store: "memory:" });
  token = (await new StoredTokens(holdfast).add({ token: "t", space: "default", rights: "admin" })).secret;
  await holdfast.create({ id: "a" });
  listening = await listenHere();
});

const listenHere = (options: ListenOptions = {}): Promise<Listening> =>
  listen(
    (port) => new HttpHandler({ holdfast, names: knownNames({ port }), limits: { bodyBytes: 1_000 } }),
    options,
  );

afterAll(async () => {
  await listening.close();
  await holdfast.close();
});

/** What a server says to these bytes, until it ends the connection or has said enough. */
function raw(
  text: string,
  { more, port = listening.port }: { readonly more?: string; readonly port?: number } = {},
): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let heard = "";
  const socket = connect(port, "127.0.0.1", () => socket.write(text));
  socket.on("data", (bytes) => {
    heard += bytes.toString("latin1");
    if (/\r\n\r\n/.test(heard) && more === undefined) socket.end();
  });
  socket.on("error", reject);
  socket.on("close", () => resolve(heard));
  return promise;
}

const head = (path: string, more: string = ""): string =>
  `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${listening.port}\r\nAuthorization: Bearer ${token}\r\n${more}\r\n`;

test("paths as they are sent lead nowhere but to routes", async () => {
  expect(await raw(head("/api/health"))).toMatch(/^HTTP\/1.1 200 /);
  for (const path of [
    "//evil.example/api/health",
    "/api/../../etc/passwd",
    "/api//health",
    "/API/health",
    "/api/health/",
    "/api/%68ealth%00",
    "/.%2e/api",
    "/\\evil",
  ])
    expect([path, await raw(head(path))]).toEqual([path, expect.stringMatching(/^HTTP\/1.1 (?:404|400) /)]);
  for (const path of ["http://evil.example/api/health", "*", "evil.example:80"])
    expect([path, await raw(head(path))]).toEqual([path, expect.stringMatching(/^HTTP\/1.1 400 /)]);
  // A browser would not ask for it, a program may: it is the route that it comes to.
  expect(await raw(head("/x/../api/health"))).toMatch(/^HTTP\/1.1 200 /);
});

test("a request with another Host, two of them or none is refused", async () => {
  const bearer = `Authorization: Bearer ${token}\r\n\r\n`;
  expect(await raw(`GET /x/../api/health HTTP/1.1\r\nHost: evil.example\r\n${bearer}`)).toMatch(
    /^HTTP\/1.1 403 /,
  );
  expect(await raw(`GET /api/health HTTP/1.1\r\n${bearer}`)).toMatch(/^HTTP\/1.1 400 /);
  expect(await raw(`GET /api/health HTTP/1.0\r\n${bearer}`)).toMatch(/^HTTP\/1.1 403 /);
  const mine = `Host: 127.0.0.1:${listening.port}\r\n`;
  expect(await raw(`GET /api/health HTTP/1.1\r\n${mine}Host: evil.example\r\n${bearer}`)).toMatch(
    /^HTTP\/1.1 400 /,
  );
});

test("bytes that are no request, and headers without end, end their own connection alone", async () => {
  expect(await raw("\u0000\u0001\u0002 nonsense\r\n\r\n")).toMatch(/^HTTP\/1.1 400 /);
  expect(await raw(head("/api/health", `X: ${"x".repeat(20_000)}\r\n`))).toMatch(/^HTTP\/1.1 431 /);
  expect(await raw(head("/api/health"))).toMatch(/^HTTP\/1.1 200 /);
});

test("HEAD is answered as GET is, without a body; a method that no route has is refused", async () => {
  const send = (method: string, path: string): Promise<string> => raw(head(path).replace("GET", method));
  expect(await send("HEAD", "/api/conversations/a")).toMatch(/^HTTP\/1.1 200 [^]*\r\n\r\n$/);
  expect(await send("PUT", "/api/conversations/a")).toMatch(/^HTTP\/1.1 405 /);
  expect(await send("TRACE", "/api/conversations/a")).toMatch(/^HTTP\/1.1 400 /);
});

test("a request that never becomes whole is given up in time, and nobody else waits for it", async () => {
  const impatient = await listenHere({ requestMs: 300 });
  const half = { more: "never", port: impatient.port } as const;
  const halfHead = raw(`GET /api/health HTTP/1.1\r\nHost: 127`, half);
  const halfBody = raw(
    `POST /api/conversations/a/title HTTP/1.1\r\nHost: 127.0.0.1:${impatient.port}\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"title":`,
    half,
  );
  const headers = { authorization: `Bearer ${token}` };
  expect((await fetch(`${impatient.url}/api/health`, { headers })).status).toBe(200);
  expect(await halfHead).toMatch(/^HTTP\/1.1 408 /);
  expect(await halfBody).toMatch(/^(?:HTTP\/1.1 408 |$)/);
  expect((await holdfast.handle("a").head()).title).toBeNull();
  await impatient.close();
});

test("a body that is too large is answered while it is sent, and the connection ended", async () => {
  const response = await fetch(`${listening.url}/api/conversations/a/title`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ title: "x".repeat(500_000) }),
  });
  expect([response.status, response.headers.get("connection")]).toEqual([413, "close"]);
  await response.body?.cancel();
});

test("it does not listen beyond this machine unless that is said, nor where somebody else does", async () => {
  const make = (): HttpHandler => listening.handler;
  await expect(listen(make, { host: "0.0.0.0" })).rejects.toMatchObject({ code: "invalid_request" });
  await expect(listen(make, { host: "192.0.2.1" })).rejects.toMatchObject({ code: "invalid_request" });
  await expect(listen(make, { port: listening.port })).rejects.toMatchObject({ code: "invalid_request" });
});
