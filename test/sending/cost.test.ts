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

async function nodesReadBySend(messages: number): Promise<number> {
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
  nodes = 0;
  await rig.send("hello");
  return nodes;
}

test("a send reads as much of a long conversation as of a short one", async () => {
  expect(await nodesReadBySend(8_000)).toBe(await nodesReadBySend(800));
});

test("the model of the latest reply is replayed where none was chosen", async () => {
  const rig = await aRig();
  const conversation = await rig.hold.conversation("c");
  await conversation.append([reply("old"), reply("new")]);
  await rig.send("hello");
  expect(rig.upstreams[0]?.asked[0]?.settings).toMatchObject({ model: "new" });
});
