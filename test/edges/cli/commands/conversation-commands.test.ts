import { afterAll, describe, expect, test } from "vitest";
import { runHere } from "../cli-here.ts";
import { jsonLines, type Ran, said, someStores } from "../cli-run.ts";

const stores = someStores();
afterAll(() => stores[Symbol.dispose]());

const TURN = [
  '{"type":"message","id":"m1","message":{"role":"user","content":[{"type":"text","text":"Add a changelog"}]}}',
  '{"type":"message","id":"m2","message":{"role":"assistant","content":[{"type":"text","text":"Looking."},{"type":"toolCall","id":"c1","name":"bash","input":{"b":12345678901234567890,"a":1.0,"nul":"\\u0000","half":"\\ud800"}}],"model":"example-1","stopReason":"toolUse","usage":{"inputTokens":120,"outputTokens":18}}}',
  "",
  '{"type":"message","id":"m3","message":{"role":"toolResult","toolCallId":"c1","toolName":"bash","isError":false,"content":[{"type":"text","text":"README.md"}]},"details":{"z":1,"a":9007199254740993}}',
];

describe.each(stores.addresses)("the command line over %s", (store) => {
  const run = (args: readonly string[], input: string = ""): Promise<Ran> => runHere(store, args, input);
  const object = async (
    args: readonly string[],
    input: string = "",
  ): Promise<{ readonly [name: string]: unknown }> => {
    const ran = await run([...args, "--json"], input);
    expect(ran).toMatchObject({ status: 0 });
    return jsonLines(ran.out)[0] ?? {};
  };

  test("makes a conversation once per key, and takes a turn as one batch", async () => {
    expect(
      await object(["new", "--id", "chat", "--title", "A chat", "--cwd", "/repo", "--key", "k"]),
    ).toMatchObject({ schemaVersion: 1, conversation: "chat" });
    expect(
      await run(["new", "--id", "chat", "--key", "k", "--title", "A chat", "--cwd", "/repo"]),
    ).toMatchObject({ status: 0, out: "chat\n" });
    expect((await run(["new", "--id", "chat"])).status).toBe(4);
    const first = await object(["append", "chat", "--key", "turn-1"], TURN.join("\n"));
    expect(first).toMatchObject({
      seq: 5,
      id: "m3",
      fromSeq: 3,
      toSeq: 5,
      ids: ["m1", "m2", "m3"],
      deduped: false,
      differs: false,
    });
    const again = await object(["append", "chat", "--key", "turn-1"], TURN.join("\n"));
    expect(again).toMatchObject({ seq: 5, id: "m3", deduped: true, differs: false });
    expect(await object(["append", "chat", "--key", "turn-1"], TURN[0])).toMatchObject({
      seq: 5,
      deduped: true,
      differs: true,
    });
  });

  test("prints the log and the context with every digit as it was given", async () => {
    const log = await run(["log", "chat", "--json"]);
    const lines = log.out.trimEnd().split("\n");
    expect(jsonLines(log.out).map(({ seq, type }) => [seq, type])).toEqual([
      [1, "conversation"],
      [2, "title"],
      [3, "message"],
      [4, "message"],
      [5, "message"],
    ]);
    for (const [index, body] of TURN.filter(Boolean).entries())
      expect(lines[index + 2]).toContain(body.slice(body.indexOf('"message":{')));
    const context = await run(["context", "chat", "--json"]);
    expect(context.out).toContain(
      '"input":{"b":12345678901234567890,"a":1.0,"nul":"\\u0000","half":"\\ud800"}',
    );
    const { messages, model, leaf } = jsonLines(context.out)[0] ?? {};
    expect({ model, leaf }).toEqual({ model: "example-1", leaf: "m3" });
    expect((messages as readonly object[]).map((message) => Object.keys(message))).toEqual([
      ["role", "content"],
      ["role", "content"],
      ["role", "toolCallId", "toolName", "isError", "content"],
    ]);
  });

  test("moves the leaf by label and by the start of an id, and draws the tree", async () => {
    expect(await object(["label", "chat@m1", "the start"])).toMatchObject({
      entry: "m1",
      label: "the start",
    });
    expect(await object(["goto", "chat@the start"])).toMatchObject({ conversation: "chat", leaf: "m1" });
    expect(
      await object(["append", "chat"], said("assistant", "Another way", { id: "other-way" })),
    ).toMatchObject({ id: "other-way" });
    const tree = await object(["tree", "chat"]);
    const nodes = tree["nodes"] as readonly {
      id: string;
      children: readonly string[];
      active: boolean;
      label: string | null;
    }[];
    expect(nodes.find(({ id }) => id === "m1")).toMatchObject({
      children: ["m2", "other-way"],
      active: true,
      label: "the start",
    });
    expect(
      nodes
        .filter(({ active }) => active)
        .map(({ id }) => id)
        .slice(1),
    ).toEqual(["m1", "other-way"]);
    const drawn = (await run(["tree", "chat"])).out;
    expect(drawn).toContain("├─ · m2");
    expect(drawn).toMatch(/└─ • othe .*← active/);
    expect(await object(["goto", "chat@m3"])).toMatchObject({ leaf: "m3" });
    expect(await object(["label", "chat@m1", "--clear"])).toMatchObject({ label: null });
    expect((await run(["goto", "chat@the start"])).status).toBe(3);
  });

  test("forks from history without touching the source", async () => {
    const fork = await object(["fork", "chat@m1", "--id", "fork", "--key", "f"]);
    expect(fork).toMatchObject({
      conversation: "fork",
      leaf: "m1",
      origin: { conversation: "chat", entry: "m1" },
    });
    expect(await object(["fork", "chat@m1", "--id", "fork", "--key", "f"])).toMatchObject({
      conversation: "fork",
    });
    await object(["append", "fork"], said("assistant", "In the fork"));
    const log = jsonLines((await run(["log", "fork", "--json"])).out);
    expect(log.map(({ type, inherited }) => [type, inherited === true])).toEqual([
      ["conversation", true],
      ["message", true],
      ["conversation", false],
      ["message", false],
    ]);
    expect((await run(["log", "fork"])).out).toContain("inherited from chat");
    expect(await object(["context", "chat"])).toMatchObject({ leaf: "m3" });
  });

  test("hides from the model and shows again, and a compaction leaves the log whole", async () => {
    await object(["hide", "chat@m3"]);
    expect((await run(["context", "chat", "--json"])).out).toContain("This result was hidden");
    expect((await run(["show", "chat"])).out).toContain("(hidden from the model)");
    await object(["hide", "chat@m3", "--undo"]);
    const before = jsonLines((await run(["log", "chat", "--json"])).out).length;
    await object(
      ["append", "chat"],
      '{"type":"compaction","summary":"They want a changelog.","firstKeptEntryId":"m2"}\n{"type":"model_change","model":"example-2"}',
    );
    const context = await object(["context", "chat"]);
    expect(context).toMatchObject({ model: "example-2" });
    expect((context["messages"] as readonly unknown[]).length).toBe(3);
    expect(jsonLines((await run(["log", "chat", "--json"])).out).length).toBe(before + 2);
    expect(await object(["context", "chat@m3"])).toMatchObject({
      leaf: "m3",
      compaction: null,
      model: "example-1",
    });
  });

  test("shows people a history without internal messages, and lists, titles and searches", async () => {
    await object(
      ["append", "chat"],
      `${said("user", "for the machine only", { internal: true })}\n${said("assistant", "Changelog written.")}`,
    );
    const shown = (await run(["show", "chat"])).out;
    expect(shown).toContain("▸ bash");
    expect(shown).toContain("✓ README.md");
    expect(shown).toContain("compaction");
    expect(shown).not.toContain("for the machine only");
    expect(await object(["show", "chat"])).toMatchObject({ hidden: [] });
    await object(["title", "fork", "A fork of it"]);
    const listed = jsonLines((await run(["ls", "--json"])).out);
    expect(listed.map(({ conversation, title }) => [conversation, title])).toEqual([
      ["fork", "A fork of it"],
      ["chat", "A chat"],
    ]);
    expect(jsonLines((await run(["ls", "-n", "1", "--json"])).out)).toHaveLength(1);
    const hits = jsonLines((await run(["search", "CHANGELOG", "written", "--json"])).out);
    expect(hits).toMatchObject([{ schemaVersion: 1, conversation: "chat", snippet: "Changelog written." }]);
    expect((await run(["search", "changelog", "--in", "fork", "--json"])).out).toBe("");
  });

  test("lists the chain of upstream sessions with what each carried", async () => {
    const link = (upstream: string, reason: string): string =>
      JSON.stringify({ type: "upstream_link", upstream, agent: "codex", reason });
    await object(["new", "--id", "chained"]);
    await object(
      ["append", "chained"],
      [link("up-1", "new"), said("user", "one"), link("up-2", "expired"), said("user", "two")].join("\n"),
    );
    const { links } = await object(["chain", "chained"]);
    expect(links).toMatchObject([
      {
        id: "up-1",
        agent: "codex",
        account: null,
        reason: "new",
        carried: { fromSeq: 3, toSeq: 3 },
        inherited: false,
      },
      { id: "up-2", reason: "expired", carried: { fromSeq: 5, toSeq: 5 } },
    ]);
  });

  test("says which sessions carried a message, which messages one carried, and what the agent was given", async () => {
    const link = (upstream: string): string =>
      JSON.stringify({ type: "upstream_link", upstream, agent: "codex", reason: "new" });
    const priorContext = { messages: 1, from: "one", leftOut: 4, effects: 2 };
    const attempt = { type: "attempt", turn: "t", upstream: "up-2", fidelity: "preamble", priorContext };
    const message = (id: string, text: string): string =>
      JSON.stringify({ type: "message", id, message: { role: "user", content: [{ type: "text", text }] } });
    await object(["new", "--id", "carried"]);
    await object(
      ["append", "carried"],
      [
        link("up-1"),
        message("one", "1"),
        link("up-2"),
        message("two", "2"),
        JSON.stringify({ type: "turn_start", turn: "t", prompt: "two" }),
        JSON.stringify(attempt),
        JSON.stringify({ type: "turn_end", turn: "t", outcome: "completed" }),
        link("up-1"),
        message("three", "3"),
      ].join("\n"),
    );
    expect(await object(["chain", "carried@two"])).toMatchObject({ entry: "two", links: [{ id: "up-2" }] });
    const { messages } = await object(["chain", "carried", "--messages", "up-1"]);
    expect(messages).toMatchObject([{ id: "one" }, { id: "three" }]);
    expect(await object(["context", "carried"])).toMatchObject({
      given: { upstream: "up-2", agent: "codex", fidelity: "preamble", priorContext },
    });
    expect((await run(["context", "carried"])).out).toContain("4 before them in outline");
    expect((await object(["context", "carried@one"]))["given"]).toBeUndefined();
    expect((await run(["erase", "carried", "--yes"])).status).toBe(0);
  });

  test("takes facts from outside, keeps spaces apart, checks the store, and erases only by the whole id", async () => {
    expect(
      await object(["append", "chained", "--outside"], '{"type":"title","title":"From outside"}'),
    ).toMatchObject({ seq: 6 });
    expect(
      (await run(["append", "chained", "--outside"], said("user", "not a fact for others"))).status,
    ).toBe(2);
    expect((await run(["log", "chained", "--space", "elsewhere"])).status).toBe(3);
    expect(await object(["doctor"])).toMatchObject({ ok: true, conversations: 3, findings: [] });
    expect(await object(["doctor", "--repair"])).toMatchObject({ ok: true });
    expect((await run(["erase", "chain", "--yes"])).status).toBe(2);
    expect((await run(["erase", "chained"])).status).toBe(2);
    expect((await run(["log", "chained"])).status).toBe(0);
    expect(await object(["erase", "chained", "--yes"])).toEqual({
      schemaVersion: 1,
      conversation: "chained",
      erased: true,
    });
    expect((await run(["log", "chained"])).status).toBe(3);
  });
});
