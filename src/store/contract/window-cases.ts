import assert from "node:assert/strict";
import type { EntryBody } from "#log/entry";
import type { StoreWindow } from "#store/requests";
import { type ContractCase, conv, entryId, Rig, user } from "./rig.ts";

const group = "window";
const ROUNDS = 40;
const OUTSIDE = { author: { kind: "outside" } } as const;

/** A setting and a message that belong together. */
function step(n: number): readonly EntryBody[] {
  return [{ type: "model_change", id: `c${n}`, model: `model ${n}` }, user(`message ${n}`, `m${n}`)];
}

/** Whether head, page and settings are of one moment, if every batch was a step. */
function assertWhole({ head, page, settings }: StoreWindow): void {
  const [message, change] = page.entries;
  assert.deepEqual([message?.id, message?.seq], [head.leaf.id, head.headSeq]);
  assert.equal(settings.get("model_change")?.id, change?.id);
  assert.equal(settings.get("model_change")?.place.depth, head.leaf.depth - 1);
}

export const windowCases: readonly ContractCase[] = [
  {
    group,
    name: "has an append between two windows whole in the second, and not at all in the first",
    async run(subject) {
      await using rig = new Rig(subject);
      const [space, other] = [await rig.space(), await rig.space()];
      await rig.create(space, "a", step(0));
      const ask = { conversation: conv("a"), limit: 2, settings: ["model_change"] } as const;
      const first = await space.window(ask);
      await rig.append(other, "a", step(1));
      const second = await space.window(ask);
      for (const window of [first, second]) assertWhole(window);
      assert.deepEqual([first.head.leaf.id, second.head.leaf.id], ["m0", "m1"]);
      assert.equal(second.head.headSeq, first.head.headSeq + 2);
    },
  },
  {
    group,
    name: "is of one moment while others write",
    async run(subject) {
      await using rig = new Rig(subject);
      const [space, other] = [await rig.space(), await rig.space()];
      await rig.create(space, "a", step(0));
      const ask = { conversation: conv("a"), limit: 2, settings: ["model_change"] } as const;
      const written = new AbortController();
      const write = async (): Promise<void> => {
        try {
          for (let n = 1; n <= ROUNDS; n++) await rig.append(other, "a", step(n));
        } finally {
          written.abort();
        }
      };
      const read = async (): Promise<void> => {
        while (!written.signal.aborted) {
          assertWhole(await space.window(ask));
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      await Promise.all([write(), read(), read()]);
      assert.equal((await space.window(ask)).head.leaf.id, `m${ROUNDS}`);
    },
  },
  {
    group,
    name: "hides entries of its page as of its head while others hide and show them",
    async run(subject) {
      await using rig = new Rig(subject);
      const [space, other] = [await rig.space(), await rig.space()];
      await rig.create(space, "a", [user("one", "m1"), user("two", "m2")]);
      const { headSeq: start } = await space.head(conv("a"));
      const ask = { conversation: conv("a"), limit: 9, settings: [] } as const;
      const written = new AbortController();
      const write = async (): Promise<void> => {
        try {
          for (let n = 1; n <= ROUNDS; n++)
            await rig.append(other, "a", [{ type: "hide", target: "m1", hidden: n % 2 === 1 }], OUTSIDE);
        } finally {
          written.abort();
        }
      };
      const read = async (): Promise<void> => {
        while (!written.signal.aborted) {
          const { head, page } = await space.window(ask);
          // Nothing else is written, so the head alone says whether it is hidden.
          assert.deepEqual([...page.hidden], (head.headSeq - start) % 2 === 1 ? ["m1"] : []);
          await new Promise((resolve) => setImmediate(resolve));
        }
      };
      await Promise.all([write(), read(), read()]);
      assert.equal((await space.window(ask)).head.headSeq, start + ROUNDS);
    },
  },
  {
    group,
    name: "starts at the leaf or at any node, and has the head either way, also without a page",
    async run(subject) {
      await using rig = new Rig(subject);
      const space = await rig.space();
      await rig.create(space, "a", [...step(0), ...step(1)]);
      const head = await space.head(conv("a"));
      const { place } = await space.entry(conv("a"), entryId("m0"));
      assert.ok(place);
      const then = await space.window({
        conversation: conv("a"),
        from: place,
        limit: 1,
        settings: ["model_change", "reset"],
      });
      assert.deepEqual(then.head, head);
      assert.deepEqual([then.page.entries[0]?.id, then.page.next?.depth], ["m0", place.depth - 1]);
      assert.deepEqual(
        [...then.settings].map(([type, { id }]) => [type, id]),
        [["model_change", "c0"]],
      );
      const bare = await space.window({ conversation: conv("a"), limit: 0, settings: [] });
      assert.deepEqual([bare.head, bare.page.entries.length, bare.settings.size], [head, 0, 0]);
      await rig.append(space, "a", [{ type: "hide", target: "m1" }], OUTSIDE);
      const hidden = await space.window({ conversation: conv("a"), limit: 9, settings: [] });
      assert.deepEqual([...hidden.page.hidden], ["m1"]);
      await rig.fork(space, "a", "b", { entry: "m0" });
      const fork = await space.window({ conversation: conv("b"), limit: 9, settings: ["model_change"] });
      assert.equal(fork.settings.get("model_change")?.id, "c0");
      assert.ok(fork.page.entries.some(({ id }) => id === "m0"));
      await assert.rejects(space.window({ conversation: conv("x"), limit: 1, settings: [] }), {
        code: "conversation_not_found",
      });
    },
  },
];
