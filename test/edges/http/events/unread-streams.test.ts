/** Streams that no one reads hold no more memory than the server's limits say, and every other client is served. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { user } from "#log/message";
import { Metrics } from "#telemetry/index";
import { by } from "../raw-requests.ts";
import { serve, type Served } from "../served.ts";

const LARGE = 1_000_000;
const LIMITS = { streamBytes: 12 * LARGE, streamBytesPerToken: 6 * LARGE };
const ENTRIES = 6;

let served: Served;

beforeAll(async () => {
  served = await serve({ limits: { ...LIMITS, stallMs: 600_000 }, metrics: new Metrics() });
  for (const id of ["one", "other"]) {
    const conversation = await served.holdfast.create({ id });
    for (let at = 0; at < ENTRIES; at++) await conversation.append(user(`${at}${"x".repeat(LARGE)}`));
  }
  await served.holdfast.create({ id: "small" });
});

afterAll(() => served[Symbol.asyncDispose]());

interface Unread {
  readonly response: Response;
  readonly closed: Promise<string>;
}

/** A stream of which nothing is read. */
async function unread(path: string, token: string, at: Served = served): Promise<Unread> {
  const response = await at.ask(path, by(token));
  expect(response.status).toBe(200);
  const { closed } = (response.body as ReadableStream<Uint8Array>).getReader();
  return {
    response,
    closed: closed.then(
      () => "ended",
      () => "cut off",
    ),
  };
}

async function figure(name: string, token: string, at: Served = served): Promise<number> {
  const text = await (await at.ask("/metrics", by(token))).text();
  return Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
}

/** Whether a stream was cut off by now. */
function stateOf({ closed }: Unread): Promise<string> {
  return Promise.race([closed, Promise.resolve("open")]);
}

test("hundreds of streams that no one reads hold no more than the limits, and others are served", async () => {
  const admin = await served.token("admin");
  const tokens = await Promise.all(Array.from({ length: 3 }, () => served.token("read")));
  const opened: Unread[] = [];
  for (let nth = 0; nth < 300; nth++) {
    const conversation = nth % 2 === 0 ? "one" : "other";
    const path =
      nth % 3 === 0
        ? `/api/events?watch=one@${nth % ENTRIES}&watch=other@${(nth + 1) % ENTRIES}`
        : `/api/conversations/${conversation}/tail?after=${1 + (nth % (ENTRIES - 1))}`;
    opened.push(await unread(path, tokens[nth % tokens.length] ?? ""));
    if (nth % 10 === 0)
      expect(await figure("holdfast_http_stream_bytes", admin)).toBeLessThanOrEqual(LIMITS.streamBytes);
  }
  const states = await Promise.all(opened.map(stateOf));
  expect(states.filter((state) => state === "cut off").length).toBeGreaterThan(200);
  expect(await figure("holdfast_http_stream_bytes", admin)).toBeGreaterThan(0);

  // Someone who reads has every entry, beside all of them.
  const client = served.client(await served.token("write"));
  const stop = new AbortController();
  const heard: number[] = [];
  for await (const { seq } of client.tail({ conversation: "one" }, { signal: stop.signal }))
    if (heard.push(seq) === ENTRIES + 1) stop.abort();
  expect(heard).toEqual(Array.from({ length: ENTRIES + 1 }, (_, at) => at + 1));
  for (const { response } of opened) expect(response.body?.locked).toBe(true);
});

test("what one token leaves unread ends streams of that token alone", async () => {
  await using other = await serve({
    limits: { streamBytes: 1_000 * LARGE, streamBytesPerToken: 6 * LARGE, stallMs: 600_000 },
    metrics: new Metrics(),
  });
  const conversations = await Promise.all(["one", "other"].map((id) => other.holdfast.create({ id })));
  for (const conversation of conversations)
    for (let at = 0; at < ENTRIES; at++) await conversation.append(user(`${at}${"x".repeat(LARGE)}`));
  const [admin, greedy, modest] = [
    await other.token("admin"),
    await other.token("read"),
    await other.token("read"),
  ];
  const kept = await unread("/api/conversations/one/tail?after=1", modest, other);
  const opened: Unread[] = [];
  for (let nth = 0; nth < 60; nth++)
    opened.push(
      await unread(
        `/api/conversations/${nth % 2 === 0 ? "one" : "other"}/tail?after=${1 + (nth % (ENTRIES - 1))}`,
        greedy,
        other,
      ),
    );
  const states = await Promise.all(opened.map(stateOf));
  expect(states).toContain("cut off");
  expect(await stateOf(kept)).toBe("open");
  const bytes = await figure("holdfast_http_stream_bytes", admin, other);
  expect(bytes).toBeLessThanOrEqual(2 * 6 * LARGE);
});

test("one stream may send an entry that is larger than the limit, and then holds nothing", async () => {
  await using tight = await serve({
    limits: { streamBytes: 10, streamBytesPerToken: 10 },
    metrics: new Metrics(),
  });
  const large = await tight.holdfast.create({ id: "large" });
  await large.append(user("x".repeat(LARGE)));
  const client = tight.client(await tight.token("read"));
  const stop = new AbortController();
  const heard: number[] = [];
  for await (const { seq } of client.tail({ conversation: "large" }, { signal: stop.signal }))
    if (heard.push(seq) === 2) stop.abort();
  expect(heard).toEqual([1, 2]);
  const metrics = await (await tight.ask("/metrics", by(await tight.token("admin")))).text();
  expect(metrics).toContain("holdfast_http_stream_bytes 0\n");
});

test("by default two tokens cannot take all streams, and the refusal names the limit", async () => {
  await using other = await serve({ limits: { perSecond: 1e9, burst: 1e9 } });
  await other.holdfast.create({ id: "a" });
  const [first = "", second = "", third = ""] = await Promise.all([1, 2, 3].map(() => other.token("read")));
  const open = (token: string): Promise<Response> =>
    other.ask("/api/conversations/a/tail?after=1", by(token));
  const opened: Response[] = [];
  for (const token of [first, second]) {
    let response = await open(token);
    for (; response.status === 200; response = await open(token)) opened.push(response);
    expect(await response.json()).toMatchObject({
      error: { code: "too_many", details: { streams: opened.length / (token === first ? 1 : 2) } },
    });
  }
  const last = await open(third);
  expect(last.status).toBe(200);
  for (const { body } of [...opened, last]) await body?.cancel();
});
