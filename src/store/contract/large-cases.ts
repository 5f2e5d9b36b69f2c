import assert from "node:assert/strict";
import type { SpaceStore } from "#store/facets";
import { type ContractCase, conv, Rig, texts, user } from "./rig.ts";

const group = "large";
const AT_ONCE = 50;
const PAGE = 100;

/** What must hold, and stay possible, with this many conversations and this many forks of forks. */
export function largeCases(sizes: {
  readonly conversations: number;
  readonly forks: number;
}): readonly ContractCase[] {
  return [longList(sizes.conversations), nestedForks(sizes.forks)];
}

function longList(size: number): ContractCase {
  return {
    group,
    name: `lists ${size} conversations in pages, each once, and finds one by the start of its id`,
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      for (let from = 0; from < size; from += AT_ONCE) {
        const some = Array.from({ length: Math.min(AT_ONCE, size - from) }, (_, nth) => from + nth);
        await Promise.all(some.map((n) => rig.create(space, nameOf(n), [user("hello")])));
      }
      for (const handle of [space, await rig.space()]) {
        const names = await listed(handle);
        assert.equal(names.length, size);
        assert.equal(new Set(names).size, size);
      }
      const prefix = nameOf(size - 1).slice(0, -1);
      const { conversations, next } = await space.list({ limit: 10, prefix });
      assert.deepEqual([conversations.length, next], [((size - 1) % 10) + 1, null]);
    },
  };
}

function nestedForks(size: number): ContractCase {
  return {
    group,
    name: `reads, writes and erases through ${size} forks of forks`,
    needs: ["search", "erase"],
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, nameOf(0), [user("first")]);
      for (let n = 1; n <= size; n++) {
        await rig.fork(space, nameOf(n - 1), nameOf(n));
        if (n % AT_ONCE === 0) await rig.append(space, nameOf(n), [user(`at ${n}`)]);
      }
      const last = nameOf(size);
      const between = Array.from({ length: Math.floor(size / AT_ONCE) }, (_, n) => `at ${(n + 1) * AT_ONCE}`);
      assert.deepEqual(await texts(await rig.space(), last), ["first", ...between]);
      await rig.append(space, last, [user("last")]);
      assert.equal((await space.search({ query: "last", limit: 9 })).length, 1);
      await space.erase(conv(nameOf(0)));
      await space.erase(conv(nameOf(Math.floor(size / 2))));
      await assert.rejects(space.head(conv(nameOf(0))), { code: "conversation_not_found" });
      assert.deepEqual(await texts(space, last), ["first", ...between, "last"]);
      assert.equal((await listed(space)).length, size - 1);
    },
  };
}

function nameOf(n: number): string {
  return `c${String(n).padStart(6, "0")}`;
}

async function listed(space: SpaceStore): Promise<readonly string[]> {
  const names: string[] = [];
  let after: string | undefined;
  for (;;) {
    const page = await space.list({ limit: PAGE, ...(after === undefined ? {} : { after }) });
    names.push(...page.conversations.map((one) => one.conversation));
    if (page.next === null) return names;
    after = page.next;
  }
}
