/** The lease of a turn ends with its last batch, and what is noted meanwhile is written all the same. */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import type { EntryBody } from "#log/entry";
import { inMemoryStore } from "#stores/in-memory/index";
import { OneAtATime } from "#turn/one-at-a-time";
import { systemClock } from "#conversation/clock";

const said: EntryBody = {
  type: "message",
  message: { role: "user", content: [{ type: "text", text: "hello" }] },
};
const titled = (title: string): readonly EntryBody[] => [{ type: "title", title }];

const OPTIONS = { clock: systemClock, leaseMs: 60_000, isDead: async () => false };

test("once its last batch is written another host can begin, before the work is over", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const chat = await holdfast.create({ id: "c" });
  const [mine, other] = [new OneAtATime(holdfast, OPTIONS), new OneAtATime(holdfast, OPTIONS)];
  await mine.run("c", async ({ owner, endsLease }) => {
    await owner.append(said, { releases: endsLease() });
    expect((await chat.head()).lease).toBeNull();
    await other.run("c", async ({ owner: next }) => void (await next.append(said)));
  });
  expect((await chat.head()).lease).toBeNull();
  expect((await chat.context()).messages).toHaveLength(2);
});

test("a note that waits keeps the lease until it is written; a later one takes the conversation again", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const chat = await holdfast.create({ id: "c" });
  const turns = new OneAtATime(holdfast, OPTIONS);
  await turns.run("c", async ({ owner, endsLease }) => {
    await turns.note("c", titled("waits"));
    expect(endsLease()).toBe(false);
    await owner.append(said);
  });
  expect((await chat.head()).title).toBe("waits");
  let late: Promise<void> = Promise.resolve();
  await turns.run("c", async ({ owner, endsLease }) => {
    await owner.append(said, { releases: endsLease() });
    late = turns.note("c", titled("late"));
  });
  await late;
  const { title, lease } = await chat.head();
  expect([title, lease]).toEqual(["late", null]);
});
