/** What a send costs: what it reads is bounded, however long the conversation is. */
import { expect, test } from "vitest";
import type { EntryBody } from "../../src/log/entry.ts";
import type { SpaceStore, Store } from "../../src/store/store.ts";
import { memoryBacking, memoryStore } from "../../src/stores/memory/index.ts";
import { aRig } from "./rig.ts";

const reply = (model: string): EntryBody => ({
  type: "message",
  message: { role: "assistant", content: [{ type: "text", text: "hi" }], model },
});

async function nodesReadBySends(messages: number): Promise<readonly number[]> {
  const backing = memoryBacking();
  let nodes = 0;
  const counted = (space: SpaceStore): SpaceStore => ({
    ...space,
    page: async (request) => {
      const page = await space.page(request);
      nodes += page.entries.length;
      return page;
    },
  });
  const open = (): Store => {
    const store = memoryStore({ backing });
    return { ...store, space: (id) => counted(store.space(id)) };
  };
  const rig = await aRig({ open });
  const conversation = await rig.hold.conversation("c");
  const words: EntryBody = {
    type: "message",
    message: { role: "user", content: [{ type: "text", text: "x" }] },
  };
  await conversation.append(Array.from({ length: messages }, () => words));
  const read: number[] = [];
  for (const prompt of ["hello", "and again"]) {
    nodes = 0;
    await rig.send(prompt);
    read.push(nodes);
  }
  return read;
}

test("a first send reads what a new session has room for, however long the conversation is", async () => {
  const [[long], [longer]] = [await nodesReadBySends(7_000), await nodesReadBySends(10_000)];
  expect(longer).toBe(long);
});

test("a send to a session that lacks nothing reads as much of a long conversation as of a short one", async () => {
  const [[, short], [, long]] = [await nodesReadBySends(200), await nodesReadBySends(8_000)];
  expect(long).toBe(short);
  expect(long).toBeLessThan(1_000);
});

test("the model of the latest reply is replayed where none was chosen", async () => {
  const rig = await aRig();
  const conversation = await rig.hold.conversation("c");
  await conversation.append([reply("old"), reply("new")]);
  await rig.send("hello");
  expect(rig.upstreams[0]?.asked[0]?.settings).toMatchObject({ model: "new" });
});
