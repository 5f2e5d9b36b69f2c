import { afterAll, describe, expect, test } from "vitest";
import { holdfastHere } from "../cli-here.ts";
import { jsonLines, type Ran, said, someStores } from "../cli-run.ts";

const stores = someStores();
afterAll(() => stores[Symbol.dispose]());

function link(upstream: string, account: string): string {
  return JSON.stringify({ type: "upstream_link", upstream, agent: "claude", account, reason: "first" });
}

describe.each(stores.addresses)("over %s", (store) => {
  const run = (args: readonly string[], input: string = ""): Promise<Ran> =>
    holdfastHere(store, args, { input });

  test("sign-out ends an account's sessions and begins its contexts anew, once", async () => {
    await run(["new", "--id", "a"]);
    await run(["append", "a"], `${link("s1", "work")}\n${said("user", "secret")}\n`);
    const done = await run(["sign-out", "--account", "work", "--json"]);
    expect([done.status, jsonLines(done.out)]).toEqual([
      0,
      [{ schemaVersion: 1, agent: null, account: "work", ended: 1, reset: ["a"], failed: [] }],
    ]);
    expect(jsonLines((await run(["context", "a", "--json"])).out)[0]).toMatchObject({ messages: [] });
    expect((await run(["show", "a"])).out).toContain("secret");
    expect(jsonLines((await run(["sign-out", "--all", "--json"])).out)[0]).toMatchObject({
      ended: 0,
      reset: [],
    });
  });

  test("sign-out wants to know whose sessions, and not two answers", async () => {
    expect((await run(["sign-out"])).status).toBe(2);
    expect((await run(["sign-out", "--all", "--agent", "claude"])).status).toBe(2);
  });

  test("new-chat empties the context and keeps the history; under a key it is done once", async () => {
    await run(["new", "--id", "b"]);
    await run(["append", "b"], said("user", "before"));
    expect((await run(["new-chat", "b", "--key", "k"])).status).toBe(0);
    await run(["append", "b"], said("user", "after"));
    expect((await run(["new-chat", "b", "--key", "k"])).status).toBe(0);
    const [context] = jsonLines((await run(["context", "b", "--json"])).out);
    expect(context).toMatchObject({ messages: [{ content: [{ text: "after" }] }] });
    expect((await run(["show", "b"])).out).toContain("before");
  });
});

test("an account is given to an agent that is there, by its name unless it is the only one", async () => {
  const refused = async (...args: readonly string[]): Promise<number | null> =>
    (await holdfastHere("memory:", ["acp", ...args])).status;
  expect(await refused("--account", "codex=work", "--", "agent")).toBe(2);
  expect(await refused("--account", "", "--", "agent")).toBe(2);
  expect(await refused("--agent", "a=x", "--agent", "b=y", "--account", "work")).toBe(2);
  const { agentsOf } = await import("#edges/cli/serve/known-agents");
  const accounts = (named: readonly string[], given: readonly string[]): readonly (string | undefined)[] =>
    agentsOf({ agents: named, command: [], accounts: given }, {}).map(({ account }) => account);
  expect(accounts(["a=x"], ["work"])).toEqual(["work"]);
  expect(accounts(["a=x", "b=y"], ["b=me@home"])).toEqual([undefined, "me@home"]);
});
