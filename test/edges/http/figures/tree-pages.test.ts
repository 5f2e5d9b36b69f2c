import { expect, test } from "vitest";
import { user } from "#log/say";
import { openHoldfast } from "#open";
import { decorateStore } from "#store/decorate";
import { inMemoryStore } from "#stores/in-memory/index";
import { serve } from "../served.ts";

test("the pages of a tree cost one reading of the log, until it grows; together they are the whole tree", async () => {
  let read = 0;
  const store = decorateStore(inMemoryStore(), {
    verbs: (space) => ({
      read: async (request) => {
        const found = await space.read(request);
        if (request.conversation === "t") read += found.length;
        return found;
      },
    }),
  });
  await using served = await serve({ holdfast: await openHoldfast({ store }) });
  const conversation = await served.holdfast.create({ id: "t" });
  for (let at = 0; at < 40; at++) await conversation.append(user(`words ${at}`));
  const client = served.client(await served.token("write"));
  const walk = async (): Promise<number> => {
    read = 0;
    const ids: string[] = [];
    for (let cursor: string | null = "0"; cursor !== null;) {
      const page: Awaited<ReturnType<typeof client.getTree>> = await client.getTree({
        conversation: "t",
        limit: 5,
        cursor,
      });
      ids.push(...page.nodes.map(({ id }) => id));
      cursor = page.next;
    }
    expect(ids).toEqual((await conversation.tree()).nodes.map(({ entry }) => entry.id));
    return read;
  };
  const entries = 41;
  expect(await walk()).toBe(2 * entries); // the server's, and the one it is compared with
  expect(await walk()).toBe(entries);
  const leaf = (await conversation.head()).leaf.id;
  await client.setLabel({ conversation: "t", entry: leaf, label: "here" });
  expect(await walk()).toBe(2 * (entries + 1));
  const { nodes } = await client.getTree({ conversation: "t", limit: 500 });
  expect(nodes.at(-1)?.label).toBe("here");
});
