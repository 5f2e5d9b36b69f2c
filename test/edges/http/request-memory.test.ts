/**
 * Goal: a request that was answered leaves memory with the young objects, not with the next full garbage collection.
 * Method: the old space before and after requests between which only young objects are collected. A literal with a getter in it,
 * made for each request, fails this: V8 gives it a map of its own in the old space, which keeps the request.
 */
import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import type { HttpRequest } from "#edges/http/exchange";
import { serve, URL_HERE } from "./served.ts";

setFlagsFromString("--expose-gc");
const gc = runInNewContext("gc") as (options: { readonly type: "minor" | "major" }) => void;

const REQUESTS = 500;
const ROUNDS = 5;
const BYTES_MAX = 1_000; // of each request: one that is kept has several thousand

function oldBytes(): number {
  gc({ type: "minor" });
  gc({ type: "minor" }); // what is used now survives one
  return getHeapSpaceStatistics().find(({ space_name: name }) => name === "old_space")?.space_used_size ?? 0;
}

test("an answered read leaves nothing for a full garbage collection", async () => {
  await using served = await serve({ limits: { perSecond: 1_000_000, burst: 1_000_000 } });
  const { id } = await served.holdfast.create();
  const headers = new Headers({ host: new URL(URL_HERE).host });
  headers.set("authorization", `Bearer ${await served.token("read")}`);
  const request: HttpRequest = {
    method: "GET",
    url: new URL(`${URL_HERE}/api/conversations/${id}`),
    headers,
    peer: {},
    signal: new AbortController().signal,
    body: null,
    eachChunk: async () => undefined,
  };
  const ask = async (): Promise<void> => {
    for (let n = 0; n < REQUESTS; n++) expect((await served.handler.answer(request)).status).toBe(200);
  };
  const grown: number[] = []; // compiled code is old, too, so the least counts
  for (let round = 0; round < ROUNDS; round++) {
    gc({ type: "major" });
    const before = oldBytes();
    await ask();
    grown.push((oldBytes() - before) / REQUESTS);
  }
  expect(Math.min(...grown)).toBeLessThan(BYTES_MAX);
});
