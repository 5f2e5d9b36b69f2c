import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import { openHoldfast } from "#open";
import type { EntryBody } from "#log/entry";
import { inMemoryStore } from "#stores/in-memory/index";
import { tempDir } from "../support/temp-dir.ts";
import { aRig } from "./rig.ts";

const NOTHING = { ended: 0, reset: [], failed: [] };

function link(upstream: string, account: string, agent: string = "claude"): EntryBody {
  return { type: "upstream_link", upstream, agent, account, reason: "first" };
}

function say(text: string): EntryBody {
  return { type: "message", message: { role: "user", content: [{ type: "text", text }] } };
}

test("after a sign-out the account's ids are not resumed, and nothing said under it reaches the next", async () => {
  const rig = await aRig({ agents: [{ agent: "claude", account: "work" }] });
  const { upstream } = await rig.send("remember color=blue");
  expect(await rig.holdfast.signOut("work")).toMatchObject({ ended: 1, failed: [] });
  const next = await rig.send("recall color");
  expect(next.text).toBe("I do not know color");
  expect(next.upstream).not.toBe(upstream);
});

test.each(["work", "home"])(
  "after a switch of accounts and back, nothing said under %s reaches a model once it is signed out",
  async (account) => {
    const rig = await aRig({
      agents: [
        { agent: "claude", account: "work" },
        { agent: "claude", account: "home" },
      ],
    });
    await rig.send("remember color=blue", { account: "work" });
    await rig.send("remember pet=cat", { account: "home" });
    await rig.send("hello", { account: "work" });
    expect(await rig.holdfast.signOut(account)).toMatchObject({ reset: ["c"] });
    for (const other of ["work", "home"])
      for (const fact of ["color", "pet"])
        expect((await rig.send(`recall ${fact}`, { account: other })).text).toBe(`I do not know ${fact}`);
    const told = rig.transcripts().slice(2).join();
    expect(told).not.toMatch(/color=blue|pet=cat/);
  },
);

test("an account under which nothing was said since the last new chat takes no context away", async () => {
  const rig = await aRig({
    agents: [
      { agent: "claude", account: "work" },
      { agent: "claude", account: "home" },
    ],
  });
  await rig.send("remember color=blue", { account: "work" });
  await (await rig.holdfast.conversation("c")).newChat();
  await rig.send("remember pet=cat", { account: "home" });
  expect(await rig.holdfast.signOut("work")).toEqual({ ended: 1, reset: [], failed: [] });
  expect((await rig.send("recall pet", { account: "home" })).text).toBe("cat");
});

describe("over a log of its own", () => {
  const open = (): Holdfast => new Holdfast(inMemoryStore(), "default");
  const texts = async (holdfast: Holdfast, id: string): Promise<number> =>
    (await (await holdfast.conversation(id)).context()).messages.length;

  test("a conversation that holds anything said under the account starts afresh; its ids are ended everywhere", async () => {
    await using holdfast = open();
    await holdfast.create({ id: "theirs", entries: [link("s1", "work"), say("hello")] });
    await holdfast.create({
      id: "moved-on",
      entries: [link("s2", "work"), say("a"), link("s3", "home"), say("b")],
    });
    await holdfast.create({ id: "unused", entries: [say("c"), link("s4", "work"), link("s5", "home")] });
    await holdfast.create({ id: "none", entries: [say("c")] });
    const done = await holdfast.signOut({ account: "work" });
    expect({ ...done, reset: done.reset.toSorted() }).toEqual({
      ended: 3,
      reset: ["moved-on", "theirs"],
      failed: [],
    });
    const ids = ["theirs", "moved-on", "unused", "none"];
    expect(await Promise.all(ids.map((id) => texts(holdfast, id)))).toEqual([0, 0, 1, 1]);
    expect(await holdfast.signOut({ account: "work" })).toEqual(NOTHING);
  });

  test("an agent can be meant, whatever its account, and an account nobody named", async () => {
    await using holdfast = open();
    await holdfast.create({ id: "a", entries: [link("s1", "work", "codex"), say("a")] });
    await holdfast.create({
      id: "b",
      entries: [{ type: "upstream_link", upstream: "s2", agent: "claude", reason: "first" }, say("b")],
    });
    expect(await holdfast.signOut({ agent: "codex", account: null })).toEqual(NOTHING);
    expect(await holdfast.signOut({ agent: "codex" })).toMatchObject({ ended: 1, reset: ["a"] });
    expect(await holdfast.signOut({ agent: "claude", account: null })).toMatchObject({
      ended: 1,
      reset: ["b"],
    });
  });

  test("a fork's context goes with the account its source spoke under, unless it was reset since", async () => {
    await using holdfast = open();
    const source = await holdfast.create({ id: "source", entries: [link("s1", "work"), say("secret")] });
    const fork = await source.fork({ id: "fork" });
    await fork.fork({ id: "fork-of-fork" });
    await (await source.fork({ id: "fresh" })).newChat();
    await source.append([link("s2", "home"), say("other")]);
    const anew = await holdfast.create({ id: "anew", entries: [{ type: "reset" }, say("before")] });
    await (await anew.fork({ id: "spoken" })).append([link("s3", "work"), say("under the account")]);
    const { reset } = await holdfast.signOut("work");
    expect(reset.toSorted()).toEqual(["fork", "fork-of-fork", "source", "spoken"]);
    expect(await texts(holdfast, "fork-of-fork")).toBe(0);
    expect(await holdfast.signOut("work")).toEqual(NOTHING);
  });

  test("words that were adopted with a session of the account are its words", async () => {
    await using holdfast = open();
    const entries = [
      { ...say("found"), id: "e1" },
      { ...link("s1", "work"), node: "e1" },
    ] as EntryBody[];
    await holdfast.create({ id: "adopted", entries });
    expect(await holdfast.signOut("work")).toMatchObject({ ended: 1, reset: ["adopted"] });
  });

  test("one that is busy is reported, its ids are ended all the same, and the others are done", async () => {
    await using holdfast = open();
    const busy = await holdfast.create({ id: "busy", entries: [link("s1", "work"), say("a")] });
    await holdfast.create({ id: "idle", entries: [link("s2", "work"), say("b")] });
    const owner = await busy.own({ writer: "someone", leaseMs: 60_000 });
    const done = await holdfast.signOut("work");
    expect(done).toMatchObject({
      ended: 2,
      reset: ["idle"],
      failed: [{ conversation: "busy", code: "busy" }],
    });
    await owner[Symbol.asyncDispose]();
    expect(await holdfast.signOut("work")).toEqual({ ended: 0, reset: ["busy"], failed: [] });
  });
});

test("one that is written to meanwhile, and so moves in the list, is not missed", async () => {
  using folder = tempDir();
  await using holdfast = await openHoldfast({ store: `sqlite:${join(folder.path, "s.db")}` });
  for (let at = 0; at < 105; at++) await holdfast.create({ id: `c${at}`, entries: [link(`s${at}`, "work")] });
  const last = await holdfast.conversation("c0"); // the oldest, so the last in the list
  const touched: Promise<unknown>[] = [];
  const done = await holdfast.signOut({
    account: "work",
    onProgress: (count) => {
      if (count === 50) touched.push(last.title("moves to the front"));
    },
  });
  await Promise.all(touched);
  expect(done.ended).toBe(105);
});

test("a damaged conversation is reported, and those after it are signed out", async () => {
  using folder = tempDir();
  const address = `jsonl:${join(folder.path, "logs")}`;
  {
    await using holdfast = await openHoldfast({ store: address });
    for (const id of ["one", "two", "three"])
      await holdfast.create({ id, entries: [link(`${id}-s`, "work"), say(id)] });
  }
  for (const file of readdirSync(folder.path, { recursive: true, encoding: "utf8" })) {
    if (!file.includes("two") || !file.endsWith(".jsonl")) continue;
    const path = join(folder.path, file);
    writeFileSync(
      path,
      readFileSync(path, "utf8").replace('"type":"upstream_link"', '"type":"upstream_lin"'),
    );
  }
  await using holdfast = await openHoldfast({ store: address });
  const done = await holdfast.signOut("work");
  expect(done.failed).toMatchObject([{ conversation: "two", code: "damaged" }]);
  expect(done).toMatchObject({ ended: 2 });
  expect(done.reset.toSorted()).toEqual(["one", "three"]);
});
