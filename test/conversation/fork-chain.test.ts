/** The chain of a fork, and of a fork of it: each log has its own numbers, turns and sessions. */
import { expect, test } from "vitest";
import type { Conversation } from "#conversation/conversation";
import { Holdfast } from "#conversation/holdfast";
import { readChain } from "#conversation/read-chain";
import { assistant, user } from "#log/message";
import { inMemoryStore } from "#stores/in-memory/index";

/** A turn as the runtime writes it: the session that it needs is linked once the turn has begun. */
async function turn(log: Conversation, name: string, upstream: string): Promise<void> {
  await log.append([
    { ...user(`Prompt ${name}`), id: `p${name}` },
    { type: "turn_start", turn: name, prompt: `p${name}` },
    { type: "upstream_link", upstream, agent: "sim", reason: "first" },
    { type: "attempt", turn: name, upstream },
    { ...assistant(`Answer ${name}`), id: `a${name}` },
    { type: "turn_end", turn: name, outcome: "completed" },
  ]);
}

test("a message of a fork is carried by the session it was sent to, and each session has the numbers of its own log", async () => {
  const source = await new Holdfast(inMemoryStore(), "default").create({ id: "source" });
  await turn(source, "1", "s1");
  // The turn that gave the last inherited answer ends behind what the fork sees.
  const fork = await source.fork({ id: "fork", at: "a1" });
  await turn(fork, "2", "s2");
  const below = await fork.fork({ id: "below", at: "a2" });
  await turn(below, "3", "s3");

  const chainOf = async (log: Conversation): Promise<readonly unknown[]> =>
    (await log.chain()).map(({ id, source: holder, carried }) => [id, holder, carried]);
  const first = ["s1", "source", { fromSeq: 2, toSeq: 6 }];
  const range = { fromSeq: 2, toSeq: 6 };
  expect(await chainOf(fork)).toEqual([first, ["s2", null, range]]);
  expect(await chainOf(below)).toEqual([first, ["s2", "fork", range], ["s3", null, range]]);
  const carriers = (await readChain(below)).carriers();
  expect([...carriers].map(([message, links]) => [message, links.map(({ id }) => id).join()])).toEqual([
    ["p1", "s1"],
    ["a1", "s1"],
    ["p2", "s2"],
    ["a2", "s2"],
    ["p3", "s3"],
    ["a3", "s3"],
  ]);
});
