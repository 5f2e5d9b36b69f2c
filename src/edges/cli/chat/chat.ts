import type { AgentTurnOptions } from "#agent/agent-options";
import type { Restored } from "#agent/restore";
import type { Conversation } from "#conversation/conversation";
import type { CreateOptions, Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import type { Host } from "#turn/host";
import type { Call, Command, Io } from "#edges/cli/command";
import { failureOf, STATUS } from "#edges/cli/exit";
import { safeLine } from "#edges/cli/terminal/terminal";
import { isHeld } from "#edges/cli/view/list-view";
import {
  AGENT_FLAGS,
  AGENT_FLAGS_ABOUT,
  openAgent,
  openChosenModel,
  type OpenedModel,
  turnFlags,
} from "./agent-flags.ts";
import { AgentSession, titleOf } from "./agent-session.ts";
import type { ChatParts, ChatSession } from "./chat-session.ts";
import { type Ended, type Headless, runAgent, runHeadless } from "./headless.ts";
import { Printer } from "#edges/cli/terminal/printer";
import { questionText } from "./question-text.ts";
import { SimSession } from "./sim-session.ts";
import { runSlashCommand } from "./slash-commands.ts";
import { TypedLines } from "./typed-lines.ts";
import { whenFree } from "./when-free.ts";

const PACE_MS = 25;

export const chat: Command = {
  name: "chat",
  summary: "Talk to a model, or to a simulated agent; the conversation survives quitting, and faults",
  usage: [
    "[ID] [--model PROVIDER/NAME] [--base-url URL] [--yes] [--pace MS]",
    '[ID] -p "PROMPT" [--model PROVIDER/NAME] [--yes] [--max-steps N] [--max-cost USD]',
  ],
  about: `Goes on with conversation ID, or begins one: under that id if none has it, else under a fresh
one. With a model, tools work in the conversation's folder, which is where it was begun: reading
and searching there is allowed, everything else asks first. Without --model the conversation's
own model is asked, and where it has none a simulated agent, which needs no key and no network
and says so. /help lists what may be typed, /quit or Ctrl-D ends. Ctrl-C stops the running turn;
a second one quits. Whatever was said is kept, also when the process is killed.

${AGENT_FLAGS_ABOUT}
  -p PROMPT              sends one prompt and prints the answer; with --json one event to a line,
                         the last of type "ended". What would ask is refused, unless --yes.
                         Exits with 0 when the turn completed, 5 at a limit or overload, 2 when
                         something is missing or wrong in the call, else with 1
  --pace MS              of the simulated agent, between two pieces of an answer: 25 on a
                         terminal, else 0

Keys are read where the providers' packages look for them: ANTHROPIC_API_KEY, OPENAI_API_KEY,
GOOGLE_GENERATIVE_AI_API_KEY; ANTHROPIC_BASE_URL and OPENAI_BASE_URL with their /v1.
Works with piped input too: each line waits for the one before it, but /cancel does not.`,
  examples: [
    "holdfast chat",
    "holdfast chat party --model anthropic/claude-sonnet-5-5",
    'holdfast chat report -p "Summarise the README" --model openai/gpt-5 --json',
    "printf 'remember a=1\\nrecall a\\n' | holdfast chat demo",
  ],
  options: { ...AGENT_FLAGS, prompt: { type: "string", short: "p" }, pace: { type: "string" } },
  writes: true,
  arity: [0, 1],
  async run(call) {
    const prompt = call.flags.text("prompt");
    if (prompt !== undefined) return runHeadless(call, (at) => askOnce(call, at, prompt));
    if (call.json)
      throw new LogError(
        "invalid_request",
        "chat is for people; for scripts there is -p PROMPT, and `holdfast log ID -f --json` follows a conversation",
      );
    return talkHere(call);
  },
};

/** One prompt for a script. */
async function askOnce(call: Call, at: Headless, prompt: string): Promise<Ended> {
  if (prompt.trim() === "")
    throw new LogError("invalid_request", "-p takes the words to send, and they are empty");
  const { holdfast, conversation, opened, isNew } = await enter(call, prompt);
  at.begin(conversation);
  if (isNew && call.args.length === 0) at.remark(`A new conversation: ${conversation.id}`);
  if (opened === null) {
    at.remark("No model was named, so the simulated agent answers; --model PROVIDER/NAME asks one.");
    const session = new SimSession(holdfast, conversation.id, { paceMs: 0 });
    at.signal.addEventListener("abort", () => session.cancel());
    return whenFree(conversation, { signal: at.signal, onWait: at.remark }, () =>
      session.ask(prompt, at.host),
    );
  }
  const { agent } = await openAgent(holdfast, conversation, opened);
  const run = (options: AgentTurnOptions): Promise<Ended> => agent.send(conversation, prompt, options);
  return runAgent(call, at, { agent, conversation, run });
}

async function talkHere(call: Call): Promise<number> {
  const { out } = call.io;
  const printer = new Printer(out);
  const typed = new TypedLines();
  const entered = await enter(call);
  const session =
    entered.opened === null
      ? await simulated(call, entered, printer)
      : await withModel(call, { ...entered, opened: entered.opened }, { printer, typed });
  const status = await runChat(call, { session, printer, out }, typed);
  printer.say(`\nEverything is kept. → holdfast chat ${safeLine(session.conversation.id)}`);
  return status;
}

interface Entered {
  readonly holdfast: Holdfast;
  readonly conversation: Conversation;
  readonly isNew: boolean;
  readonly opened: OpenedModel | null;
}

/** The conversation to go on with, or a new one; a model that cannot be asked is told before anything is made. */
async function enter(call: Call, prompt?: string): Promise<Entered> {
  turnFlags(call);
  const holdfast = await call.open();
  const [id] = call.args;
  const found = await find(holdfast, id);
  const opened = await openChosenModel(call, found);
  const named = id === undefined ? {} : { id };
  const where = opened === null ? {} : { cwd: process.cwd() };
  const title = opened === null || prompt === undefined ? {} : { title: titleOf(prompt) };
  const made = found === null ? await make(holdfast, { ...named, ...where, ...title }) : null;
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
  const messages = isNew ? [] : (await conversation.branch()).filter((entry) => entry.type === "message");
  printer.say(
    isNew
      ? `A new conversation, ${id}. ${whom} /help lists more.`
      : `Conversation ${id}, ${messages.length} messages. ${whom} /help lists what may be typed.`,
  );
}

async function simulated(call: Call, entered: Entered, printer: Printer): Promise<SimSession> {
  const { holdfast, conversation, isNew } = entered;
  const whom = isNew
    ? 'The agent is simulated: try "remember color=blue", then "recall color"; --model PROVIDER/NAME talks to a model.'
    : "The simulated agent lost its own sessions when the last chat ended; your next message restores the conversation from the log.";
  await greet(printer, entered, whom);
  const paceMs = call.flags.count("pace") ?? (call.io.out.isTerminal ? PACE_MS : 0);
  return new SimSession(holdfast, conversation.id, { printer, paceMs });
}

async function withModel(
  call: Call,
  entered: Entered & { readonly opened: OpenedModel },
  { printer, typed }: { readonly printer: Printer; readonly typed: TypedLines },
): Promise<AgentSession> {
  const { holdfast, conversation, opened, isNew } = entered;
  const { agent, cwd } = await openAgent(holdfast, conversation, opened);
  const model = safeLine(opened.model.id);
  const tools = call.flags.has("yes")
    ? `Its tools work in ${safeLine(cwd)} and do not ask (--yes).`
    : `Its tools work in ${safeLine(cwd)} and ask before they change anything.`;
  await greet(printer, entered, `You talk to ${model}. ${tools}`);
  if (!isNew) await tellOpen(printer, await agent.restore(conversation));
  const ask = call.flags.has("yes") ? async () => "allow" as const : askPerson(call.io, printer, typed);
  return new AgentSession(conversation, { agent, printer, opened, turn: turnFlags(call), ask, isNew });
}

/** What a person who comes back should know before they say anything. */
async function tellOpen(printer: Printer, { missing, openTurn, waiting }: Restored): Promise<void> {
  for (const { message } of missing) printer.fault(message);
  const [first] = waiting;
  if (first !== undefined)
    printer.notice(`The last turn waits for your answer about ${first.tool}; /continue asks you again.`);
  else if (openTurn !== null && (await isHeld(openTurn.lease, Date.now())))
    printer.notice("The last turn still runs in another process; what you say waits for its end.");
  else if (openTurn !== null)
    printer.notice("The last turn was cut off before its end; /continue goes on with it.");
}

/** Asks at the keyboard. Whoever leaves without an answer finds the question again. */
function askPerson(io: Io, printer: Printer, typed: TypedLines): NonNullable<Host["onPermission"]> {
  return async ({ tool, input }, signal) => {
    printer.question(questionText(tool, input));
    for (;;) {
      await io.out.write(io.stdinIsTerminal ? io.out.style.cyan("Allow it? [y/n] ") : "");
      const line = io.stdinIsTerminal ? await typed.answer(signal) : await typed.next(signal);
      if (line === null) {
        await io.out.write(io.stdinIsTerminal ? "\n" : "");
        return "later";
      }
      if (!io.stdinIsTerminal) printer.you(line);
      if (/^y(?:es)?$/i.test(line.trim())) return "allow";
      if (/^no?$/i.test(line.trim())) return "deny";
      printer.notice("Please answer y or n; Ctrl-C stops the turn, Ctrl-D leaves the question for later.");
    }
  };
}

/** Takes line after line until there are no more. Scripts learn from the status that something was refused. */
async function runChat({ io }: Call, parts: ChatParts, typed: TypedLines): Promise<number> {
  const { session, printer } = parts;
  typed.read(io.stdin, (line) => line.trim() === "/cancel" && session.cancel()).catch(() => typed.close());
  const turn = new RunningTurn(session);
  // Ctrl-C stops the running turn; one while nothing runs, or a second one in the same turn, quits.
  const onInterrupt = (): void =>
    io.catchInterrupt().addEventListener("abort", () => {
      if (turn.interrupt()) return onInterrupt();
      typed.close();
      void io.catchInterrupt(); // whoever is impatient does not cut off the leaving
    });
  onInterrupt();
  let status: number = STATUS.ok;
  for (;;) {
    // Fails when nobody reads any more.
    await io.out.write(io.stdinIsTerminal ? io.out.style.cyan("> ") : "");
    const line = (await typed.next())?.trim() ?? null;
    if (line === null || line === "/quit" || line === "/exit") return status;
    if (line === "") continue;
    if (!io.stdinIsTerminal) printer.you(line);
    try {
      turn.begin();
      await (line.startsWith("/") ? runSlashCommand(parts, line) : session.send(line));
    } catch (error) {
      if (!isLogError(error)) throw error;
      const failure = failureOf(error);
      printer.fault([failure.message, failure.next].filter(Boolean).join(". "));
      if (!io.stdinIsTerminal && status === STATUS.ok) ({ status } = failure);
    }
  }
}

/** A turn is stopped once: whoever asks again wants to leave. */
class RunningTurn {
  readonly #session: ChatSession;
  #interrupted: boolean = false;

  constructor(session: ChatSession) {
    this.#session = session;
  }

  begin(): void {
    this.#interrupted = false;
  }

  interrupt(): boolean {
    if (this.#interrupted || !this.#session.cancel()) return false;
    this.#interrupted = true;
    return true;
  }
}
