/**
 * One story, told through every door: the library, its pool, the command line, HTTP, an editor's protocol, and a replay. What each
 * leaves in the log is the same state, field by field; and one log is the same state whichever door it is read through.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Agent } from "#agent/agent";
import type { AgentOptions } from "#agent/agent-options";
import { openModel } from "#agent/models/open-model";
import { replay } from "#agent/replay/replay-models";
import { codingTools } from "#agent/tools/coding-tools";
import type { Holdfast } from "#conversation/holdfast";
import type { Client } from "#edges/http/client/index";
import { openHoldfast } from "#open";
import { type ModelServer, startModelServer } from "../support/model-server.ts";
import { tempDir } from "../support/temp-dir.ts";
import { openLoop } from "./acp/loop-editor.ts";
import { holdfastHere } from "./cli/cli-here.ts";
import { jsonLines } from "./cli/cli-run.ts";
import { serve, type Served } from "./http/served.ts";

const MODEL = "anthropic/claude-sonnet-5-5";
const PROMPTS = ["What is in a.txt?", "And now?"];
const [TITLE, LABEL] = ["A note", "the answer"];

const folder = tempDir();
const store = `sqlite:${join(folder.path, "store.db")}`;
let models: ModelServer;
let env: { readonly [name: string]: string };
let holdfast: Holdfast;
let served: Served;
let client: Client;
let options: AgentOptions;

beforeAll(async () => {
  writeFileSync(join(folder.path, "a.txt"), "hello");
  models = await startModelServer(({ body }) => {
    if (body.includes(PROMPTS[1] ?? "")) return { text: "Still hello." };
    const call = { id: "call_read", name: "read", input: { path: join(folder.path, "a.txt") } };
    return body.includes("tool_result") ? { text: "It says hello." } : { text: "Looking.", calls: [call] };
  });
  env = { ANTHROPIC_API_KEY: "dummy", ANTHROPIC_BASE_URL: models.baseUrl("anthropic"), HOME: folder.path };
  options = {
    model: MODEL,
    openModel: (given) => openModel(given, { env }),
    tools: codingTools({ cwd: folder.path, env }),
    permission: () => "allow",
    instructions: false,
  };
  holdfast = await openHoldfast({ store });
  const open = (space: Holdfast): Agent => new Agent(space, options);
  served = await serve({ holdfast, agents: { loop: { open } }, cwd: folder.path });
  client = served.client(await served.token("write"), "patient");
});

afterAll(async () => {
  await served.handler.drain(0);
  await served[Symbol.asyncDispose]();
  await models.close();
  folder[Symbol.dispose]();
});

async function cli(...args: readonly string[]): Promise<readonly object[]> {
  const { status, out, err } = await holdfastHere(store, args, { env });
  expect([args[0], status, err]).toEqual([args[0], 0, expect.any(String)]);
  return args.includes("--json") ? jsonLines(out) : [];
}

/** What is known of a conversation, without the ids and times that every log has of its own. */
interface State {
  readonly context: readonly { readonly role: string; readonly content: unknown }[];
  readonly model: string | null;
  readonly title: string | null;
  /** By the place of the node among the messages. */
  readonly labels: readonly (readonly [number, string])[];
  readonly usage: { readonly outputTokens: number; readonly models: readonly string[] };
  readonly effects: readonly object[];
  readonly head: { readonly leaf: string; readonly branches: number; readonly turn: string };
  readonly runs: { readonly steps: number; readonly prompts: number; readonly statuses: readonly string[] };
}

async function stateOf(id: string): Promise<State> {
  const conversation = await holdfast.conversation(id);
  const [{ messages, model }, head] = [await conversation.context(), await conversation.head()];
  const { nodes } = await conversation.tree();
  const said = nodes.filter(({ entry }) => entry.type === "message");
  const usage = await conversation.usage();
  const runs = await conversation.runs();
  const leaf = await conversation.entry(head.leaf.id);
  return {
    context: messages.map(({ role, content }) => ({ role, content })),
    model,
    title: head.title,
    labels: said.flatMap(({ label }, at) => (label === null ? [] : [[at, label] as const])),
    usage: { outputTokens: usage.outputTokens, models: Object.keys(usage.byModel) },
    effects: (await conversation.effects()).map(({ call, name, state }) => ({ call, name, state })),
    head: {
      leaf: leaf.type === "message" ? leaf.message.role : leaf.type,
      branches: head.summary?.branches ?? 0,
      turn: head.summary?.turn?.state === "ended" ? head.summary.turn.outcome : "open",
    },
    runs: {
      steps: runs.reduce((sum, { steps }) => sum + steps, 0),
      prompts: runs.reduce((sum, { prompts }) => sum + prompts, 0),
      statuses: [...new Set(runs.map(({ status }) => status))],
    },
  };
}

async function lastMessage(id: string): Promise<string> {
  return (await (await holdfast.conversation(id)).head()).leaf.id;
}

async function marked(id: string): Promise<string> {
  const conversation = await holdfast.conversation(id);
  await conversation.title(TITLE);
  await conversation.label(await lastMessage(id), LABEL);
  return id;
}

/** Each door tells the story in a conversation of its own, and marks it where it can. */
const DOORS: { readonly [door: string]: () => Promise<string> } = {
  async library() {
    await using agent = new Agent(holdfast, options);
    await holdfast.create({ id: "by-library", cwd: folder.path });
    for (const words of PROMPTS) await agent.send("by-library", words);
    return marked("by-library");
  },
  async pool() {
    await using agent = new Agent(holdfast, { ...options, pool: { mode: "hybrid" } });
    await holdfast.create({ id: "by-pool", cwd: folder.path });
    await agent.pool.with("by-pool", async (chat) => {
      for (const words of PROMPTS) await chat.send(words);
    });
    return marked("by-pool");
  },
  async "command line"() {
    await cli("new", "--id", "by-cli", "--cwd", folder.path);
    for (const words of PROMPTS) await cli("chat", "by-cli", "-p", words, "--model", MODEL, "--no-memory");
    await cli("title", "by-cli", TITLE);
    await cli("label", `by-cli@${await lastMessage("by-cli")}`, LABEL);
    return "by-cli";
  },
  async http() {
    const { conversation } = await client.createConversation({ id: "by-http" });
    for (const content of PROMPTS)
      await Array.fromAsync(client.turnEvents(await client.send({ conversation, content })));
    await client.setTitle({ conversation, title: TITLE });
    const { leaf } = await client.getConversation({ conversation });
    await client.setLabel({ conversation, entry: leaf, label: LABEL });
    return conversation;
  },
  async acp() {
    await using editor = await openLoop(holdfast, options);
    const id = await editor.begin(folder.path);
    for (const words of PROMPTS) await editor.prompt(id, words);
    return marked(id);
  },
  async replay() {
    const [result] = await replay(
      holdfast,
      { conversation: "by-library" },
      {
        models: [MODEL],
        agent: options,
        tools: "recorded",
      },
    );
    expect([result?.outcome, result?.divergence]).toEqual(["completed", null]);
    return marked(result?.conversation ?? "");
  },
};

test("the same story leaves the same state, through whichever door it was told", async () => {
  const states = new Map<string, State>();
  for (const [door, tell] of Object.entries(DOORS)) states.set(door, await stateOf(await tell()));
  const { library } = Object.fromEntries(states);
  expect(library).toMatchObject({
    model: MODEL,
    title: TITLE,
    labels: [[5, LABEL]],
    effects: [{ call: "call_read", name: "read", state: "done" }],
    head: { leaf: "assistant", branches: 1, turn: "completed" },
    runs: { steps: 3, prompts: 2, statuses: ["completed"] },
  });
  for (const [door, state] of states)
    for (const [field, value] of Object.entries(state))
      expect([door, field, value]).toEqual([door, field, library?.[field as keyof State]]);
});

test("one log is the same state, whichever door it is read through", async () => {
  const id = "by-library";
  const conversation = await holdfast.conversation(id);
  const [context, head, usage] = [
    await conversation.context(),
    await conversation.head(),
    await conversation.usage(),
  ];
  const { byModel: _, ...used } = usage;
  const runs = await conversation.runs();
  const label = (await conversation.tree()).nodes.find((node) => node.label !== null)?.entry.id;
  const said = context.messages.map(({ role, content }) => ({ role, content }));
  const known = { title: TITLE, headSeq: head.headSeq, leaf: head.leaf.id };

  const [printed] = (await cli("context", id, "--json")) as {
    messages: { role: string; content: unknown }[];
  }[];
  expect(printed?.messages.map(({ role, content }) => ({ role, content }))).toEqual(said);
  expect(await cli("ls", "--json")).toContainEqual(expect.objectContaining({ conversation: id, ...known }));
  expect(await cli("usage", id, "--json")).toMatchObject([{ total: used }]);
  expect(await cli("runs", id, "--json")).toMatchObject(
    runs.map(({ run, steps, usage: cost }) => ({ run, steps, usage: cost })),
  );
  expect(await cli("effects", id, "--json")).toMatchObject([{ effects: await conversation.effects() }]);
  const [tree] = (await cli("tree", id, "--json")) as { nodes: { id: string; label: string | null }[] }[];
  expect(tree?.nodes.find((node) => node.label === LABEL)?.id).toBe(label);

  const given = await client.getContext({ conversation: id });
  expect(given.messages.map(({ role, content }) => ({ role, content }))).toEqual(said);
  expect(await client.getConversation({ conversation: id })).toMatchObject(known);
  expect((await client.getUsage({ conversation: id })).total).toMatchObject(used);
  expect((await client.listRuns({ conversation: id })).runs).toEqual(runs);
  expect((await client.listEffects({ conversation: id })).effects).toMatchObject(
    await conversation.effects(),
  );
  const { nodes } = await client.getTree({ conversation: id });
  expect(nodes.find((node) => node.label === LABEL)?.id).toBe(label);

  await using agent = new Agent(holdfast, { ...options, pool: { mode: "hybrid" } });
  const restored = await agent.restore(id);
  const pooled = await agent.pool.with(id, async (chat) => chat.restored);
  const warm = await agent.pool.with(id, async (chat) => chat.restored);
  expect(restored.messages.map(({ role, content }) => ({ role, content }))).toEqual(said);
  expect([pooled, warm]).toEqual([restored, restored]);

  await using editor = await openLoop(holdfast, options);
  const shown = (await editor.load(id, folder.path))["restored"] as object;
  const { messages, conversation: _named, ...rest } = restored;
  expect(shown).toEqual({ ...(JSON.parse(JSON.stringify(rest)) as object), messages: messages.length });
  const words = said.filter(({ role }) => role === "assistant").flatMap(({ content }) => content);
  const texts = words.flatMap((block) => (block.type === "text" ? [block.text] : []));
  expect(editor.words()).toBe(texts.join(""));
  expect(editor.wrong).toEqual([]);
});
