import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { createClient } from "#edges/http/client/index";
import { StoredTokens } from "#edges/http/index";
import { LogError } from "#log/errors";
import { user } from "#log/message";
import { decorateStore } from "#store/decorate";
import { storePort } from "#store/port";
import { inMemoryStore } from "#stores/in-memory/index";
import { by, told } from "../raw-requests.ts";
import { handClock, serve, type Served, URL_HERE } from "../served.ts";

let served: Served;
let token = "";

beforeAll(async () => {
  served = await serve({ limits: { streamsPerToken: 3, heartbeatMs: 5 } });
  token = await served.token("write");
  await served.holdfast.create({ id: "a" });
  await served.holdfast.create({ id: "b" });
});

afterAll(() => served[Symbol.asyncDispose]());

/** The events in a text, each by its id and data. */
function eventsIn(text: string): readonly { readonly id: string; readonly data: string }[] {
  return [...text.matchAll(/id: ([^\n]*)\nevent: entry\ndata: ([^\n]*)\n\n/g)].map(
    ([, id = "", data = ""]) => ({
      id,
      data,
    }),
  );
}

/** Reads until so many events have come, then leaves. */
async function hear(
  path: string,
  events: number,
  headers: Record<string, string> = {},
  from: Served = served,
): Promise<string> {
  const response = await from.ask(path, by(token, headers));
  expect(response.status).toBe(200);
  const reader = (
    response.body ?? new ReadableStream()
  ).getReader() as ReadableStreamDefaultReader<Uint8Array>;
  let text = "";
  while (eventsIn(text).length < events) text += new TextDecoder().decode((await reader.read()).value);
  await reader.cancel();
  return text;
}

test("a tail tells what is there and what comes, each entry in its exact text under its seq", async () => {
  const conversation = await served.holdfast.conversation("a");
  const hearing = hear("/api/conversations/a/tail", 3);
  await conversation.append('{"type":"custom","customType":"x","data":{"n":12345678901234567890}}');
  await conversation.append(user("two\nlines\r and \u2028 more"));
  const events = eventsIn(await hearing);
  expect(events.map(({ id }) => id)).toEqual(["1", "2", "3"]);
  expect(events[1]?.data).toContain('"n":12345678901234567890');
  expect(JSON.parse(events[2]?.data ?? "")).toMatchObject({
    message: { content: [{ text: "two\nlines\r and \u2028 more" }] },
  });
  const after = eventsIn(await hear("/api/conversations/a/tail?after=1", 1, { "last-event-id": "2" }));
  expect(after.map(({ id }) => id)).toEqual(["3"]);
});

test("one stream tells of several conversations; its last id says how far each was told", async () => {
  const [a, b] = [await served.holdfast.conversation("a"), await served.holdfast.conversation("b")];
  const { headSeq } = await a.head();
  const path = `/api/events?watch=a@${headSeq}&watch=b`;
  const hearing = hear(path, 3);
  await a.append(user("in a"));
  await b.append(user("in b"));
  const events = eventsIn(await hearing);
  const last = events.at(-1)?.id ?? "";
  expect(last.split(";").toSorted()).toEqual([`0=${headSeq + 1}`, "1=2"]);
  expect(
    new Set(events.map(({ data }) => (JSON.parse(data) as { conversation: string }).conversation)),
  ).toEqual(new Set(["a", "b"]));
  await b.append(user("later in b"));
  const more = eventsIn(await hear(path, 1, { "last-event-id": last }));
  expect(more.map(({ data }) => JSON.parse(data) as unknown)).toMatchObject([
    { conversation: "b", entry: { seq: 3 } },
  ]);
});

test("an entry is encoded once for all streams that send it, with those that watch beside", async () => {
  await using other = await serve();
  const conversation = await other.holdfast.create({ id: "a" });
  const secret = await other.token("read");
  const open = async (path: string): Promise<() => Promise<string>> => {
    const { body } = await other.ask(path, by(secret));
    const reader = (body as ReadableStream<Uint8Array>).getReader();
    return async () => {
      let text = "";
      while (!text.includes("once for all")) text += new TextDecoder().decode((await reader.read()).value);
      await reader.cancel();
      return text;
    };
  };
  const paths = ["/api/conversations/a/tail", "/api/events?watch=a"];
  const readers = await Promise.all(Array.from({ length: 20 }, (_, nth) => open(paths[nth % 2] ?? "")));
  const encode = vi.spyOn(TextEncoder.prototype, "encode");
  await conversation.append(user("once for all"));
  const texts = await Promise.all(readers.map((read) => read()));
  const encoded = encode.mock.calls.filter(([text]) => text?.includes("once for all") === true);
  encode.mockRestore();
  // One of those that tail, one of those that watch.
  expect(encoded).toHaveLength(2);
  for (const text of texts) expect(text).toContain('"text":"once for all"');
});

test("the client follows several conversations and connects again by itself", async () => {
  const b = await served.holdfast.conversation("b");
  const { headSeq } = await b.head();
  let connections = 0;
  const breaking = createClient({
    url: URL_HERE,
    token,
    sleep: async () => undefined,
    fetch: async (request) => {
      // Every other connection breaks before anything is heard.
      if (connections++ % 2 === 1) throw new TypeError("fetch failed");
      return served.handler.fetch(request);
    },
  });
  const stop = new AbortController();
  const heard: number[] = [];
  const following = (async () => {
    for await (const { entry } of breaking.watch({ watch: [`b@${headSeq}`] }, { signal: stop.signal })) {
      heard.push(entry.seq);
      if (heard.length === 3) stop.abort();
    }
  })();
  for (const words of ["x", "y", "z"]) await b.append(user(words));
  await following;
  expect(heard).toEqual([headSeq + 1, headSeq + 2, headSeq + 3]);
});

test("what cannot be followed is told before a stream begins", async () => {
  const ask = async (path: string, headers: Record<string, string> = {}): Promise<object> =>
    told(await served.ask(path, by(token, headers)));
  expect(await ask("/api/conversations/nobodys/tail")).toMatchObject({ status: 404 });
  expect(await ask("/api/events?watch=a&watch=nobodys")).toMatchObject({ status: 404 });
  expect(await ask("/api/events")).toMatchObject({ status: 400 });
  expect(await ask(`/api/events?${"watch=a&".repeat(65)}watch=a`)).toMatchObject({ status: 400 });
  expect(await ask("/api/events?watch=a", { "last-event-id": "7=1" })).toMatchObject({ status: 400 });
  expect(await ask("/api/conversations/a/tail", { "last-event-id": "x" })).toMatchObject({ status: 400 });
  expect(await ask("/api/conversations/a/turns/t/events", { "last-event-id": "-1" })).toMatchObject({
    status: 400,
  });
});

test("whoever does not read is cut off, and nobody else waits for that", async () => {
  const { holdfast } = served;
  const impatient = await serve({ holdfast, limits: { stallMs: 20, heartbeatMs: 5 } });
  const conversation = await holdfast.create({ id: "large" });
  for (let at = 0; at < 8; at++) await conversation.append(user("x".repeat(50_000)));
  const deaf = await impatient.ask("/api/conversations/large/tail", by(token));
  const closed = (deaf.body as ReadableStream<Uint8Array>).getReader().closed;
  expect(eventsIn(await hear("/api/conversations/large/tail", 9, {}, impatient))).toHaveLength(9);
  await expect(closed).rejects.toThrow();
  expect((await impatient.client(token).health()).streams).toBe(0);
});

test("there are as many streams as are allowed, and one that was left makes room", async () => {
  const open = (): Promise<Response> => served.ask("/api/conversations/a/tail?after=1000", by(token));
  const opened = [await open(), await open(), await open()];
  expect(await told(await open())).toEqual({ status: 429, code: "too_many" });
  await opened[0]?.body?.cancel();
  const again = await open();
  expect(again.status).toBe(200);
  for (const one of [...opened.slice(1), again]) await one.body?.cancel();
});

test("an open stream ends when its token is removed, and when its cookie expires", async () => {
  const clock = handClock();
  await using other = await serve({ clock });
  await other.holdfast.create({ id: "watched" });
  const secret = await other.token("read");
  const code = other.handler.launchCode({ token: "browser", space: "default", rights: "read" });
  const launched = await other.ask(`/launch?code=${code}`);
  const cookie = launched.headers.get("set-cookie")?.split(";")[0] ?? "";
  const path = "/api/conversations/watched/tail";
  const [byToken, byCookie] = [
    await other.ask(path, by(secret)),
    await other.ask(path, { headers: { cookie } }),
  ];
  const tokensHere = new StoredTokens(other.holdfast);
  await tokensHere.remove((await tokensHere.list()).at(-1)?.token ?? "");
  clock.advance(1_001);
  expect(await byToken.text()).toContain("event: entry");
  clock.advance(86_400_001);
  expect(await byCookie.text()).toContain("event: entry");
});

test("a stream whose log lost what it was sent ends with `diverged`, and none resumes behind the end of a log", async () => {
  const lost = Promise.withResolvers<never>();
  const store = decorateStore(storePort(inMemoryStore()), {
    verbs: (space) => ({
      async *tail(request) {
        if (request.after === 2) await lost.promise;
        for await (const stored of space.tail(request)) {
          yield stored;
          if (stored.seq === 2) await lost.promise;
        }
      },
    }),
  });
  await using other = await serve({ holdfast: new Holdfast(store, "default") });
  const conversation = await other.holdfast.create({ id: "a" });
  await conversation.append(user("one"));
  const secret = await other.token("read");
  const client = other.client(secret);
  const heard: number[] = [];
  const follow = async (entries: AsyncIterable<{ readonly seq: number }>): Promise<void> => {
    for await (const { seq } of entries)
      if (heard.push(seq) === 2) lost.reject(new LogError("diverged", "lost"));
  };
  lost.promise.catch(() => undefined);
  await expect(follow(client.tail({ conversation: "a" }))).rejects.toMatchObject({
    status: 409,
    code: "diverged",
  });
  expect(heard).toEqual([1, 2]);
  const text = await (await other.ask("/api/events?watch=a@1", by(secret))).text();
  expect(text).toContain("event: diverged\ndata: ");
  for (const [path, id] of [
    ["/api/conversations/a/tail", "3"],
    ["/api/events?watch=a", "0=3"],
  ] as const)
    expect(await told(await other.ask(path, by(secret, { "last-event-id": id })))).toEqual({
      status: 409,
      code: "diverged",
    });
});
