/** Which session carried a message is said by its stamp: the range of a session may hold messages of other branches. */
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { assistant, user } from "#log/message";
import { serve, type Served } from "../edges/http/served.ts";

/** A turn of a person's prompt that these sessions were sent, the last of which answered. */
async function turn(log: Conversation, name: string, ...upstreams: readonly string[]): Promise<void> {
  await log.append([
    { ...user(`Prompt ${name}`), id: `p${name}` },
    { type: "turn_start", turn: name, prompt: `p${name}` },
  ]);
  for (const upstream of upstreams) await log.append({ type: "attempt", turn: name, upstream });
  await log.append([
    { ...assistant(`Answer ${name}`), id: `a${name}` },
    { type: "turn_end", turn: name, outcome: "completed" },
  ]);
}

const link = (upstream: string, reason: string): object => ({
  type: "upstream_link",
  upstream,
  agent: "sim",
  reason,
});

/** The sessions of each message, by their places in the chain. */
async function carried(served: Served, conversation: string, leaf: string): Promise<object> {
  const client = served.client(await served.token("read"));
  const { rows, chain } = await client.getThread({ conversation, leaf, limit: 100 });
  expect(chain).toEqual(
    (await client.getChain({ conversation })).links.map(({ fidelity: _, ...one }) => one),
  );
  const messages = rows.filter(({ entry }) => entry.type === "message");
  const { stamps } = await client.listStamps({
    conversation,
    entries: messages.map(({ entry }) => entry.id),
  });
  expect(messages.map(({ carriers }) => carriers)).toEqual(
    stamps.map(({ upstreams }) => upstreams.map((one) => one.link)),
  );
  return Object.fromEntries(messages.map(({ entry, carriers }) => [entry.id, carriers.join(" ")]));
}

test("messages of branches that lie in each other's ranges have their own carriers, in a fork behind a rollover too", async () => {
  await using served = await serve();
  const log = await served.holdfast.create({ id: "c" });
  await log.append(link("s0", "first") as never);
  await turn(log, "1", "s0");
  await turn(log, "2", "s0");
  // Back to the first answer: another branch, in another session.
  await log.goTo("a1");
  await log.append(link("s1", "edited") as never);
  await turn(log, "3", "s1");
  // The first session goes on where it was, so that its range holds all that came in between.
  await log.goTo("a2");
  await turn(log, "4", "s0");
  // It is refused once; the prompt goes to another.
  await log.append(link("s2", "expired") as never);
  await turn(log, "5", "s0", "s2");
  const whole = { p1: "0", a1: "0", p2: "0", a2: "0", p4: "0", a4: "0", p5: "0 2", a5: "2" };
  expect(await carried(served, "c", "a5")).toEqual(whole);
  expect(await carried(served, "c", "a3")).toEqual({ p1: "0", a1: "0", p3: "1", a3: "1" });

  const fork = await log.fork({ id: "f", at: "a4" });
  await fork.append(link("s3", "forked") as never);
  await turn(fork, "6", "s3");
  const { links } = await served.client(await served.token("read")).getChain({ conversation: "f" });
  const place = links.findIndex(({ inherited }) => !inherited);
  expect(await carried(served, "f", "a6")).toEqual({
    p1: "0",
    a1: "0",
    p2: "0",
    a2: "0",
    p4: "0",
    a4: "0",
    p6: String(place),
    a6: String(place),
  });
});
