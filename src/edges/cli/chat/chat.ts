import { textOfBlocks, isInternal } from "#log/message";
import type { AgentTurnOptions } from "#agent/agent-options";
import type { Conversation } from "#conversation/conversation";
import type { CreateOptions, Holdfast } from "#conversation/holdfast";
import { LogError, isLogError } from "#log/errors";
import { promptTitle } from "#log/title";
import type { Call, Command } from "#edges/cli/command";
import { counted, fit, safeLine } from "#edges/cli/terminal/terminal";
import {
  AGENT_OPTIONS,
  type OpenedModel,
  changeConfig,
  chatModel,
  openAgent,
  turnFlags,
} from "./agent-flags.ts";
import { ChatSession } from "./chat-session.ts";
import { withRule } from "./permission-question.ts";
import { askPerson } from "./permission-question.ts";
import { type Ended, type Headless, runAgent, runHeadless } from "./headless.ts";
import { Printer } from "#edges/cli/terminal/printer";
import type { ChatInput } from "./chat-input.ts";
import { lastTurnText, abandonedText } from "./turn-text.ts";
import { Chat } from "./run-chat.ts";
import type { Entry, EntryOf } from "#log/entry";

export const chat: Command = {
  name: "chat",
  summary: "Chat with a model in a durable conversation",
  forms: ["[ID]"],
  about: `Opens conversation ID, or creates it. The model's tools work in the conversation's folder: they may
read and search, and ask before anything else. Type /help for commands, Ctrl-C to stop a turn,
Ctrl-D to quit. Everything is saved, also if the process is killed. Piped input works too: each
line waits for the one before it.

With -p the command sends one prompt and exits: 0 completed, 7 completed but a tool call was
denied, 9 waiting for your answer, 5 rate limit or overload, 2 usage error, 1 any other end. Tools
that need approval are denied unless you pass --allow-all. With --json each event is one line; the
last one has type "ended".

Keys: ANTHROPIC_API_KEY, OPENAI_API_KEY, GOOGLE_GENERATIVE_AI_API_KEY,
OPENAI_COMPATIBLE_API_KEY. URLs: ANTHROPIC_BASE_URL, OPENAI_BASE_URL, OPENAI_COMPATIBLE_BASE_URL,
each with its /v1.`,
  examples: [
    "holdfast chat --model sim",
    "holdfast chat party --model anthropic/claude-sonnet-5-5",
    'holdfast chat report -p "Summarize the README" --model openai/gpt-5 --json',
    "printf 'remember a=1\\nrecall a\\n' | holdfast chat demo --model sim",
  ],
  options: {
    "-p, --prompt TEXT": "send one prompt and print the answer; -p - reads it from standard input",
    ...AGENT_OPTIONS,
  },
  writes: true,
  async run(call) {
    const prompt = call.flags.text("prompt");
    if (prompt !== undefined)
      return runHeadless(call, async (output) =>
        askOnce(call, output, prompt === "-" ? await readInput(call.io.stdin) : prompt),
      );
    if (call.json)
      throw new LogError(
        "invalid_request",
        "chat has no --json without -p. Use -p PROMPT, or follow a conversation with `holdfast log ID -f --json`",
      );
    return talkHere(call);
  },
};

async function readInput(stdin: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stdin) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8").trimEnd();
}

/** One prompt for a script. */
async function askOnce(call: Call, output: Headless, prompt: string): Promise<Ended> {
  if (prompt.trim() === "") throw new LogError("invalid_request", "The prompt of -p is empty");
  const { holdfast, conversation, openedModel, isNew } = await enter(call, prompt);
  output.begin(conversation);
  if (isNew && call.args.length === 0) output.remark(`A new conversation: ${conversation.id}`);
  const { agent } = await openAgent(holdfast, conversation, openedModel);
  const run = async (options: AgentTurnOptions): Promise<Ended> => {
    const abandoned = await abandonedText(conversation);
    if (abandoned !== null) output.remark(abandoned);
    return agent.send(conversation, prompt, options);
  };
  return runAgent(call, output, { agent, conversation, urls: openedModel.urls, run });
}

async function talkHere(call: Call): Promise<number> {
  const { io } = call;
  const printer = new Printer(io.out);
  const opening = await enter(call);
  const { conversation } = opening;
  const here = new Chat(io, printer);
  try {
    if (!opening.isNew) here.input.remember(await earlierLines(conversation));
    const session = await withModel(call, opening, { printer, input: here.input });
    const status = await here.run({ session, printer, out: io.out });
    printer.say(`\nEverything is kept. → holdfast chat ${safeLine(session.conversation.id)}`);
    return status;
  } finally {
    here.close();
  }
}

/** What a person said in this conversation, oldest first. */
async function earlierLines(conversation: Conversation): Promise<readonly string[]> {
  return (await conversation.branch()).flatMap((entry) => {
    if (entry.type !== "message" || entry.message.role !== "user" || isInternal(entry)) return [];
    const text = textOfBlocks(entry.message.content);
    return text.trim() === "" ? [] : [text];
  });
}

interface Entered {
  readonly holdfast: Holdfast;
  readonly conversation: Conversation;
  readonly isNew: boolean;
  readonly openedModel: OpenedModel;
}

/** The conversation to go on with, or a new one; a model that cannot be asked is told before anything is made. */
async function enter(call: Call, prompt?: string): Promise<Entered> {
  turnFlags(call);
  const holdfast = await call.open();
  const [id] = call.args;
  const existing = await find(holdfast, id);
  const commandLine = ["holdfast chat", ...(existing === null ? call.args : [existing.id])];
  if (prompt !== undefined) commandLine.push('-p "PROMPT"');
  const openedModel = await chatModel(call, existing, commandLine.join(" "));
  const idField = id === undefined ? {} : { id };
  const title = prompt === undefined ? null : promptTitle(prompt);
  const titled = title === null ? {} : { title };
  const created =
    existing === null ? await make(holdfast, { ...idField, cwd: process.cwd(), ...titled }) : null;
  const conversation = existing ?? created ?? (await holdfast.conversation(id ?? ""));
  return { holdfast, conversation, isNew: created !== null, openedModel };
}

/** Null: somebody else has made it in the meantime. */
async function make(holdfast: Holdfast, options: CreateOptions): Promise<Conversation | null> {
  return holdfast.create(options).catch((error: unknown) => {
    if (isLogError(error, "conversation_exists")) return null;
    throw error;
  });
}

async function find(holdfast: Holdfast, name: string | undefined): Promise<Conversation | null> {
  if (name === undefined) return null;
  return holdfast.find(name).catch((error: unknown) => {
    if (isLogError(error, "conversation_not_found")) return null;
    throw error;
  });
}

async function greet(printer: Printer, { conversation, isNew }: Entered, whom: string): Promise<void> {
  const id = safeLine(conversation.id);
  const messages = isNew ? [] : (await conversation.branch()).filter((entry) => entry.type === "message");
  printer.say(
    isNew
      ? `A new conversation, ${id}. ${whom} /help lists more.`
      : `Conversation ${id}, ${counted(messages.length, "message")}. ${whom} /help lists what may be typed.`,
  );
  printer.reminder(lastExchange(messages));
}

async function withModel(
  call: Call,
  opening: Entered,
  { printer, input }: { readonly printer: Printer; readonly input: ChatInput },
): Promise<ChatSession> {
  const { holdfast, conversation, openedModel, isNew } = opening;
  const { agent, cwd, always } = await openAgent(holdfast, conversation, openedModel);
  const model = safeLine(openedModel.model.id);
  const tools = call.flags.has("allow-all")
    ? `Its tools work in ${safeLine(cwd)} and do not ask (--allow-all).`
    : `Its tools work in ${safeLine(cwd)} and ask before they change anything.`;
  await greet(printer, opening, `You talk to ${model}. ${tools}`);
  if (!isNew) {
    for (const { message } of (await agent.restore(conversation)).missing) printer.fault(message);
    const last = await lastTurnText(conversation);
    if (last !== null) printer.notice(last);
  }
  const permissions = askPerson({
    io: call.io,
    printer,
    input,
    cwd,
    always: async (rule) => {
      always.add(rule);
      await changeConfig(agent, session.conversation, (config) => withRule(config, rule));
    },
  });
  const ask = call.flags.has("allow-all") ? async () => "allow" as const : permissions;
  const session = new ChatSession(conversation, {
    holdfast,
    agent,
    printer,
    openedModel,
    turn: turnFlags(call),
    ask,
    isNew,
  });
  return session;
}

const COLUMNS = 66; // one line each, behind the label

/** What was said last, in short, for whoever comes back. */
export function lastExchange(branch: readonly Entry[]): readonly string[] {
  const last = (role: "user" | "assistant"): EntryOf<"message"> | undefined =>
    branch.findLast(
      (entry): entry is EntryOf<"message"> =>
        entry.type === "message" && entry.message.role === role && !isInternal(entry) && textOf(entry) !== "",
    );
  const rows: readonly (readonly [string, EntryOf<"message"> | undefined])[] = [
    ["you", last("user")],
    ["agent", last("assistant")],
  ];
  return rows
    .flatMap(([label, entry]) => (entry === undefined ? [] : [{ label, entry }]))
    .toSorted((one, other) => branch.indexOf(one.entry) - branch.indexOf(other.entry))
    .map(({ label, entry }) => `${label.padEnd(10)}${fit(textOf(entry), COLUMNS)}`);
}

function textOf({ message }: EntryOf<"message">): string {
  return safeLine(message.content.map((block) => (block.type === "text" ? block.text : "")).join(" "));
}
