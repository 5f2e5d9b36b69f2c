import { spawn } from "node:child_process";
import { once } from "node:events";
import { afterAll, describe, expect, test } from "vitest";
import { runHere } from "../cli-here.ts";
import { jsonLines, MAIN, type Ran, said, someStores } from "../cli-run.ts";

const chat = (store: string, ...lines: readonly string[]): Promise<Ran> =>
  runHere(store, ["chat", "c", "--agent", "simulated"], `${lines.join("\n")}\n`);

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
    expect(second.out).toContain("told all 2 messages");
    const [chain] = jsonLines((await runHere(store, ["chain", "c", "--json"])).out);
    const { links } = chain as unknown as { links: readonly { id: string; reason: string }[] };
    expect(links.map(({ reason }) => reason)).toEqual(["first", "lost"]);
    expect(new Set(links.map(({ id }) => id)).size).toBe(2);
  });
});

const [store = ""] = stores.addresses;
const fresh = (id: string, ...lines: readonly string[]): Promise<Ran> =>
  runHere(store, ["chat", id, "--agent", "simulated"], `${lines.join("\n")}\n`);

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
  const back = await fresh("source", "recall a", "recall b", "/tree", "/chain");
  expect(answers(back)).toEqual(["1", "I do not know b"]);
  expect(back.out).toContain("← active");
});

test("faults are told in plain words, and the conversation goes on", async () => {
  const ran = await fresh(
    "faults",
    "remember a=1",
    "/fault expire",
    "recall a",
    "/fault crash in_tool",
    "email bob about rent",
    "email bob about rent",
    "/fault hang",
    "recall a",
  );
  expect(ran).toMatchObject({ status: 0, err: "" });
  expect(answers(ran)).toContain("1");
  expect(answers(ran).at(-1)).toBe("1");
  expect(ran.out).toMatch(/had\s+expired/);
  expect(ran.out).toContain("did not send it again");
  const limited = await fresh("limited", "/fault limit", "remember a=1", "hello");
  expect(limited.out.match(/Parked until/g)).toHaveLength(2);
});

test("an order that cannot be carried out is told, changes nothing, and shows in the status", async () => {
  const ran = await fresh(
    "wrong",
    "/nope",
    "/goto x",
    "/edit",
    "/edit @zzz y",
    "/fault rain",
    "/cancel",
    "recall a",
  );
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
  const env = { ...process.env, HOLDFAST_STORE: store };
  const child = spawn(process.execPath, [MAIN, "chat", "stop", "--agent", "simulated", "--pace", "20"], {
    env,
  });
  const exited = once(child, "exit");
  let out = "";
  const until = async (words: string): Promise<void> => {
    const from = out.length;
    while (!out.includes(words, Math.max(0, from - words.length))) {
      const [chunk] = (await once(child.stdout, "data")) as [Buffer];
      out += chunk.toString("utf8");
    }
  };
  child.stdin.write("work 500\n");
  await until("Step 3 ");
  child.stdin.write("/cancel\n");
  await until("Cancelled");
  child.stdin.write("work 600\n");
  await until("Step 3 of 600");
  child.kill("SIGINT");
  await until("Cancelled");
  child.kill("SIGINT");
  expect(await exited).toEqual([0, null]);
  expect(out).not.toContain("Step 499");
});
