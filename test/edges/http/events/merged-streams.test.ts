import { expect, test } from "vitest";
import { merged } from "#edges/http/events/merged";

test("of many that had something to tell at once, each is told on, also where no other has more", async () => {
  const [all, stop] = [Promise.withResolvers<void>(), new AbortController()];
  const sources = Array.from({ length: 60 }, async function* (_, at) {
    yield `${at} first`;
    await all.promise;
    if (at === 59) yield "59 second";
    else await new Promise((resolve) => stop.signal.addEventListener("abort", resolve));
  });
  const heard: string[] = [];
  for await (const one of merged(sources, stop.signal)) {
    if (heard.push(one) === 60) all.resolve();
    if (heard.length === 61) stop.abort();
  }
  expect(heard.at(-1)).toBe("59 second");
});
