import { createInterface } from "node:readline";
import { Readable } from "node:stream";
import type { Holdfast } from "#conversation/holdfast";
import { isLogError, LogError } from "#log/errors";
import type { ConversationId } from "#log/ids";
import type { Call, Command } from "#edges/cli/command";
import { failureOf, STATUS } from "#edges/cli/exit";
import { safeLine } from "#edges/cli/terminal/terminal";
import { ChatSession } from "./chat-session.ts";
import { Printer } from "./printer.ts";
import { type ChatParts, runSlashCommand } from "./slash-commands.ts";

const PACE_MS = 25;

export const chat: Command = {
  name: "chat",
  summary: "Talk to a simulated agent; the conversation survives quitting, and faults",
  usage: ["[ID] [--pace MS]"],
  about: `Goes on with conversation ID, or begins one: under that id if none has it, else under a fresh
one. No key, no network: the agent is simulated and says so. Its own sessions are gone when
you quit; the next chat restores the conversation from the log. /help lists what may be
typed, /quit or Ctrl-D ends. Ctrl-C stops the running turn; a second one quits.

  --pace MS  between two pieces of an answer: 25 on a terminal, else 0

Works with piped input too: each line waits for the one before it, but /cancel does not.`,
  examples: [
    "holdfast chat",
    "holdfast chat party",
    "printf 'remember a=1\\nrecall a\\n' | holdfast chat demo",
  ],
  options: { pace: { type: "string" } },
  writes: true,
  arity: [0, 1],
  async run(call) {
    if (call.json)
      throw new LogError(
        "invalid_request",
        "chat is for people; `holdfast log ID -f --json` follows a conversation for scripts",
      );
    const { out } = call.io;
    const printer = new Printer(out);
    const holdfast = await call.open();
    const id = await enter(holdfast, call.args[0], printer);
    const paceMs = call.flags.count("pace") ?? (out.isTerminal ? PACE_MS : 0);
    const session = new ChatSession(holdfast, id, { printer, paceMs });
    const status = await runChat(call, { session, printer, out });
    printer.say(`\nEverything is kept. → holdfast chat ${safeLine(session.conversation.id)}`);
    return status;
  },
};

async function enter(
  holdfast: Holdfast,
  name: string | undefined,
  printer: Printer,
): Promise<ConversationId> {
  const none = (error: unknown): null => {
    if (isLogError(error, "conversation_not_found")) return null;
    throw error;
  };
  const found = name === undefined ? null : await holdfast.find(name).catch(none);
  if (found === null) {
    const { id } = await holdfast.create(name === undefined ? {} : { id: name });
    printer.say(
      `A new conversation, ${safeLine(id)}. The agent is simulated: try "remember color=blue", then "recall color". /help lists more.`,
    );
    return id;
  }
  const { length } = (await found.branch()).filter((entry) => entry.type === "message");
  printer.say(
    `Conversation ${safeLine(found.id)}, ${length} messages. The simulated agent lost its own sessions when the last chat ended; your next message restores the conversation from the log. /help lists what may be typed.`,
  );
  return found.id;
}

/** Takes line after line until there are no more. Scripts learn from the status that something was refused. */
async function runChat({ io }: Call, parts: ChatParts): Promise<number> {
  const { session, printer } = parts;
  const typed = new TypedLines();
  typed.read(io.stdin, (line) => line.trim() === "/cancel" && session.cancel()).catch(() => typed.close());
  // Ctrl-C stops the running turn; one while nothing runs, or a second one in the same turn, quits.
  const onInterrupt = (): void =>
    io
      .catchInterrupt()
      .addEventListener("abort", () => (session.interrupt() ? onInterrupt() : typed.close()));
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
      await (line.startsWith("/") ? runSlashCommand(parts, line) : session.send(line));
    } catch (error) {
      if (!isLogError(error)) throw error;
      const failure = failureOf(error);
      printer.fault([failure.message, failure.next].filter(Boolean).join(" "));
      if (!io.stdinIsTerminal && status === STATUS.ok) ({ status } = failure);
    }
  }
}

/** The lines a person types, in order, whether or not someone waits for them. */
class TypedLines {
  readonly #lines: string[] = [];
  #over: boolean = false;
  #wake: () => void = () => undefined;

  /** Reads to the end of the input. `first` may take a line at once instead of letting it wait its turn. */
  async read(input: AsyncIterable<Uint8Array>, first: (line: string) => boolean): Promise<void> {
    for await (const line of createInterface({ input: Readable.from(input), crlfDelay: Infinity })) {
      if (this.#over) break;
      if (first(line)) continue;
      this.#lines.push(line);
      this.#wake();
    }
    this.close();
  }

  /** Nothing more is taken; what is there already is still given out. */
  close(): void {
    this.#over = true;
    this.#wake();
  }

  /** The next line; null when there is none and none will come. */
  async next(): Promise<string | null> {
    while (this.#lines.length === 0 && !this.#over) {
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
    }
    return this.#lines.shift() ?? null;
  }
}
