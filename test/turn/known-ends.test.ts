/** A log that came back from a failover or a backup is told from the one that a host left. */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { LogEnds } from "#turn/one-at-a-time";
import { inMemoryStore } from "#stores/in-memory/index";
import { user } from "#log/message";
import { spaceOf } from "#conversation/on-space";

async function left() {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const chat = await holdfast.create({ id: "c" });
  const ends = new LogEnds(spaceOf(holdfast));
  const write = async (writer: string, words: string): Promise<void> => {
    await using owner = await chat.own({ writer, leaseMs: 0 });
    await owner.append(user(words));
    if (writer === "this") ends.keep(chat.id, owner.lastKnown);
  };
  await write("this", "one");
  const older = await chat.head();
  await write("this", "two");
  return { chat, ends, write, older };
}

const DIVERGED = { code: "diverged" };

test("a log that is as it was left, or that others went on with, is gone on with", async () => {
  const { chat, ends, write } = await left();
  await ends.check(await chat.head());
  await write("other", "three");
  await ends.check(await chat.head());
});

test("a log that is shorter, of an older epoch, or has another entry in the place is refused once", async () => {
  const { chat, ends, write, older } = await left();
  await expect(ends.check(older)).rejects.toMatchObject(DIVERGED);
  await ends.check(older);
  await write("this", "three");
  const head = await chat.head();
  await expect(ends.check({ ...head, epoch: older.epoch })).rejects.toMatchObject(DIVERGED);
  await write("this", "four");
  const seq = (await chat.head()).headSeq;
  ends.keep(chat.id, { createdAt: head.createdAt, epoch: 1, link: "another", id: "another", seq });
  await expect(ends.check(await chat.head())).rejects.toMatchObject(DIVERGED);
});

test("a log that was made anew under the same id is another one, and nothing is known of it", async () => {
  const { chat, ends, older } = await left();
  const anew = { ...older, epoch: 0, createdAt: "2030-01-01T00:00:00.000Z" };
  await ends.check(anew);
  await ends.check({ ...anew, createdAt: (await chat.head()).createdAt });
});
