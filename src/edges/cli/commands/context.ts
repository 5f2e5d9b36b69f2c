import { Memory } from "#agent/memory/memory";
import { type Restored, restore } from "#agent/restore";
import type { Conversation } from "#conversation/conversation";
import { LogError } from "#log/errors";
import type { SentContext } from "#log/projections/sent-context";
import { priorContextText } from "#upstream/rules/preamble";
import type { ContextMessage } from "#log/projections/pairs";
import { readAddress } from "#edges/cli/operation-command";
import type { Call, Command } from "#edges/cli/command";
import { ownSkills } from "#edges/cli/chat/own-skills";
import { contextText } from "#transfer/context-text";
import { blockPreview } from "#transfer/views/entry-preview";
import { safeLine, safeText, type Style, wrap } from "#edges/cli/terminal/terminal";

export const context: Command = {
  name: "context",
  summary: "Print what the model receives, now or at any entry",
  forms: ["ID[@ENTRY]"],
  about: `Prints the active branch as a model gets it: the latest summary in place of the messages it covers,
without hidden entries, and with exactly one result for every tool call. --json prints one object
with messages, model, leaf and settings; texts are exactly those stored. At the current entry it
also has "given": what the last agent received.`,
  examples: ["holdfast context ID", "holdfast context ID --json | jq .messages", "holdfast context ID@m3"],
  options: {
    "--restore":
      "also print what a turn resumes from: folder, settings, skills, state, MCP servers, memory, run, open turn, calls that wait for your answer, queued messages, and anything missing here",
  },
  async run(call) {
    const holdfast = await call.open({ readOnly: true });
    const { conversation: id, entry } = await readAddress(holdfast, call.args[0] ?? "");
    const conversation = await holdfast.conversation(id);
    const exact = await conversation.exactContext(entry === null ? {} : { at: entry });
    const { out } = call.io;
    if (entry !== null && call.flags.has("restore"))
      throw new LogError("invalid_request", "--restore shows the current state. Leave out @ENTRY.");
    const memory = new Memory(holdfast);
    const extras = call.flags.has("restore") ? await readRest(conversation, call, memory) : null;
    const [view, restored] = [
      { ...exact, messages: extras?.messages ?? exact.messages },
      extras?.rest ?? null,
    ];
    const { config, skills, state, given } = exact;
    if (call.json) return out.write(`${contextText(conversation.id, view, restored ?? {})}\n`);
    const model = view.model === null ? "no model chosen" : `model ${safeLine(view.model)}`;
    const compacted = view.compaction === null ? "" : " · opens with a summary";
    await out.write(
      `${out.style.dim(`${view.messages.length} messages · ${model}${compacted} · leaf ${safeLine(view.leaf)}`)}\n`,
    );
    if (given !== null) await out.write(`${out.style.dim(safeLine(sentText(given)))}\n`);
    for (const [name, lines] of restored === null ? [] : restRows({ ...restored, config, skills, state }))
      await out.write(`\n${[out.style.bold(name), ...indented(lines.join("\n"), out.columns)].join("\n")}\n`);
    for (const message of view.messages)
      await out.write(`\n${messageLines(message, out.style, out.columns)}\n`);
    for (const issue of view.issues)
      await out.write(`\n${out.style.yellow("⚠")} ${safeLine(issue.message)}\n`);
    for (const { message } of restored?.missing ?? [])
      await out.write(`\n${out.style.yellow("⚠")} ${safeLine(message)}\n`);
  },
};

type Rest = Pick<
  Restored,
  "run" | "system" | "cwd" | "servers" | "queue" | "openTurn" | "waiting" | "memory" | "missing"
>;

interface RestRead {
  /** What the model is sent: that of the run where the open turn is of one with seeds. */
  readonly messages: Restored["messages"];
  /** What a turn goes on from besides the context. */
  readonly rest: Rest;
}

async function readRest(conversation: Conversation, { io }: Call, memory: Memory): Promise<RestRead> {
  const restored = await restore(conversation, { skills: ownSkills(io.env), memory, servers: [] });
  const { messages, run, system, cwd, servers, queue, openTurn, waiting, missing } = restored;
  const rest = { run, system, cwd, servers, queue, openTurn, waiting, memory: restored.memory, missing };
  return { messages, rest };
}

/** The parts that are there, with their lines. */
function restRows(
  restored: Rest & Pick<Restored, "config" | "skills" | "state">,
): readonly (readonly [string, readonly string[]])[] {
  const { cwd, config, skills, state, run, system, memory, servers, openTurn, waiting, queue } = restored;
  const lineOf = (line: string | null): readonly string[] => (line === null ? [] : [line]);
  const rows = [
    ["folder", lineOf(cwd)],
    ["settings", Object.entries(config).map(([name, value]) => `${name} ${JSON.stringify(value)}`)],
    ["skills", skills.map(({ name }) => name)],
    ["state", lineOf(state === null ? null : JSON.stringify(state))],
    ["servers", servers.map(({ name, state: is, tools }) => [name, is, ...tools].join(" "))],
    ["memory", memory === null ? [] : memoryLines(memory)],
    ["run", lineOf(run)],
    ["system prompt", lineOf(system)],
    ["open turn", lineOf(openTurn === null ? null : `${openTurn.turn} since ${openTurn.since}`)],
    [
      "waiting for your answer",
      waiting.map((one) => `${one.tool} ${JSON.stringify(one.input)} (${one.request})`),
    ],
    ["queued messages", queue.map((one) => `${one.content.map(blockPreview).join(" ")} (${one.steer})`)],
  ] as const;
  return rows.filter(([, lines]) => lines.length > 0);
}

function memoryLines({ project, ofUser, ofProject, block }: NonNullable<Rest["memory"]>): readonly string[] {
  const suffix = project === null ? "" : `, ${ofProject} of the project ${project.root ?? project.id}`;
  return [`${ofUser} of the user${suffix}`, ...(block === null ? [] : [block])];
}

function sentText({ agent, fidelity, priorContext }: SentContext): string {
  const agentName = agent ?? "The agent";
  if (priorContext !== null) return `${agentName} was sent ${priorContextText(priorContext)}`;
  return fidelity === "transcript"
    ? `${agentName} was given the history as its own`
    : `${agentName} has the context in its own session`;
}

function messageLines(message: ContextMessage, style: Style, columns: number): string {
  const name =
    message.role === "toolResult"
      ? `result of ${message.toolName ?? message.toolCallId ?? "a call"}${message.isError === true ? " (error)" : ""}`
      : message.role;
  const lines = message.content.flatMap((block) => indented(blockPreview(block), columns));
  return [style.bold(safeLine(name)), ...lines].join("\n");
}

function indented(text: string, columns: number): readonly string[] {
  return wrap(safeText(text), Math.max(20, columns - 2)).map((line) => `  ${line}`.trimEnd());
}
