/**
 * One conversation with skills, memory, an MCP server and state, restored through the library, the command line, the editor's protocol,
 * the pool and durable steps: the same in every field.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agent, McpServers, Memory, Skills } from "#agent/index";
import type { AgentOptions } from "#agent/agent-options";
import { restore } from "#agent/restore";
import type { Tool } from "#turn/effects/tool";
import { directSteps } from "#agent/steps/engine-steps";
import { listIn } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import { openHoldfast } from "#open";
import { hostile } from "../agent/mcp/mcp-rig.ts";
import { ScriptedModel } from "../agent/scripted-model.ts";
import { tempDir } from "../support/temp-dir.ts";
import { runCli } from "./cli/cli-run.ts";
import { fieldsOf } from "../support/scripted-agent/wire.ts";
import { openLoop } from "./acp/loop-editor.ts";

const look: Tool = {
  name: "look",
  effect: "none",
  run: async () => ({ content: "seen", state: { seen: 1 } }),
};
const mail: Tool = { name: "mail", run: async () => "sent" };

function writeSkill(folder: string): void {
  const place = join(folder, ".agents", "skills", "review");
  mkdirSync(place, { recursive: true });
  writeFileSync(join(place, "SKILL.md"), "---\nname: review\ndescription: Reviews\n---\nLook twice.\n");
}

/** Everything that a turn goes on from, by a process that is gone afterwards. */
async function fill(store: string, cwd: string, options: AgentOptions): Promise<void> {
  await using holdfast = await openHoldfast({ store });
  await using servers = new McpServers([hostile()]);
  const memory = new Memory(holdfast);
  await memory.save("user", { title: "Language", content: "German" });
  await using agent = new Agent(holdfast, { ...options, memory, servers });
  const chat = await holdfast.create({ id: "chat", cwd });
  await agent.activateSkill(chat, "review");
  await agent.send(chat, "look around");
  const { project } = (await agent.restore(chat)).memory ?? {};
  await memory.save({ project: project?.id ?? "" }, { title: "Build", content: "make" });
  await agent.send(chat, "mail bob");
  await agent.steer(chat, "tell me after", { when: "turn" });
}

function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

test("library, command line, editor, pool and durable steps give the same state, with an MCP server that runs", async () => {
  using dir = tempDir();
  writeSkill(dir.path);
  const store = `sqlite:${join(dir.path, "h.db")}`;
  const model = new ScriptedModel([
    { text: "Looking", calls: [{ id: "l", name: "look", input: { at: "it" } }] },
    { text: "Seen" },
    { text: "Mailing", calls: [{ id: "m", name: "mail", input: { to: "bob" } }] },
  ]);
  const skills = new Skills();
  const given: AgentOptions = { model, tools: [look, mail], skills, instructions: false };
  await fill(store, dir.path, given);

  await using holdfast = await openHoldfast({ store });
  await using servers = new McpServers([hostile()]);
  const memory = new Memory(holdfast);
  const options: AgentOptions = { ...given, tools: [mail], memory, servers };
  await using agent = new Agent(holdfast, options);
  const library = await agent.restore("chat");
  const { conversation, messages, ...state } = library;
  expect(state).toMatchObject({
    skills: [{ name: "review", source: expect.any(String), digest: expect.any(String) }],
    state: { seen: 1 },
    cwd: dir.path,
    servers: [{ name: "odd", state: "open", tools: expect.arrayContaining([expect.any(String)]) }],
    queue: [{ when: "turn" }],
    openTurn: { conversation: "chat" },
    waiting: [{ call: "m", tool: "mail" }],
    memory: { ofUser: 1, ofProject: 1, block: expect.stringContaining("German") },
    missing: [{ kind: "tool", name: "look" }],
  });
  expect(messages).toHaveLength(7);

  const input = { tools: [mail], skills, memory, servers: [servers] };
  const alone = await restore(await holdfast.conversation("chat"), input);
  expect({ ...alone, missing: library.missing }).toEqual(library);

  for (const how of ["cold", "held", "let go of"]) {
    if (how !== "held") await agent.pool.release("chat");
    expect([how, await agent.pool.with("chat", async ({ restored }) => restored)]).toEqual([how, library]);
  }

  // An editor gives its servers itself, and they are opened for it.
  const { name, command, args } = { command: "", args: [], ...hostile() };
  await using editor = await openLoop(holdfast, { ...options, servers: null });
  const loaded = fieldsOf(
    (await editor.load("chat", dir.path, { mcpServers: [{ name, command, args: [...args], env: [] }] }))[
      "restored"
    ],
  );
  const [opened] = listIn(loaded["servers"] as Json);
  expect(opened).toMatchObject({ state: "open", openedInMs: expect.any(Number) });
  const openedInMs = opened?.["openedInMs"] ?? null;
  expect(loaded).toEqual({
    ...plain(state),
    servers: state.servers.map((server) => ({ ...plain(server), openedInMs })),
    messages: messages.length,
  });

  const cli = JSON.parse((await runCli(store, ["context", "chat", "--restore", "--json"])).out);
  const { schemaVersion: _, compaction, messages: printed, servers: named, missing, ...told } = cli;
  // The command line has no servers and tools of its own, and says so of those that the log names.
  const { servers: running, missing: lacking, ...others } = plain(state);
  expect({ ...told, compaction }).toEqual({ conversation, ...others, compaction: null });
  expect(named).toMatchObject(running.map((one) => ({ name: one.name, tools: one.tools, state: "missing" })));
  expect(missing.map(({ kind }: { kind: string }) => kind)).toEqual(["server"]);
  expect(lacking.map(({ kind }) => kind)).toEqual(["tool"]);
  expect(printed).toEqual(plain(messages.map(({ entryId, model: by, ...message }) => message)));

  // What a turn asks a model for is made of it: the same in steps of a task, and in the pool.
  const chat = await holdfast.conversation("chat");
  const fork = (): ReturnType<typeof chat.fork> => chat.fork({ cwd: dir.path });
  const [direct, pooled, inSteps] = [await fork(), await fork(), await fork()];
  const from = model.asked.length;
  await agent.send(direct, "and now?");
  await agent.pool.with(pooled, (held) => held.send("and now?"));
  await agent.send(inSteps, "and now?", { steps: directSteps("task-1") });
  const asked = model.asked.slice(from).map(({ prompt, tools }) => plain({ prompt, tools }));
  expect(asked).toHaveLength(3);
  expect(asked[1]).toEqual(asked[0]);
  expect(asked[2]).toEqual(asked[0]);
  const words = ["Look twice", "German", "odd__echo", "mail bob"];
  expect(words.filter((word) => !JSON.stringify(asked[0]).includes(word))).toEqual([]);
  for (const forked of [direct, pooled, inSteps]) {
    const { conversation: ___, leaf: ____, messages: said, ...rest } = await agent.restore(forked);
    const { skills: active, state: kept, memory: known, servers: open, missing: less } = rest;
    const { skills: a, state: s, memory: m, servers: o, missing: l } = library;
    expect({ active, kept, known, open, less }).toEqual({ active: a, kept: s, known: m, open: o, less: l });
    expect(said.slice(0, messages.length)).toEqual(messages);
  }
  expect(editor.wrong).toEqual([]);
});
