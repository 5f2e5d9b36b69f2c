/** The end of a branch that is kept between turns is what a fresh read gives, whatever was written meanwhile. */
import { expect, test } from "vitest";
import { Holdfast } from "#conversation/holdfast";
import type { EntryBody } from "#log/entry";
import { readLastModelNode } from "#turn/last-said";
import { type BranchEnd, liveBranchEnd, settingsAtEnd } from "#upstream/sessions/branch-end";
import { inMemoryStore } from "#stores/in-memory/index";
import { countedStore } from "../../support/counted-store.ts";
import { spaceOf } from "#conversation/on-space";

const user = (id: string): EntryBody => ({
  type: "message",
  id,
  message: { role: "user", content: [{ type: "text", text: id }] },
});
const reply = (id: string, model: string): EntryBody => ({
  type: "message",
  id,
  message: { role: "assistant", content: [{ type: "text", text: id }], model },
});

const STEPS: readonly (readonly EntryBody[])[] = [
  [user("a"), reply("b", "one")],
  [{ type: "title", title: "T" }],
  Array.from({ length: 150 }, (_, n) => user(`m${n}`)),
  [{ type: "hide", target: "m149" }],
  [reply("c", "two"), { type: "model_change", model: "three" }],
  [{ type: "leaf", target: "m140" }],
  [user("d"), reply("e", "four")],
  [{ type: "reset", reason: "cleared" }],
  [{ type: "cwd", cwd: "/elsewhere" }, user("f")],
  [{ ...user("g"), parentId: "a" }, reply("h", "five")],
];

const SHOWN = 64;

function shown(end: BranchEnd): unknown {
  const { leaf, cwd } = end;
  const entries = end.entries.slice(0, SHOWN).map(({ id }) => id);
  return { leaf, cwd, entries, hidden: entries.filter((id) => end.hidden.has(id)), ...settingsAtEnd(end) };
}

test("the end of a branch follows its owner, and others, to what a fresh read gives", async () => {
  const holdfast = new Holdfast(inMemoryStore(), "default");
  const chat = await holdfast.create({ id: "c" });
  const { id } = chat;
  const space = spaceOf(chat);
  const live = liveBranchEnd(space, id);
  for (const [at, bodies] of STEPS.entries()) {
    const owner = await chat.own({ writer: "w", leaseMs: 0 });
    live.follow(owner);
    await live.owned();
    await owner.append(bodies);
    const end = await live.owned();
    const fresh = await liveBranchEnd(space, id).now();
    expect([at, shown(end)]).toEqual([at, shown(fresh)]);
    expect(end.entries.length).toBeLessThanOrEqual(2 * SHOWN);
    const older = end.next === null ? null : await space.page({ conversation: id, from: end.next, limit: 1 });
    expect(older?.entries[0]?.id ?? null).toBe(end.entries.at(-1)?.parentId ?? null);
    expect(await readLastModelNode(space, id, end.leaf, end)).toBe(
      await readLastModelNode(space, id, end.leaf),
    );
    await chat.append(user(`other ${at}`.replace(" ", "-")));
    live.follow(await chat.own({ writer: "w", leaseMs: 0 }));
    expect(shown(await live.owned())).toEqual(shown(await liveBranchEnd(space, id).now()));
  }
});

test("what an owner says is added to the end of a branch without a read", async () => {
  const { store, count } = countedStore();
  const holdfast = new Holdfast(store, "default");
  const chat = await holdfast.create({ id: "c" });
  const live = liveBranchEnd(spaceOf(chat), chat.id);
  for (let turn = 0; turn < 3; turn++) {
    const owner = await chat.own({ writer: "w", leaseMs: 0 });
    live.follow(owner);
    await live.owned();
    if (turn > 0) expect(count()).toBe(1);
    await owner.append([user(`u${turn}`), reply(`r${turn}`, "one")]);
    expect((await live.owned()).leaf.id).toBe(`r${turn}`);
  }
});
