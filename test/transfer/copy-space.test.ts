import { hash } from "node:crypto";
import { expect, test } from "vitest";
import type { Holdfast } from "#conversation/holdfast";
import type { EntryBody } from "#log/entry";
import { openHoldfast } from "#open";
import { decorateStore } from "#store/decorate";
import { inMemoryStore } from "#stores/in-memory/index";
import { copySpace, followSpace, type CopyOutcome } from "#transfer/copy-space";
import { tellAll } from "../support/random-space.ts";
import { spaceOf } from "#conversation/on-space";

const said = (text: string): EntryBody => ({
  type: "message",
  message: { role: "user", content: [{ type: "text", text }] },
});

async function two(): Promise<{ from: Holdfast; to: Holdfast }> {
  return {
    from: await openHoldfast({ store: inMemoryStore() }),
    to: await openHoldfast({ store: inMemoryStore() }),
  };
}

const sameSpaces = async (from: Holdfast, to: Holdfast): Promise<void> =>
  expect(await tellAll(spaceOf(to))).toEqual(await tellAll(spaceOf(from)));

test("one that the target has otherwise is left as it is and reported, and the others are copied", async () => {
  const { from, to } = await two();
  for (const id of ["a", "b", "c"]) await from.create({ id, entries: [said("one")] });
  await copySpace(from, to);
  await (await to.conversation("a")).append(said("mine"));
  await (await from.conversation("a")).append(said("theirs"));
  await (await to.conversation("b")).title("ahead");
  await (await from.conversation("c")).append(said("two"));
  const before = await (await to.conversation("a")).head();
  const told: CopyOutcome[] = [];
  const { left, copied, entries } = await copySpace(from, to, {
    onConversation: (outcome) => void told.push(outcome),
  });
  const seqs = left.map(({ conversation, code, seq }) => `${conversation} ${code} ${seq}`);
  expect(seqs.toSorted()).toEqual(["a diverged 3", "b diverged 3"]);
  expect([copied, entries]).toEqual([1, 1]);
  expect(told.map(({ state }) => state).toSorted()).toEqual(["copied", "left", "left"]);
  expect(await (await to.conversation("a")).head()).toEqual(before);
  expect((await (await to.conversation("c")).head()).headSeq).toBe(3);
});

test("another conversation under the same id is no beginning of it", async () => {
  const { from, to } = await two();
  await from.create({ id: "a", entries: [said("one"), said("two")] });
  await to.create({ id: "a" });
  const { left } = await copySpace(from, to);
  expect(left).toMatchObject([{ conversation: "a", code: "diverged", seq: 1 }]);
});

test("two copies at once write everything once", async () => {
  const { from, to } = await two();
  const chat = await from.create({ id: "a" });
  for (let n = 0; n < 30; n++) await chat.append([said(`word ${n}`), said("more")]);
  for (let n = 0; n < 5; n++) await chat.fork({ id: `f${n}` });
  const copies = await Promise.all([1, 2, 3].map(() => copySpace(from, to)));
  expect(copies.flatMap(({ left }) => left)).toEqual([]);
  await sameSpaces(from, to);
});

test("only what is named is copied, with what it was forked from", async () => {
  const { from, to } = await two();
  const chat = await from.create({ id: "a", entries: [said("one")] });
  const fork = await chat.fork({ id: "b" });
  await fork.fork({ id: "c" });
  await from.create({ id: "d" });
  await copySpace(from, to, { only: ["c"] });
  const ids = [];
  for await (const { conversation } of to.listAll()) ids.push(conversation);
  expect(ids.toSorted()).toEqual(["a", "b", "c"]);
  await expect(copySpace(from, to, { only: ["nobody"] })).rejects.toMatchObject({
    code: "conversation_not_found",
  });
});

test("a fork of what was erased is reported, and copied where the target has its origin", async () => {
  const { from, to } = await two();
  const chat = await from.create({ id: "a", entries: [said("one")] });
  const fork = await chat.fork({ id: "b" });
  await from.create({ id: "c" });
  await copySpace(from, to);
  await chat.erase();
  await fork.append(said("two"));
  expect((await copySpace(from, to)).left).toEqual([]);
  expect((await (await to.conversation("b")).head()).headSeq).toBe(2);
  const other = await openHoldfast({ store: inMemoryStore() });
  const { left, conversations } = await copySpace(from, other);
  expect(left).toMatchObject([{ conversation: "b", code: "conversation_not_found" }]);
  expect(conversations).toBe(2);
});

test("a space is not copied into itself", async () => {
  const { from } = await two();
  await expect(copySpace(from, from.inSpace("default"))).rejects.toMatchObject({ code: "invalid_request" });
  await from.create({ id: "a" });
  expect((await copySpace(from, from.inSpace("other"))).copied).toBe(1);
});

test("followed while it is written to, forked and named, the target ends as the source does", async () => {
  const { from, to } = await two();
  const stop = new AbortController();
  const looked = Promise.withResolvers<void>();
  let looks = 0;
  const clock = {
    sleep: async (): Promise<void> => {
      if (++looks === 3) looked.resolve();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  const chat = await from.create({ id: "a", entries: [said("one")] });
  const following = followSpace(from, to, { signal: stop.signal, clock });
  await looked.promise;
  for (let n = 0; n < 60; n++) {
    await chat.append([said(`word ${n}`)]);
    if (n % 7 === 0) {
      const fork = await chat.fork({ id: `f${n}` });
      await chat.hide((await chat.head()).leaf.id);
      await fork.append(said("aside"));
      await fork.title(`fork ${n}`);
    }
    if (n % 5 === 0) await new Promise((resolve) => setImmediate(resolve));
  }
  const seen = async (): Promise<boolean> => {
    for await (const { conversation, headSeq } of from.listAll()) {
      const copy = await spaceOf(to)
        .head(conversation)
        .catch(() => null);
      if (copy?.headSeq !== headSeq) return false;
    }
    return true;
  };
  await expect.poll(seen, { interval: 5 }).toBe(true);
  stop.abort();
  const { left, stopped } = await following;
  expect([left, stopped]).toEqual([[], true]);
  await sameSpaces(from, to);
});

test("stopped, it ends behind a batch, and the next one goes on from there", async () => {
  const { from, to } = await two();
  const chat = await from.create({ id: "a" });
  for (let n = 0; n < 20; n++) await chat.append([said(`word ${n}`), said("more")]);
  const stop = new AbortController();
  const { stopped, entries } = await copySpace(from, to, {
    signal: stop.signal,
    onProgress: ({ entries: done }) => {
      if (done > 10) stop.abort();
    },
  });
  expect([stopped, entries < 41, entries % 2]).toEqual([true, true, 1]);
  await copySpace(from, to);
  await sameSpaces(from, to);
});

test("an image of a first batch comes with the next run where the one before was cut off behind that batch", async () => {
  const { from, to } = await two();
  const bytes = Buffer.from("picture");
  const blob = hash("sha256", bytes);
  const content = [{ type: "image", mediaType: "image/png", blob }] as const;
  const root = { type: "conversation" } as const;
  const chat = await from.createFrom("a", [root, { type: "message", message: { role: "user", content } }]);
  await chat.putBlob(bytes);
  const noBlobs = decorateStore(to.store, {
    verbs: () => ({ putBlob: () => Promise.reject(new Error("cut off")) }),
  });
  await expect(copySpace(from, await openHoldfast({ store: noBlobs }))).rejects.toThrow("cut off");
  expect((await spaceOf(to).head("a")).headSeq).toBe(2);
  expect(await copySpace(from, to)).toMatchObject({ entries: 0, blobs: 1, missing: [], left: [] });
  await sameSpaces(from, to);
});

test("one that somebody holds in the target is told once, and copied when it is let go of", async () => {
  const { from, to } = await two();
  const chat = await from.create({ id: "a", entries: [said("one")] });
  await copySpace(from, to);
  await chat.append(said("two"));
  const owner = await (await to.conversation("a")).own({ writer: "somebody", leaseMs: 600_000 });
  const stop = new AbortController();
  const told: CopyOutcome[] = [];
  const following = followSpace(from, to, {
    signal: stop.signal,
    clock: {
      sleep: async () => {
        if (told.length === 1) await owner[Symbol.asyncDispose]();
        if (told.length === 2) stop.abort();
        await new Promise((resolve) => setImmediate(resolve));
      },
    },
    onConversation: (outcome) => void told.push(outcome),
  });
  expect((await following).left).toEqual([]);
  expect(told).toMatchObject([
    { state: "left", code: "busy" },
    { state: "copied", toSeq: 3 },
  ]);
});
