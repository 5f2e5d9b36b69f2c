import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { openHoldfast } from "#index";
import { parseConversationId } from "#log/ids";
import { secretsUnder } from "../../../support/files-under.ts";
import { jsonLines, someStores } from "../cli-run.ts";
import { holdfastHere } from "../cli-here.ts";
import { MODEL, modelCli } from "../model-cli.ts";

const stores = someStores();
afterAll(() => stores[Symbol.dispose]());

describe.each(stores.addresses)("over %s", (store) => {
  const memory = (...args: readonly string[]): ReturnType<typeof holdfastHere> =>
    holdfastHere(store, ["memory", ...args, "--folder", stores.dir]);
  const json = async (...args: readonly string[]): Promise<ReturnType<typeof jsonLines>> =>
    jsonLines((await memory(...args, "--json")).out);

  test("what is added is listed, found, removed and restored, for people and for scripts", async () => {
    expect(await memory()).toMatchObject({ status: 0, out: "", err: expect.stringContaining("memory add") });
    const added = await memory("add", "Answers", "in German", "--kind", "preference", "--tag", "language");
    expect(added).toMatchObject({ status: 0, out: expect.stringContaining("answers_in_german (user)") });
    await memory("add", "Tests run with npm test", "--title", "测试", "--scope", "project");
    const listed = await memory("ls");
    expect(listed.out).toMatch(
      /^answers_in_german {2}user, preference, \d{4}-\d\d-\d\d, language\n {4}Answers in German\n测试 {2}project/,
    );
    expect(await json("ls", "--scope", "project")).toMatchObject([
      {
        schemaVersion: 1,
        scope: "project",
        key: "测试",
        kind: "note",
        content: "Tests run with npm test",
        by: "person",
        removedAt: null,
      },
    ]);
    expect((await json("search", "GERMAN")).map(({ key }) => key)).toEqual(["answers_in_german"]);
    expect((await memory("search", "%")).err).not.toBe("");
    expect(await json("rm", "测试")).toMatchObject([
      { scope: "project", key: "测试", removed: true, forever: false },
    ]);
    expect(await json("ls", "--scope", "project")).toEqual([]);
    expect((await json("ls", "--removed")).map(({ key }) => key)).toEqual(["测试"]);
    expect((await memory("restore", "测试")).out).toBe("Restored 测试 (project)\n");
    expect(await json("ls")).toHaveLength(2);
  });

  test("erasing wants a yes, and leaves no byte", async () => {
    await memory("add", "qzxunheard word", "--key", "gone");
    const asked = await memory("rm", "gone", "--forever");
    expect([asked.status, asked.out]).toEqual([2, ""]);
    expect((await memory("rm", "gone", "--forever", "--json")).status).toBe(2);
    expect(await json("rm", "gone", "--forever", "--yes")).toMatchObject([{ key: "gone", forever: true }]);
    expect((await memory("ls", "--removed")).out).not.toContain("gone");
    expect((await memory("restore", "gone")).status).toBe(3);
  });

  test.each(["ls", "search"])("an erasure that was cut off is finished by memory %s", async (verb) => {
    const word = `qzx${verb}cut`;
    await memory("add", `${word} word`, "--key", "cut");
    {
      await using holdfast = await openHoldfast({ store });
      const scope = { prefix: "memory.user", unlisted: true };
      const logs = await Array.fromAsync(holdfast.list({ filter: scope }));
      const log = holdfast.handle(parseConversationId(logs[0]?.conversation ?? ""));
      await log.appendOutside([{ type: "memory", change: "erasing", keys: ["cut"], by: "person" }]);
    }
    expect(secretsUnder(stores.dir, word)).not.toEqual([]);
    const looked = await memory(verb, ...(verb === "search" ? ["word"] : []));
    expect(looked.out).not.toContain(word);
    expect(looked.err).toContain("interrupted");
    expect(secretsUnder(stores.dir, word)).toEqual([]);
    expect((await memory(verb, ...(verb === "search" ? ["word"] : []))).err).not.toContain("interrupted");
  });

  test("what takes another's place says so, with its words; the same words again do not", async () => {
    await memory("add", "Notes\nalpha", "--scope", "project");
    const again = await memory("add", "Notes\nbeta\u001b[31m", "--scope", "project");
    expect(again).toMatchObject({ status: 0, out: expect.stringContaining("notes (project)") });
    expect(again.err).toContain("Notes alpha\n");
    expect(again.err).toContain("--key");
    const [shown] = await json("add", "Notes\ngamma", "--scope", "project");
    expect(shown).toMatchObject({ key: "notes", replaced: "Notes\nbeta\u001b[31m" });
    expect((await memory("add", "Notes\ngamma", "--scope", "project")).err).toBe("");
    await memory("rm", "notes");
  });

  test("what is wrong is told with its exit code, and nothing is written", async () => {
    const before = await json("ls");
    const wrong: readonly (readonly [number, readonly string[]])[] = [
      [2, ["add"]],
      [2, ["add", "x", "--kind", "unknown"]],
      [2, ["add", "the password is hunter2hunter2"]],
      [2, ["add", "x".repeat(4_001)]],
      [2, ["ls", "--scope", "all"]],
      [2, ["ls", "more"]],
      [2, ["forget", "x"]],
      [2, ["rm"]],
      [2, ["search"]],
      [3, ["rm", "never"]],
      [3, ["restore", "never"]],
    ];
    for (const [status, args] of wrong)
      expect([args, (await memory(...args)).status]).toEqual([args, status]);
    expect(jsonLines((await memory("rm", "never", "--json")).err)).toMatchObject([
      { error: { code: "entry_not_found" } },
    ]);
    expect((await memory("rm", "never")).err).toContain("holdfast memory ls");
    expect(await json("ls")).toEqual(before);
    await memory("add", "x", "--key", "both");
    await memory("add", "x", "--key", "both", "--scope", "project");
    expect((await memory("rm", "both")).status).toBe(2);
    expect((await memory("rm", "both", "--scope", "user")).status).toBe(0);
  });

  test("text of a memory is no order to the terminal", async () => {
    await memory("add", "\u001b[2J\u0007red\u202e", "--title", "Esc\u001b[31m", "--key", "esc");
    const shown = await holdfastHere(store, ["memory", "ls", "--folder", stores.dir], { terminal: 40 });
    expect(shown.out).toContain("esc");
    for (const order of ["\u0007", "\u001b", "\u202e"]) expect(shown.out).not.toContain(order);
  });
});

test("a backup has what is remembered, the file of a conversation has nothing of it", async () => {
  for (const store of stores.addresses) {
    await holdfastHere(store, ["memory", "add", "kept qzxcopied", "--key", "kept"]);
    await holdfastHere(store, ["new", "--id", "chat"]);
    const kind = store.split(":")[0] ?? "";
    const to = join(stores.dir, `${kind}-copy`);
    expect((await holdfastHere(store, ["backup", to])).status).toBe(0);
    expect((await holdfastHere(`${kind}:${to}`, ["memory", "search", "qzxcopied"])).out).toContain("kept");
    expect((await holdfastHere(store, ["export", "chat"])).out).not.toContain("qzxcopied");
  }
});

test("the project of a folder is known by its id, which may be kept in a file", async () => {
  const [store = ""] = stores.addresses;
  const folder = join(stores.dir, "app");
  mkdirSync(folder);
  const ask = (...args: readonly string[]): ReturnType<typeof holdfastHere> =>
    holdfastHere(store, ["memory", "project", "--folder", folder, ...args]);
  const id = (await ask()).out.trim();
  expect(id).toMatch(/^path:.*app$/);
  expect((await ask("--write")).status).toBe(0);
  const file = join(folder, ".holdfast", "project");
  expect(readFileSync(file, "utf8")).toBe(`${id}\n`);
  expect((await ask("--write")).status).toBe(2);
  writeFileSync(file, "the app");
  expect(jsonLines((await ask("--json")).out)).toMatchObject([{ project: "the app" }]);
  expect(
    (await holdfastHere(store, ["memory", "ls", "--scope", "project", "--folder", join(folder, "none")]))
      .status,
  ).toBe(2);
});

test("a chat is told what is remembered and may save by its tool, unless told not to", async () => {
  await using cli = await modelCli();
  await cli.run(["memory", "add", "Answers in German", "--kind", "preference"]);
  const run = (...more: readonly string[]): ReturnType<typeof cli.run> =>
    cli.run(["chat", "-p", "hello", "--model", MODEL, ...more]);
  expect((await run()).status).toBe(0);
  const told = cli.server.requests.at(-1)?.body ?? "";
  expect(told).toContain("Answers in German");
  expect(told).toContain('"name":"remember"');
  expect((await run("--no-memory")).status).toBe(0);
  const untold = cli.server.requests.at(-1)?.body ?? "";
  expect(untold).not.toContain("Answers in German");
  expect(untold).not.toContain('"name":"remember"');
});

test.each([
  ["is told what is remembered", []],
  ["is not, where told not to", ["--no-memory"]],
] as const)("a model in an editor %s", async (_, flags) => {
  await using cli = await modelCli();
  await cli.run(["memory", "add", "Answers in German"]);
  const acp = cli.start(["acp", "--model", MODEL, ...flags]);
  const ask = async (id: number, method: string, params: object): Promise<void> => {
    acp.type(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    await acp.printed(`"id":${id},"result"`);
  };
  await ask(1, "initialize", { protocolVersion: 1, clientCapabilities: {} });
  await ask(2, "session/new", { cwd: cli.folder, mcpServers: [] });
  await acp.printed("}");
  const sessionId = /"sessionId":"([^"]+)"/.exec(acp.out)?.[1];
  await ask(3, "session/prompt", { sessionId, prompt: [{ type: "text", text: "hello" }] });
  acp.child.stdin?.end();
  expect((await acp.ended).status).toBe(0);
  const body = cli.server.requests.at(-1)?.body ?? "";
  expect(body.includes("Answers in German")).toBe(flags.length === 0);
  expect(body.includes('"name":"remember"')).toBe(flags.length === 0);
  const [chat] = jsonLines((await cli.run(["ls", "--json"])).out);
  const recorded = (await cli.run(["log", String(chat?.["conversation"]), "--json"])).out;
  expect(recorded.includes('"project":{"id":"path:')).toBe(flags.length === 0);
});
