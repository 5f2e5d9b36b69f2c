/** Several conversations through the command line: what is asked for, said before, done, and said again. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { openHoldfast } from "#open";
import { user } from "../../../support/a-log.ts";
import { holdfastHere } from "../cli-here.ts";
import { jsonLines, someStores } from "../cli-run.ts";

const stores = someStores();
afterAll(() => stores[Symbol.dispose]());

test("a family goes into one file and comes out as it was, said before and not made twice", async () => {
  const [from = ""] = stores.addresses;
  const to = `jsonl:${join(stores.dir, "target")}`;
  const file = join(stores.dir, "family.jsonl");
  {
    await using holdfast = await openHoldfast({ store: from });
    const chat = await holdfast.create({ id: "chat" });
    await chat.append([user("one", "m1"), user("two", "m2")]);
    await (await chat.fork({ id: "fork", at: "m1" })).append(user("mine", "f1"));
    await holdfast.create({ id: "other" });
  }
  const wrote = await holdfastHere(from, ["export", "other", "chat", "--with-forks", "-o", file, "--json"]);
  const conversations = ["other", "chat", "fork"];
  expect(jsonLines(wrote.out)[0]).toMatchObject({ conversation: "other", conversations, entries: 6 });
  const dry = await holdfastHere(to, ["import", file, "--dry-run", "--json"]);
  const said = { conversations: conversations.map((conversation) => ({ conversation, state: "new" })) };
  expect(jsonLines(dry.out)[0]).toMatchObject({ ...said, dryRun: true });
  expect(existsSync(join(stores.dir, "target"))).toBe(false);
  const read = await holdfastHere(to, ["import", file, "--json"]);
  expect(jsonLines(read.out)[0]).toMatchObject({ ...said, entries: 6, links: "kept" });
  const tree = async (store: string): Promise<string> => (await holdfastHere(store, ["tree", "fork"])).out;
  expect(await tree(to)).toBe(await tree(from));
  expect((await holdfastHere(to, ["import", file])).status).toBe(4);
  expect((await holdfastHere(to, ["import", file, "--id", "one"])).status).toBe(2);
  const fresh = await holdfastHere(to, ["import", file, "--as-new", "--json"]);
  expect(jsonLines(fresh.out)[0]).toMatchObject({
    conversations: [{ from: "other" }, { from: "chat" }, { from: "fork" }],
  });
  expect(jsonLines((await holdfastHere(to, ["ls", "--json"])).out)).toHaveLength(6);
});
