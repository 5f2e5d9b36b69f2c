/** Which session carried a message is said by its stamp: the range of a session may hold messages of other branches. */
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { assistant, user } from "#log/message";
import { carriersAt } from "../../ui/src/pages/conversation/rules/carriers.ts";
import { nodesOf } from "../../ui/src/pages/conversation/thread/branch-nodes.ts";
import { NO_THREAD, type ThreadState } from "../../ui/src/pages/conversation/thread/thread-state.ts";
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

/** What a page has of a branch: with the stamps of its messages, or by ranges alone. */
async function threadOf(served: Served, conversation: string, leaf: string): Promise<ThreadState> {
  const client = served.client(await served.token("read"));
  const page = await client.listBranch({ conversation, leaf, limit: 100 });
  const { links } = await client.getChain({ conversation });
  const entries = page.entries.map(({ id }) => id);
  const { stamps } = await client.listStamps({ conversation, entries });
  const byEntry = stamps.map(({ entry, upstreams }) => [entry, upstreams.map((one) => one.link)] as const);
  return { ...NO_THREAD, branch: nodesOf(page), links, stamps: new Map(byEntry) };
}

function carried(state: ThreadState): object {
  const found = [...(state.branch?.nodes ?? [])].flatMap(([place, { id, type }]) =>
    type === "message" ? [[id, carriersAt(state, place).join(" ")]] : [],
  );
  return Object.fromEntries(found) as object;
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
  expect(carried(await threadOf(served, "c", "a5"))).toEqual(whole);
  const aside = await threadOf(served, "c", "a3");
  expect(carried(aside)).toEqual({ p1: "0", a1: "0", p3: "1", a3: "1" });
  // Ranges alone would have it otherwise.
  expect(carried({ ...aside, stamps: new Map() })).toMatchObject({ p3: "0", a3: "0" });

  const fork = await log.fork({ id: "f", at: "a4" });
  await fork.append(link("s3", "forked") as never);
  await turn(fork, "6", "s3");
  const forked = await threadOf(served, "f", "a6");
  const place = forked.links.findIndex(({ inherited }) => !inherited);
  expect(carried(forked)).toEqual({
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
