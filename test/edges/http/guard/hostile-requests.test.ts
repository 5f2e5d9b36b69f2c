import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KEY_HEADER } from "#edges/http/routes/route";
import { by, posted, told } from "../raw-requests.ts";
import { handClock, serve, type Served } from "../served.ts";

let served: Served;
const clock = handClock();
const tokens = { read: "", write: "", admin: "" };

beforeAll(async () => {
  served = await serve({ clock, limits: { perSecond: 1_000_000, burst: 1_000_000 } });
  tokens.read = await served.token("read");
  tokens.write = await served.token("write");
  tokens.admin = await served.token("admin");
  await served.holdfast.create({ id: "mine" });
});

afterAll(() => served[Symbol.asyncDispose]());

describe("hostile input", () => {
  test("a body that is no JSON object, has members nobody knows, or is of another type is refused", async () => {
    const path = "/api/conversations/mine/title";
    for (const body of [
      "",
      "{",
      "[]",
      "1",
      "null",
      '{"title":1}',
      "{}",
      '{"title":"a","more":1}',
      '{"title":null}',
      "[".repeat(6_000),
    ])
      expect(await told(await served.ask(path, posted(tokens.write, body)))).toEqual({
        status: 400,
        code: "invalid_request",
      });
    expect((await served.ask(path, posted(tokens.write, {}, { "content-type": "text/plain" }))).status).toBe(
      415,
    );
    expect((await served.ask(path, posted(tokens.write, {}, { "content-encoding": "gzip" }))).status).toBe(
      415,
    );
    const bytes = new Uint8Array([123, 34, 255, 254, 125]);
    expect(await told(await served.ask(path, { ...posted(tokens.write, ""), body: bytes }))).toMatchObject({
      code: "invalid_request",
    });
  });

  test("a query that nobody knows, twice the same, or of another kind is refused", async () => {
    for (const query of [
      "x=1",
      "limit=1&limit=2",
      "limit=0",
      "limit=501",
      "limit=1e2",
      "limit=-1",
      "fork=maybe",
      "__proto__=1",
      "constructor=1",
    ])
      expect(await told(await served.ask(`/api/conversations?${query}`, by(tokens.read)))).toEqual({
        status: 400,
        code: "invalid_request",
      });
  });

  test("a key is a word: what is none is refused before anything is written", async () => {
    const client = served.client(tokens.write);
    const before = (await served.holdfast.handle("mine").head()).headSeq;
    for (const key of [" ", "é", "x".repeat(201)])
      await expect(client.setTitle({ conversation: "mine", title: "x" }, { key })).rejects.toMatchObject({
        code: "invalid_request",
      });
    expect((await served.holdfast.handle("mine").head()).headSeq).toBe(before);
    expect(KEY_HEADER).toBe("idempotency-key");
  });

  test("too large a body is refused by what it says, and by what it is", async () => {
    const small = await serve({ holdfast: served.holdfast, clock, limits: { bodyBytes: 100 } });
    const path = "/api/conversations/mine/title";
    const large = posted(tokens.write, { title: "x".repeat(200) });
    expect(await told(await small.ask(path, large))).toEqual({ status: 413, code: "too_large" });
    const streamed = new ReadableStream<Uint8Array>({
      pull: (controller) => controller.enqueue(new Uint8Array(64).fill(32)),
    });
    const response = await small.ask(path, {
      ...posted(tokens.write, ""),
      body: streamed,
      duplex: "half",
    });
    expect(await told(response)).toEqual({ status: 413, code: "too_large" });
  });

  test("a token that asks too often waits; another is not kept waiting", async () => {
    const slow = await serve({ holdfast: served.holdfast, clock, limits: { perSecond: 1, burst: 2 } });
    const ask = (token: string): Promise<Response> => slow.ask("/api/health", by(token));
    expect([(await ask(tokens.read)).status, (await ask(tokens.read)).status]).toEqual([200, 200]);
    const third = await ask(tokens.read);
    expect(third.headers.get("retry-after")).toBe("1");
    expect(await told(third)).toEqual({ status: 429, code: "too_many" });
    expect((await ask(tokens.write)).status).toBe(200);
    clock.advance(1_000);
    expect((await ask(tokens.read)).status).toBe(200);
  });

  test("whoever shows no token that is known waits too, before anything is looked up; tokens are not kept waiting by them", async () => {
    const slow = await serve({ holdfast: served.holdfast, clock, limits: { perSecond: 1, burst: 3 } });
    expect((await slow.ask("/api/health", by(tokens.read))).status).toBe(200);
    const asked = [
      await slow.ask("/api/health"),
      await slow.ask("/api/health", by("hf_nope")),
      await slow.ask("/launch?code=hfc_nope"),
    ];
    expect(asked.map(({ status }) => status)).toEqual([401, 401, 401]);
    for (const [path, init] of [
      ["/api/health", {}],
      ["/api/health", by("hf_nope")],
      ["/api/health", { headers: { cookie: "holdfast=x" } }],
      ["/launch?code=hfc_nope", {}],
    ] as const)
      expect(await told(await slow.ask(path, init))).toEqual({ status: 429, code: "too_many" });
    expect((await slow.ask("/api/health", by(tokens.read))).status).toBe(200);
    clock.advance(1_000);
    expect((await slow.ask("/api/health")).status).toBe(401);
  });
});
