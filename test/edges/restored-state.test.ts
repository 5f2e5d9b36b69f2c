/** One conversation, restored through the library, the command line and the editor's protocol: the same in every field. */
import type { Tool } from "#turn/effects/tool";
import { realpathSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { Agent, Memory } from "#agent/index";
import type { AgentOptions } from "#agent/agent-options";
import { openHoldfast } from "#open";
import { ScriptedModel } from "../agent/scripted-model.ts";
import { tempDir } from "../support/temp-dir.ts";
import { runHere } from "./cli/cli-here.ts";
import { type Fields, fieldsOf } from "../support/scripted-agent/wire.ts";
import { openLoop } from "./acp/loop-editor.ts";

const look: Tool = {
  name: "look",
  effect: "none",
  run: async () => ({ content: "seen", state: { seen: 1 } }),
};
const mail: Tool = { name: "mail", run: async () => "sent" };

/** A conversation with everything in it: tools, skills, state, a model, words that wait, an open turn, a question. */
async function fill(store: string, cwd: string, options: AgentOptions): Promise<void> {
  await using holdfast = await openHoldfast({ store });
  const chat = await holdfast.create({ id: "chat", cwd });
  await chat.append([
    { type: "skill_change", skills: [{ name: "review" }] },
    { type: "config_change", config: { tone: "short" } },
  ]);
  const memory = new Memory(holdfast);
  await memory.save("user", { title: "Language", content: "German" });
  await using agent = new Agent(holdfast, { ...options, memory });
  await agent.send(chat, "look around");
  const { project } = (await agent.restore(chat)).memory ?? {};
  await memory.save({ project: project?.id ?? "" }, { title: "Build", content: "make" });
  await agent.steer(chat, "and be quick", { when: "run" });
  await agent.send(chat, "mail bob");
  await agent.steer(chat, "tell me after", { when: "turn" });
}

test("messages, model, settings, skills, state, folder, queue, open turn, questions, memory and what is missing", async () => {
  using dir = tempDir();
  const store = `sqlite:${join(dir.path, "h.db")}`;
  const model = new ScriptedModel([
    { text: "Looking", calls: [{ id: "l", name: "look", input: { at: "it" } }] },
    { text: "Seen" },
    { text: "Mailing", calls: [{ id: "m", name: "mail", input: { to: "bob" } }] },
  ]);
  const options: AgentOptions = { model, tools: [look, mail], instructions: false };
  await fill(store, dir.path, options);

  await using holdfast = await openHoldfast({ store });
  const fewer: AgentOptions = { ...options, tools: [mail], memory: new Memory(holdfast) };
  await using agent = new Agent(holdfast, fewer);
  const { messages, conversation, ...library } = await agent.restore("chat");
  expect(library).toMatchObject({
    model: "scripted/one",
    config: { tone: "short" },
    skills: [{ name: "review" }],
    state: { seen: 1 },
    cwd: dir.path,
    queue: [{ when: "turn" }],
    openTurn: { conversation: "chat" },
    waiting: [{ call: "m", tool: "mail", input: { to: "bob" } }],
    memory: { ofUser: 1, ofProject: 1, project: { root: realpathSync(dir.path) } },
    missing: [
      { kind: "tool", name: "look" },
      { kind: "skill", name: "review" },
    ],
  });

  const cli = await runHere(store, ["context", "chat", "--restore", "--json"]);
  const {
    schemaVersion: _,
    compaction,
    messages: printed,
    conversation: named,
    ...told
  } = JSON.parse(cli.out);
  expect([named, compaction]).toEqual([conversation, null]);
  // Which tools and models there are is for the host to know; the command line has none of its own.
  expect({ ...told, missing: library.missing }).toEqual(plain(library));
  expect(printed).toEqual(plain(messages.map(({ entryId, model: by, ...message }) => message)));

  const { out } = await runHere(store, ["context", "chat", "--restore"]);
  const values = ["short", "review", '"seen":1', dir.path, "tell me after", "mail", "bob", "German", "make"];
  expect(values.filter((value) => !out.includes(value))).toEqual([]);

  await using editor = await openLoop(holdfast, fewer);
  const restored = fieldsOf((await editor.load("chat", dir.path))["restored"]);
  expect(restored).toEqual({ ...plain(library), messages: messages.length });
  await editor.until(() => editor.of("notice").length > 0);
  expect(shownBy(editor.updates.map((update) => fieldsOf(update)))).toEqual(saidIn(plain(messages)));
  expect(editor.wrong).toEqual([]);
  expect(model.asked).toHaveLength(3);
});

function plain<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

/** What an editor was shown of the history: words by who said them, calls with their input and result. */
function shownBy(updates: readonly Fields[]): readonly unknown[] {
  return updates.flatMap((update) => {
    const { sessionUpdate, content, toolCallId, rawInput, status } = update;
    if (sessionUpdate === "user_message_chunk") return [["user", fieldsOf(content)["text"]]];
    if (sessionUpdate === "agent_message_chunk") return [["assistant", fieldsOf(content)["text"]]];
    return sessionUpdate === "tool_call" ? [[toolCallId, rawInput, status]] : [];
  });
}

function saidIn(
  messages: readonly { role: string; content: readonly unknown[]; toolCallId?: string; isError?: boolean }[],
): readonly unknown[] {
  const results = new Map(messages.map((message) => [message.toolCallId, message]));
  return messages.flatMap(({ role, content }) =>
    role === "toolResult"
      ? []
      : content.map((given) => {
          const block = fieldsOf(given);
          if (block["type"] === "text") return [role, block["text"]];
          const failed = results.get(String(block["id"]))?.isError === true;
          return [block["id"], block["input"], failed ? "failed" : "completed"];
        }),
  );
}
