import { isLogError } from "#log/errors";
import type { Io } from "#edges/cli/command";
import { failureOf, STATUS } from "#edges/cli/exit";
import type { Printer } from "#edges/cli/terminal/printer";
import type { ChatParts, ChatSession } from "./chat-session.ts";
import { type ChatInput, chatInput } from "./input/chat-input.ts";
import { runSlashCommand } from "./slash-commands.ts";

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
      ahead: (line) => printer.next(line),
      unsent: (line) => printer.notice(`Not sent, the arrow up brings it back: ${line}`),
      interrupt: (had) => this.#interrupted(had),
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
    const left = this.input.close().filter((line) => line.trim() !== "");
    for (const line of left) this.#printer.fault(`Not sent: ${line}`);
    if (left.length > 0 && this.#status === STATUS.ok) this.#status = STATUS.unexpected;
  }

  async #carryOut(parts: ChatParts, line: string): Promise<void> {
    this.#turn.begin();
    try {
      if (line.startsWith("//")) await parts.session.send(line.slice(1));
      else await (line.startsWith("/") ? runSlashCommand(parts, line) : parts.session.send(line));
    } catch (error) {
      if (!isLogError(error)) throw error;
      const failure = failureOf(error);
      const next = failure.next.replaceAll("`holdfast tree ID`", "/tree");
      this.#printer.fault([failure.message, next].filter(Boolean).join(". "));
      if (!this.#io.stdinIsTerminal && this.#status === STATUS.ok) this.#status = failure.status;
    } finally {
      this.#turn.end();
      if (this.#turn.isLeft && !this.#io.stdinIsTerminal) this.#status = STATUS.unexpected;
    }
  }

  /** Ctrl-C as a signal, as in a pipe, or from outside. The other signals end the chat: nobody is there to press twice. */
  #listen(): void {
    const signal = this.#io.catchInterrupt();
    signal.addEventListener("abort", () => {
      this.#listen(); // whoever is impatient does not cut off the leaving
      if (signal.reason !== "SIGINT") return this.#quit();
      if (!this.#interrupted(false)) this.#leave();
    });
  }

  /** True when the chat goes on. */
  #interrupted(had: boolean): boolean {
    if (this.#turn.isRunning) {
      if (this.#turn.interrupt()) return true;
      this.#leave();
      return false;
    }
    if (this.#io.keyboard === undefined) return false;
    if (had) return true;
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
  get isLeft(): boolean {
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
