import { textOfBlocks, isInternal } from "#log/message";
import type { AgentTurnOptions } from "#agent/agent-options";
import type { Conversation } from "#conversation/conversation";
import type { CreateOptions, Holdfast } from "#conversation/holdfast";
import { LogError, isLogError } from "#log/errors";
import { promptTitle } from "#log/title";
import type { Call, Command } from "#edges/cli/command";
import { counted, fit, safeLine } from "#edges/cli/terminal/terminal";
import {
  AGENT_FLAGS,
  AGENT_FLAGS_ABOUT,
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
  summary: "Talk to a model, in a conversation that survives quitting and faults",
  usage: [
    "[ID] [--model PROVIDER/NAME] [--base-url URL] [--yes] [--max-steps N] [--max-cost USD]",
    '[ID] -p "PROMPT" [--model PROVIDER/NAME] [--yes] [--max-steps N] [--max-cost USD] [--json]',
  ],
  about: `Goes on with conversation ID, or begins one: under that id if none has it, else under a fresh
one. With a model, tools work in the conversation's folder, which is where it was begun: reading
and searching there is allowed, everything else asks first. Without --model the conversation's
own model is asked; where it has none, --model is required. /help lists what may be typed, /quit or Ctrl-D ends. Ctrl-C stops the running turn,
clears a line that is half typed, and pressed twice leaves. At a terminal lines are edited, the
arrow keys bring earlier ones back, and a line goes on behind a backslash, Alt-Enter or Ctrl-J, or
when it is pasted. Whatever was said is kept, also when the process is killed.

${AGENT_FLAGS_ABOUT}
  -p PROMPT              sends one prompt and prints the answer; -p - reads it from standard input;
                         with --json one event to a line, the last of type "ended". What would ask is refused, unless --yes.
                         Exits with 0 when the turn completed, 7 when it completed but a tool call was
                         denied, 5 at a limit or overload, 2 when something is missing or wrong in the
                         call, else with 1

Keys are read where the providers' packages look for them: ANTHROPIC_API_KEY, OPENAI_API_KEY,
GOOGLE_GENERATIVE_AI_API_KEY; ANTHROPIC_BASE_URL and OPENAI_BASE_URL with their /v1.
OPENAI_COMPATIBLE_API_KEY and OPENAI_COMPATIBLE_BASE_URL for openai-compatible.
Works with piped input too: each line waits for the one before it, but /cancel does not. There
only y, n or a answers a question; before any other line the call is refused.`,
  examples: [
    "holdfast chat --model sim",
    "holdfast chat party --model anthropic/claude-sonnet-5-5",
    'holdfast chat report -p "Summarise the README" --model openai/gpt-5 --json',
    "printf 'remember a=1\\nrecall a\\n' | holdfast chat demo --model sim",
  ],
  options: {
    ...AGENT_FLAGS,
    prompt: { type: "string", short: "p" },
  },
  writes: true,
  arity: [0, 1],
  async run(call) {
    const prompt = call.flags.text("prompt");
    if (prompt !== undefined)
      return runHeadless(call, async (output) =>
        askOnce(call, output, prompt === "-" ? await readInput(call.io.stdin) : prompt),
      );
    if (call.json)
      throw new LogError(
        "invalid_request",
        "chat is for people; for scripts there is -p PROMPT, and `holdfast log ID -f --json` follows a conversation",
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
  if (prompt.trim() === "")
    throw new LogError("invalid_request", "-p takes the words to send, and they are empty");
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
  const tools = call.flags.has("yes")
    ? `Its tools work in ${safeLine(cwd)} and do not ask (--yes).`
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
  const ask = call.flags.has("yes") ? async () => "allow" as const : permissions;
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
