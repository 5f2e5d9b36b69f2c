import { afterAll, describe, expect, test } from "vitest";
import { runHere } from "../cli-here.ts";
import { jsonLines, type Ran, said, someStores } from "../cli-run.ts";
import { MODEL, modelCli } from "../model-cli.ts";

const chat = (store: string, ...lines: readonly string[]): Promise<Ran> =>
  runHere(store, ["chat", "c", "--model", "sim"], `${lines.join("\n")}\n`);

/** What the agent said, answer by answer. */
function answers({ out }: Ran): readonly string[] {
  return [...out.matchAll(/^agent +(.*)$/gm)].map(([, text = ""]) => text);
}

const stores = someStores();
afterAll(() => stores[Symbol.dispose]());

describe.each(stores.addresses)("a chat over %s", (store) => {
  test("survives quitting: what was told in one chat is known in the next", async () => {
    const first = await chat(store, "remember color=blue", "/quit", "never read");
    expect(first).toMatchObject({ status: 0, err: "" });
    expect(answers(first)).toEqual(["Noted color=blue"]);
    const second = await chat(store, "recall color", "recall nothing");
    expect(answers(second)).toEqual(["blue", "I do not know nothing"]);
  });
});

const [store = ""] = stores.addresses;
const fresh = (id: string, ...lines: readonly string[]): Promise<Ran> =>
  runHere(store, ["chat", id, "--model", "sim"], `${lines.join("\n")}\n`);

test("an edit takes the words it replaces out of what the agent knows", async () => {
  const ran = await fresh(
    "edit",
    "remember kept=yes",
    "remember color=blue",
    "/edit recall color",
    "recall kept",
  );
  expect(answers(ran)).toEqual(["Noted kept=yes", "Noted color=blue", "I do not know color", "yes"]);
  const tree = await runHere(store, ["tree", "edit", "--json"]);
  const [{ nodes }] = jsonLines(tree.out) as unknown as [
    { nodes: readonly { id: string; preview: string; active: boolean }[] },
  ];
  expect(nodes.find(({ preview }) => preview === "remember color=blue")).toMatchObject({ active: false });
  const first = nodes.find(({ preview }) => preview === "remember kept=yes")?.id ?? "";
  const again = await fresh("edit", `/edit ${first} recall kept`, `/goto @${first.slice(0, 30)}`);
  expect(answers(again)).toEqual(["I do not know kept"]);
});

test("a fork goes on beside its source, and a new chat knows nothing of what was", async () => {
  const ran = await fresh("source", "remember a=1", "/fork", "remember b=2", "recall a", "/new", "recall a");
  expect(answers(ran)).toEqual(["Noted a=1", "Noted b=2", "1", "I do not know a"]);
  const back = await fresh("source", "recall a", "recall b", "/tree");
  expect(answers(back)).toEqual(["1", "I do not know b"]);
  expect(back.out).toContain("← active");
});

test("an order that cannot be carried out is told, changes nothing, and shows in the status", async () => {
  const ran = await fresh("wrong", "/nope", "/goto x", "/edit", "/edit @zzz y", "/cancel", "recall a");
  expect(ran.status).toBe(2);
  expect(answers(ran)).toEqual(["I do not know a"]);
  expect((await runHere(store, ["chat", "wrong", "--json"])).status).toBe(2);
});

test("stored text reaches the terminal harmless", async () => {
  await runHere(store, ["new", "--id", "evil"]);
  const text = "remember a=\u001B]52;c;x\u0007\u202Eb";
  await runHere(store, ["append", "evil"], said("user", text));
  const ran = await fresh("evil", "recall a", "/tree", "\u001B[2Jhello\u202E");
  expect(ran.out).not.toMatch(/\p{Cc}(?<!\n)/u);
  expect(ran.out).not.toContain("\u202E");
});

test("Ctrl-C stops the running turn, a second one quits; /cancel does not wait its turn", async () => {
  await using cli = await modelCli([
    { text: ["first ", "and ", "a ", "whole"], hold: { at: "middle", name: "first" } },
    { text: ["second ", "and ", "a ", "whole"], hold: { at: "middle", name: "second" } },
  ]);
  const running = cli.start(["chat", "stop", "--model", MODEL]);
  running.type("go\n");
  await running.printed("first");
  running.type("/cancel\n");
  await running.printed("Cancelled");
  running.type("go again\n");
  await running.printed("second");
  running.child.kill("SIGINT");
  await running.printed("Cancelled");
  running.child.kill("SIGINT");
  const { status, out } = await running.ended;
  expect(status).toBe(0);
  expect(out).not.toContain("whole");
});
