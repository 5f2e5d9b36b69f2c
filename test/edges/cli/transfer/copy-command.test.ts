import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { holdfastHere } from "../cli-here.ts";
import { jsonLines, said, someStores } from "../cli-run.ts";

const stores = someStores();
afterAll(() => stores[Symbol.dispose]());
const [sqlite = "", jsonl = ""] = stores.addresses;

test("a store is copied into one of another kind, again only what came since, and what the target changed is left", async () => {
  await holdfastHere(jsonl, ["new", "--id", "chat", "--title", "First"]);
  await holdfastHere(jsonl, ["append", "chat"], { input: said("user", "remember this") });
  await holdfastHere(jsonl, ["fork", "chat", "--id", "aside"]);
  await holdfastHere(jsonl, ["memory", "add", "the sky is blue"]);
  const first = await holdfastHere(jsonl, ["copy", "--to", sqlite]);
  expect(first).toMatchObject({ status: 0, err: "" });
  expect(first.out).toMatch(/^Copied \d+ entries in 3 conversations\n$/);
  expect((await holdfastHere(sqlite, ["show", "aside"])).out).toContain("remember this");
  expect((await holdfastHere(sqlite, ["memory", "ls"])).out).toContain("the sky is blue");
  expect((await holdfastHere(sqlite, ["doctor"])).status).toBe(0);

  await holdfastHere(jsonl, ["append", "chat"], { input: said("assistant", "I will") });
  await holdfastHere(sqlite, ["title", "aside", "my own"]);
  const again = await holdfastHere("sqlite:elsewhere.db", [
    "copy",
    "--from",
    jsonl,
    "--to",
    sqlite,
    "--json",
  ]);
  expect(again.status).toBe(4);
  const lines = jsonLines(again.out);
  expect(lines.map(({ type }) => String(type)).toSorted()).toEqual(["copied", "end", "left"]);
  expect(lines.find(({ type }) => type === "copied")).toMatchObject({ conversation: "chat", entries: 1 });
  expect(lines.find(({ type }) => type === "left")).toMatchObject({
    conversation: "aside",
    code: "diverged",
  });
  expect(lines.at(-1)).toMatchObject({ schemaVersion: 1, type: "end", copied: 1, left: 1, stopped: false });
  const left = await holdfastHere(jsonl, ["copy", "--to", sqlite]);
  expect(left.err).toContain("aside");
  expect(left.out).toBe("Nothing new in 3 conversations; 1 conversation left out\n");
  await holdfastHere(jsonl, ["append", "chat"], { input: said("user", "and this") });
  const third = await holdfastHere(jsonl, ["copy", "--to", sqlite]);
  expect(third.out).toBe("Copied 1 entry in 1 of 3 conversations; 1 conversation left out\n");
});

test("what cannot be copied is refused before anything is made", async () => {
  const none = `sqlite:${join(stores.dir, "none.db")}`;
  const calls: readonly (readonly [number, readonly string[]])[] = [
    [2, ["copy"]],
    [2, ["copy", "--to", jsonl]],
    [2, ["copy", "--to", "memory:"]],
    [2, ["copy", "--to", "nowhere"]],
    [5, ["copy", "--from", none, "--to", sqlite]],
    [3, ["copy", "--to", none, "--only", "nobody"]],
  ];
  for (const [status, args] of calls)
    expect((await holdfastHere(jsonl, args)).status, args.join(" ")).toBe(status);
  expect((await holdfastHere(none, ["ls"])).status).toBe(0);
  const { out } = await holdfastHere(jsonl, ["copy", "--to", none, "--only", "cha", "--json"]);
  expect(jsonLines(out).map(({ conversation }) => conversation)).toEqual(["chat", undefined]);
});
