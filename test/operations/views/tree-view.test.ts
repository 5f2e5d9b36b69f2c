import { expect, test } from "vitest";
import { user } from "#log/message";
import { openHoldfast } from "#open";
import { decorateStore } from "#store/decorate";
import { inMemoryStore } from "#stores/in-memory/index";
import { serve } from "../../edges/http/served.ts";

test("the pages of a tree cost one reading of the log, then what was added; together they are the whole tree", async () => {
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
  expect(await walk()).toBe(entries + 1 + 2); // the last known entry and the new one
  const { nodes } = await client.getTree({ conversation: "t", limit: 500 });
  expect(nodes.at(-1)?.label).toBe("here");
});

test("a tree that moves, hides, forks and loses its log is the tree that is read from scratch", async () => {
  await using served = await serve();
  const { holdfast } = served;
  const client = served.client(await served.token("write"));
  const check = async (id: string): Promise<void> => {
    const { leaf, nodes } = await client.getTree({ conversation: id, limit: 500 });
    const tree = await holdfast.handle(id).tree();
    expect(leaf).toBe(tree.leaf);
    expect(
      nodes.map(({ id: entry, children, active, label, hidden, inherited }) => ({
        entry,
        children,
        active,
        label,
        hidden,
        inherited,
      })),
    ).toEqual(tree.nodes.slice(0, 500).map(({ entry, ...node }) => Object.assign(node, { entry: entry.id })));
  };
  const chat = await holdfast.create({ id: "t", entries: [user("one"), user("two")] });
  await check("t");
  const [root = "", one = ""] = (await chat.branch()).map(({ id }) => id);
  await chat.goTo(root);
  await check("t");
  await chat.append([user("three"), user("four")]);
  await chat.hide(one);
  await chat.label(one, "here");
  await check("t");
  await chat.fork({ id: "f" });
  await check("f");
  await holdfast.handle("f").append(user("five"));
  await chat.append(Array.from({ length: 600 }, () => user("many")));
  await Promise.all([check("t"), check("f")]);
  await holdfast.handle("f").erase();
  await chat.erase();
  await holdfast.create({ id: "t", entries: [user("another")] });
  await check("t");
});
