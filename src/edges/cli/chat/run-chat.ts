import { LogError, isLogError } from "#log/errors";
import type { Io, Sink } from "#edges/cli/command";
import { STATUS, failureOf } from "#edges/cli/exit";
import { describeError } from "#operations/views/error-steps";
import type { Printer } from "#edges/cli/terminal/printer";
import type { ChatSession } from "./chat-session.ts";
import { type ChatInput, chatInput } from "./chat-input.ts";
import type { EntryId } from "#log/ids";
import { NOT_UNDONE } from "#operations/text";
import { findEntry } from "#edges/cli/address";
import { fit, safeLine, safeText } from "#edges/cli/terminal/terminal";
import { blockPreview } from "#transfer/views/entry-preview";
import { filterTree } from "#edges/cli/commands/tree";
import { treeRows } from "#edges/cli/commands/tree";

export interface ChatParts {
  readonly session: ChatSession;
  readonly printer: Printer;
  readonly out: Sink;
}

/** One chat: who types, what runs, and how it is left. */
export class Chat {
  readonly input: ChatInput;
  readonly #io: Io;
  readonly #printer: Printer;
  readonly #turn = new RunningTurn();
  #status: number = STATUS.ok;
  /** Ctrl-C was pressed with nothing to stop: once more leaves. */
  #leavesNext: boolean = false;

  constructor(io: Io, printer: Printer) {
    this.#io = io;
    this.#printer = printer;
    this.input = chatInput(io, {
      first: (line) => line.trim() === "/cancel" && this.#turn.cancel(),
      queueLine: (line) => printer.next(line),
      unsent: (line) => printer.notice(`Not sent, the arrow up brings it back: ${line}`),
      interrupt: (hadText) => this.#onInterrupt(hadText),
    });
    this.#listen();
  }

  /** Takes line after line until there are no more. Scripts learn from the status that something was refused. */
  async run(parts: ChatParts): Promise<number> {
    this.#turn.session = parts.session;
    for (;;) {
      const typed = await this.input.next();
      const line = typed?.text.trim() ?? null;
      if (typed === null || line === null || line === "/quit" || line === "/exit") break;
      this.#leavesNext = false;
      if (line === "") continue;
      if (typed.isUnseen) this.#printer.you(line);
      await this.#carryOut(parts, line);
    }
    this.close();
    return this.#status;
  }

  /** The terminal is as it was before. */
  close(): void {
    this.input.close();
  }

  /** What was typed ahead and is not sent is told. */
  #leave(): void {
    const pendingLines = this.input.close().filter((line) => line.trim() !== "");
    for (const line of pendingLines) this.#printer.fault(`Not sent: ${line}`);
    if (pendingLines.length > 0 && this.#status === STATUS.ok) this.#status = STATUS.unexpected;
  }

  async #carryOut(parts: ChatParts, line: string): Promise<void> {
    this.#turn.begin();
    try {
      if (line.startsWith("//")) await parts.session.send(line.slice(1));
      else await (line.startsWith("/") ? runSlashCommand(parts, line) : parts.session.send(line));
    } catch (error) {
      if (!isLogError(error)) throw error;
      const failure = failureOf(error);
      const next = failure.next.replaceAll(/`holdfast tree \S+`/g, "/tree");
      this.#printer.fault([describeError(failure), next].filter(Boolean).join(" "));
      if (!this.#io.stdinIsTerminal && this.#status === STATUS.ok) this.#status = failure.status;
    } finally {
      this.#turn.end();
      if (this.#turn.isClosed && !this.#io.stdinIsTerminal) this.#status = STATUS.unexpected;
    }
  }

  /** Ctrl-C as a signal, as in a pipe, or from outside. The other signals end the chat: nobody is there to press twice. */
  #listen(): void {
    const signal = this.#io.catchInterrupt();
    signal.addEventListener("abort", () => {
      this.#listen(); // whoever is impatient does not cut off the leaving
      if (signal.reason !== "SIGINT") return this.#quit();
      if (!this.#onInterrupt(false)) this.#leave();
    });
  }

  /** True when the chat goes on. */
  #onInterrupt(hadText: boolean): boolean {
    if (this.#turn.isRunning) {
      if (this.#turn.interrupt()) return true;
      this.#leave();
      return false;
    }
    if (this.#io.keyboard === undefined) return false;
    if (hadText) return true;
    if (this.#leavesNext) {
      this.#leave();
      return false;
    }
    this.#leavesNext = true;
    this.#printer.notice("Ctrl-C again leaves; so does Ctrl-D.");
    return true;
  }

  /** What came is kept, and a question stays open for whoever comes next. */
  #quit(): void {
    if (this.#turn.isRunning) this.#status = STATUS.unexpected;
    this.#turn.leave();
    this.#leave();
  }
}

/** A turn is stopped once: whoever asks again wants to leave. */
class RunningTurn {
  session: ChatSession | null = null;
  isRunning: boolean = false;
  #isInterrupted: boolean = false;

  begin(): void {
    this.isRunning = true;
    this.#isInterrupted = false;
  }

  end(): void {
    this.isRunning = false;
  }

  /** Its last turn waits for an answer. */
  get isClosed(): boolean {
    return this.session?.isWaiting === true;
  }

  cancel(): boolean {
    return this.session?.cancel() === true;
  }

  interrupt(): boolean {
    if (this.#isInterrupted || !this.cancel()) return false;
    this.#isInterrupted = true;
    return true;
  }

  /** A question that is open ends the turn by itself; everything else is stopped. */
  leave(): void {
    if (this.session?.isAsking !== true) this.cancel();
  }
}

const ENTRY_CHARS_MIN = 4; // a shorter word is more likely a word than the start of an id

const WORDS_SHOWN = 60; // of a message that another takes the place of

const COMMANDS_HELP = `  /edit [ENTRY] TEXT   replace a message of yours (default: the last one);
                       /edit, /fork and /goto don't undo file changes or side effects
  /fork [ENTRY]        continue in a fork; at a message of yours: from before it
  /goto ENTRY          move to another entry; /tree lists them
  /tree                the branches
  /new                 clear the context; the history stays readable
  /cancel              stop the running turn, like Ctrl-C`;

type SlashCommand = (chat: ChatParts, rest: string) => Promise<void> | void;

const SLASH_COMMANDS: { readonly [name: string]: SlashCommand } = {
  edit,
  fork: async ({ session, printer }, rest) => {
    const source = session.conversation.id;
    const forked = await session.fork(rest === "" ? null : await findNamed(session, rest));
    session.conversation = forked.conversation;
    printer.notice(
      `Now in ${forked.conversation.id}, a fork of ${source}: ${forked.note}. The source did not change. ${NOT_UNDONE}`,
    );
    if (forked.editable !== null)
      printer.notice(`Send this message again, or change it: ${forked.editable.map(blockPreview).join(" ")}`);
  },
  goto: async ({ session, printer }, rest) => {
    if (rest === "")
      throw new LogError("invalid_request", "Missing entry. Use /goto ENTRY; /tree lists entries.");
    const entry = await findNamed(session, rest);
    const { note } = await session.goTo(entry);
    printer.notice(`Now at ${entry}. New messages continue from here, and ${note}. ${NOT_UNDONE}`);
  },
  tree: async ({ session, out }) => {
    const { leaf, nodes } = await session.conversation.tree();
    for (const row of treeRows(filterTree(nodes, "all"), leaf, out)) await out.write(`${row}\n`);
  },
  new: async ({ session, printer }) => {
    await session.newChat();
    printer.notice("A fresh start: nothing above reaches the agent. It stays readable with /tree.");
  },
  cancel: ({ session, printer }) => {
    if (!session.cancel()) printer.notice("Nothing is running.");
  },
  help: ({ session, out }) =>
    out.write(
      `What you type goes to the model. Lines that you type while it works wait in a queue.\nCommands:\n${COMMANDS_HELP}\n${session.help}\n  /help  /quit\n`,
    ),
};

/** Carries out a line that begins with "/". */
async function runSlashCommand(chat: ChatParts, line: string): Promise<void> {
  const [, name = "", rest = ""] = /^\/(\S*)(\s[\s\S]*)?$/.exec(line) ?? [];
  const { commands } = chat.session;
  const run = Object.hasOwn(commands, name) ? commands[name] : undefined;
  if (run !== undefined) return run(rest.trim());
  const slashCommand = Object.hasOwn(SLASH_COMMANDS, name) ? SLASH_COMMANDS[name] : undefined;
  if (slashCommand === undefined)
    throw new LogError(
      "invalid_request",
      `Unknown command /${safeText(name)}. /help lists commands. Start a message with two slashes to send one.`,
    );
  await slashCommand(chat, rest.trim());
}

/** Other words in place of a message of the person's; the last one unless told. */
async function edit({ session, printer }: ChatParts, rest: string): Promise<void> {
  const { conversation } = session;
  const { entry, text } = await entryAndText(session, rest);
  if (text === "") throw new LogError("invalid_request", "/edit wants the new words: /edit [ENTRY] TEXT");
  const mine = (await conversation.branch()).findLast(
    (one) => one.type === "message" && one.message.role === "user",
  );
  const target = entry ?? mine?.id;
  if (target === undefined) throw new LogError("invalid_request", "There is nothing to edit yet");
  const prompt = await conversation.entry(target);
  if (prompt.type !== "message" || prompt.message.role !== "user")
    throw new LogError("invalid_request", `${target} is not a message of yours`);
  const { note } = await session.goBackTo(prompt.id);
  const before = fit(safeLine(prompt.message.content.map(blockPreview).join(" ")), WORDS_SHOWN);
  printer.notice(
    `Replaced "${before}". Later messages are not on this branch but stay in the log; ${note}. ${NOT_UNDONE}`,
  );
  await session.send(text);
}

/** As the tree shows it, with or without the "@" of an address. */
function findNamed({ conversation }: ChatSession, text: string): Promise<EntryId> {
  return findEntry(conversation, text.replace(/^@/, ""));
}

/** The first word is an entry when it names one and more words follow. */
async function entryAndText(
  session: ChatSession,
  rest: string,
): Promise<{ readonly entry: EntryId | null; readonly text: string }> {
  const [, word = "", text = ""] = /^@?(\S+)\s([\s\S]*)$/.exec(rest) ?? [];
  const marked = rest.startsWith("@");
  if (text === "" || (word.length < ENTRY_CHARS_MIN && !marked)) return { entry: null, text: rest };
  try {
    return { entry: await findNamed(session, word), text: text.trimStart() };
  } catch (error) {
    if (!isLogError(error, "entry_not_found") || marked) throw error;
    return { entry: null, text: rest };
  }
}
