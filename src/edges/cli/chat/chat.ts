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
import { withRule } from "./permission-rules.ts";
import { askPerson } from "./permission-question.ts";
import { type Ended, type Headless, runAgent, runHeadless } from "./headless.ts";
import { Printer } from "#edges/cli/terminal/printer";
import type { ChatInput } from "./chat-input.ts";
import { lastTurnText, leftText } from "./turn-text.ts";
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
      return runHeadless(call, async (at) =>
        askOnce(call, at, prompt === "-" ? await readInput(call.io.stdin) : prompt),
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
async function askOnce(call: Call, at: Headless, prompt: string): Promise<Ended> {
  if (prompt.trim() === "")
    throw new LogError("invalid_request", "-p takes the words to send, and they are empty");
  const { holdfast, conversation, opened, isNew } = await enter(call, prompt);
  at.begin(conversation);
  if (isNew && call.args.length === 0) at.remark(`A new conversation: ${conversation.id}`);
  const { agent } = await openAgent(holdfast, conversation, opened);
  const run = async (options: AgentTurnOptions): Promise<Ended> => {
    const left = await leftText(conversation);
    if (left !== null) at.remark(left);
    return agent.send(conversation, prompt, options);
  };
  return runAgent(call, at, { agent, conversation, urls: opened.urls, run });
}

async function talkHere(call: Call): Promise<number> {
  const { io } = call;
  const printer = new Printer(io.out);
  const entered = await enter(call);
  const { conversation } = entered;
  const here = new Chat(io, printer);
  try {
    if (!entered.isNew) here.input.remember(await earlierLines(conversation));
    const session = await withModel(call, entered, { printer, input: here.input });
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
  readonly opened: OpenedModel;
}

/** The conversation to go on with, or a new one; a model that cannot be asked is told before anything is made. */
async function enter(call: Call, prompt?: string): Promise<Entered> {
  turnFlags(call);
  const holdfast = await call.open();
  const [id] = call.args;
  const found = await find(holdfast, id);
  const words = ["holdfast chat", ...(found === null ? call.args : [found.id])];
  if (prompt !== undefined) words.push('-p "PROMPT"');
  const opened = await chatModel(call, found, words.join(" "));
  const named = id === undefined ? {} : { id };
  const title = prompt === undefined ? null : promptTitle(prompt);
  const titled = title === null ? {} : { title };
  const made = found === null ? await make(holdfast, { ...named, cwd: process.cwd(), ...titled }) : null;
  const conversation = found ?? made ?? (await holdfast.conversation(id ?? ""));
  return { holdfast, conversation, isNew: made !== null, opened };
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
  const said = isNew ? [] : (await conversation.branch()).filter((entry) => entry.type === "message");
  printer.say(
    isNew
      ? `A new conversation, ${id}. ${whom} /help lists more.`
      : `Conversation ${id}, ${counted(said.length, "message")}. ${whom} /help lists what may be typed.`,
  );
  printer.reminder(lastExchange(said));
}

async function withModel(
  call: Call,
  entered: Entered,
  { printer, input }: { readonly printer: Printer; readonly input: ChatInput },
): Promise<ChatSession> {
  const { holdfast, conversation, opened, isNew } = entered;
  const { agent, cwd, always } = await openAgent(holdfast, conversation, opened);
  const model = safeLine(opened.model.id);
  const tools = call.flags.has("yes")
    ? `Its tools work in ${safeLine(cwd)} and do not ask (--yes).`
    : `Its tools work in ${safeLine(cwd)} and ask before they change anything.`;
  await greet(printer, entered, `You talk to ${model}. ${tools}`);
  if (!isNew) {
    for (const { message } of (await agent.restore(conversation)).missing) printer.fault(message);
    const last = await lastTurnText(conversation);
    if (last !== null) printer.notice(last);
  }
  const person = askPerson({
    io: call.io,
    printer,
    input,
    cwd,
    always: async (rule) => {
      always.add(rule);
      await changeConfig(agent, session.conversation, (config) => withRule(config, rule));
    },
  });
  const ask = call.flags.has("yes") ? async () => "allow" as const : person;
  const session = new ChatSession(conversation, {
    holdfast,
    agent,
    printer,
    opened,
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
