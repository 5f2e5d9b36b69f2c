/**
 * Goal: what is removed for ever is in no byte of the store's files; whatever cuts the removal off, everything else stays, and
 * whoever comes next finishes it.
 * Method: every write of a removal is in turn the last one that is made, before or after it took effect.
 */
import { join } from "node:path";
import { expect, test } from "vitest";
import { Memory } from "#agent/memory/memory";
import { Holdfast } from "#conversation/holdfast";
import type { EntryBody } from "#log/entry";
import { decorateStore } from "#store/decorate";
import type { Store } from "#store/store";
import { openStore } from "#open";
import { secretsUnder } from "../../support/files-under.ts";
import { tempDir } from "../../support/temp-dir.ts";

const WORD = "qzxunheard";
const KINDS = ["sqlite", "jsonl"] as const;

/** A store whose process is gone after so many writes; `done`: the last of them was still made. */
function cutOff(
  store: Store,
  writes: number,
  done: boolean,
): { readonly store: Store; readonly made: () => number } {
  let made = 0;
  const strike = async <T>(write: () => Promise<T>): Promise<T> => {
    made++;
    if (made < writes || (made === writes && done)) {
      const result = await write();
      if (made < writes) return result;
    }
    throw new Error("The process is gone");
  };
  const cut = decorateStore(store, {
    verbs: (space) => ({
      create: (request) => strike(() => space.create(request)),
      append: (request) => strike(() => space.append(request)),
      erase: (id) => strike(() => space.erase(id)),
    }),
  });
  return { store: cut, made: () => made };
}

async function fill(holdfast: Holdfast): Promise<void> {
  const memory = new Memory(holdfast);
  await memory.save("user", { title: "Stays", content: "this one" });
  await memory.save("user", { title: "Goes", content: `first ${WORD}1`, tags: [`${WORD}2`] });
  const other = (n: number): EntryBody => ({
    type: "memory",
    change: "saved",
    key: `other_${n}`,
    title: `Other ${n}`,
    content: "x",
    by: "person",
  });
  const log = await holdfast.conversation("memory.user");
  await log.appendOutside(Array.from({ length: 600 }, (_, n) => other(n)));
  await memory.save("user", { title: "Goes", content: `second ${WORD}3`, keywords: [`${WORD}4`] });
  await memory.remove("user", "goes");
}

test.each(KINDS)("%s: no file holds what was removed for ever, while the store is open", async (kind) => {
  using dir = tempDir();
  await using store = await openStore(`${kind}:${join(dir.path, "store")}`);
  const holdfast = new Holdfast(store, "default");
  const memory = new Memory(holdfast);
  await fill(holdfast);
  expect((await holdfast.search(`${WORD}3`)).length).toBe(1);
  expect(secretsUnder(dir.path, WORD)).not.toEqual([]);
  await memory.removeForever("user", "goes");
  expect(secretsUnder(dir.path, WORD)).toEqual([]);
  expect(await memory.list("user")).toHaveLength(601);
  expect(await holdfast.search(`${WORD}3`)).toEqual([]);
});

test.each(KINDS)(
  "%s: a removal that is cut off anywhere loses nothing, and the next one to look finishes it",
  async (kind) => {
    for (const done of [false, true])
      for (let writes = 1; ; writes++) {
        using dir = tempDir();
        const path = `${kind}:${join(dir.path, "store")}`;
        {
          await using store = await openStore(path);
          await fill(new Holdfast(store, "default"));
          const dying = cutOff(store, writes, done);
          const removing = new Memory(new Holdfast(dying.store, "default")).removeForever("user", "goes");
          const outcome = await removing.then(
            () => "removed",
            () => "cut off",
          );
          if (dying.made() < writes) {
            expect([outcome, writes]).toEqual(["removed", 6]); // the last fact, the new log, two batches, the erase
            break;
          }
          expect(outcome).toBe("cut off");
        }
        await using store = await openStore(path);
        const holdfast = new Holdfast(store, "default");
        const memory = new Memory(holdfast);
        expect(await memory.list("user")).toHaveLength(601);
        const removed = await memory.list("user", { removed: true });
        const begun = writes > 1 || done;
        expect(removed.map(({ key }) => key)).toEqual(begun ? [] : ["goes"]);
        expect(secretsUnder(dir.path, WORD).length === 0).toBe(begun);
        const logs = await Array.fromAsync(
          holdfast.list({ filter: { unlisted: true } }),
          (log) => log.conversation,
        );
        expect(logs).toEqual([begun ? "memory.user.2" : "memory.user"]);
        const events = await Array.fromAsync(memory.events("user"), ({ key }) => key);
        expect(events.filter((key) => key !== "goes")).toHaveLength(601);
      }
  },
);

test("what is saved while logs are moved by others is in the log that stays", async () => {
  await using store = await openStore("memory:");
  const work = async (name: string): Promise<readonly string[]> => {
    const memory = new Memory(new Holdfast(store, "default"));
    const kept: string[] = [];
    for (let n = 0; n < 30; n++) {
      const { key } = await memory.save("user", { title: `${name} ${n}`, content: "x" });
      if (n % 3 === 0) await memory.removeForever("user", key);
      else kept.push(key);
    }
    return kept;
  };
  const kept = (await Promise.all(["a", "b", "c"].map(work))).flat();
  const live = await new Memory(new Holdfast(store, "default")).list("user");
  expect(live.map(({ key }) => key).toSorted()).toEqual(kept.toSorted());
  const logs = await Array.fromAsync(new Holdfast(store, "default").listAll(), (log) => log.conversation);
  expect(logs.filter((id) => id.startsWith("memory."))).toEqual(["memory.user.31"]);
});

test("a log that was erased and is there again under its number is not taken for the one that was read", async () => {
  await using store = await openStore("memory:");
  const holdfast = new Holdfast(store, "default");
  const [stale, other] = [new Memory(holdfast), new Memory(holdfast)];
  await stale.save("user", { title: "Goes", content: "x" });
  await stale.save("user", { title: "Stays", content: "x" });
  await other.removeForever("user", "goes");
  // Somebody who was slow in helping with the move begins it once more.
  await holdfast.create({
    id: "memory.user",
    unlisted: true,
    title: "t",
    entries: [{ type: "title", title: "u" }],
  });
  await stale.save("user", { title: "New", content: "x" });
  expect((await other.list("user")).map(({ key }) => key)).toEqual(["new", "stays"]);
});

test("a store that may only be read shows a removal that was begun as done, and changes nothing", async () => {
  using dir = tempDir();
  const path = `sqlite:${join(dir.path, "store")}`;
  {
    await using store = await openStore(path);
    const memory = new Memory(new Holdfast(store, "default"));
    await memory.save("user", { title: "Stays", content: "x" });
    await memory.save("user", { title: "Goes", content: "x" });
    const dying = cutOff(store, 1, true);
    await new Memory(new Holdfast(dying.store, "default"))
      .removeForever("user", "goes")
      .catch(() => undefined);
  }
  await using store = await openStore(path, { readOnly: true });
  const memory = new Memory(new Holdfast(store, "default"));
  expect((await memory.list("user")).map(({ key }) => key)).toEqual(["stays"]);
  await expect(memory.save("user", { content: "more" })).rejects.toMatchObject({ code: "read_only" });
});
