import { type ChildProcessByStdio, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import type { Readable, Writable } from "node:stream";
import { LineSplitter, LineTooLong } from "#edges/acp/wire/line-splitter";
import { NESTING_VARIABLES } from "#vendors/known-vendors";
import {
  type ProcessIdentity,
  TOKEN_NAME,
  endGroup,
  identityOf,
  identityText,
} from "#turn/effects/process-group";

export const LINE_BYTES_MAX: number = 64 * 1_048_576; // twice what the protocol's own library takes

const LAST_WORDS_MS = 100;
const LEAVE_MS = 2_000; // an agent that closes its output is mostly about to exit

/** How an agent is started. */
export interface AgentCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface ProcessEvents {
  onLine(line: Uint8Array): void;
  /** The process is gone, or cannot be heard any more. Called once. */
  onEnd(why: string): void;
}

/** One running agent: lines in, lines out, in a process group of its own. */
export class AgentProcess {
  #identity: ProcessIdentity | null = null;
  readonly #child: ChildProcessByStdio<Writable, Readable, null>;
  #ended: boolean = false;
  #onEnded: (why: string) => void = () => undefined;

  private constructor(child: ChildProcessByStdio<Writable, Readable, null>) {
    this.#child = child;
  }

  /** Finds it again, whatever becomes of this process. */
  get identity(): string {
    return this.#identity === null ? "" : identityText(this.#identity);
  }

  /** Resolves once it runs; throws what the system says when it cannot be started. */
  static async start(command: AgentCommand, events: ProcessEvents): Promise<AgentProcess> {
    const token = randomUUID();
    // Nested agents refuse to resume when they find that they run inside one.
    const env = Object.entries(command.env).filter(([name]) => !NESTING_VARIABLES.has(name));
    const child = spawn(command.command, command.args, {
      cwd: command.cwd,
      env: { ...Object.fromEntries(env), [TOKEN_NAME]: token },
      stdio: ["pipe", "pipe", "inherit"],
      detached: true,
    });
    const started = Promise.withResolvers<void>();
    child.once("spawn", started.resolve);
    child.once("error", started.reject);
    await started.promise;
    const agent = new AgentProcess(child);
    // From the first moment: one that leaves at once is not missed.
    agent.#listen(events);
    agent.#identity = await identityOf(child.pid ?? 0, token);
    return agent;
  }

  #listen(events: ProcessEvents): void {
    const lines = new LineSplitter(LINE_BYTES_MAX);
    const end = (why: string): void => {
      if (this.#ended) return;
      this.#ended = true;
      events.onEnd(why);
    };
    this.#onEnded = end;
    this.#child.stdout.on("data", (chunk: Uint8Array) => {
      // Another process may answer for its sessions by now.
      if (this.#ended) return;
      try {
        for (const line of lines.push(chunk)) events.onLine(line);
      } catch (error) {
        if (!(error instanceof LineTooLong)) throw error;
        // Whatever it was cannot be passed on, so nothing that follows can be relied on.
        for (const line of error.lines) events.onLine(line);
        end(error.message);
        this.#endUnheard(0);
      }
    });
    this.#child.stdout.once("end", () => {
      end("The agent closed its output");
      this.#endUnheard(LEAVE_MS);
    });
    this.#child.once("exit", (code, signal) => {
      // What it said last may still be in the pipe, which a child of its own may hold open.
      this.pause(false);
      setTimeout(() => end(`The agent's process exited (${signal ?? code})`), LAST_WORDS_MS);
    });
    this.#child.on("error", (error) => end(error.message));
    // A pipe that breaks says so here; the exit says the rest.
    this.#child.stdin.on("error", () => undefined);
  }

  /** A process that cannot be heard any more is ended, unless it leaves by itself. */
  #endUnheard(afterMs: number): void {
    const timer = setTimeout(() => {
      if (!this.#exited && this.#identity !== null) void endGroup(this.#identity).catch(() => undefined);
    }, afterMs);
    timer.unref();
  }

  get #exited(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  get alive(): boolean {
    return !this.#ended;
  }

  write(line: Uint8Array): void {
    this.#child.stdin.write(line);
    this.#child.stdin.write("\n");
  }

  /** A host that reads slowly slows the agent down, not this process's memory. */
  pause(paused: boolean): void {
    if (paused && !this.#exited) this.#child.stdout.pause();
    else this.#child.stdout.resume();
  }

  /** Ends it and everything it started; nothing is asked of it from then on. */
  async end(): Promise<void> {
    this.#child.stdin.end();
    if (this.#identity !== null) await endGroup(this.#identity);
    this.#onEnded("The agent was ended");
  }
}
