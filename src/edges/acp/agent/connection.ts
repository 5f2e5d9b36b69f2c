import type { Json } from "#log/json/json-text";
import {
  type Message,
  type Span,
  readMessage,
  readableAt,
  spanAt,
  stringAt,
  textAt,
} from "#edges/acp/wire/spans";
import { type Edit, splice } from "#edges/acp/wire/splice";
import type { ForwardedRequest } from "#edges/acp/bridge-agents";
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

/** An answer as it came: a result or an error, each as bytes. */
export interface Answer {
  readonly message: Message;
  readonly error: RpcError | null;
}

export interface RpcError {
  readonly code: number | string | null;
  readonly message: string;
  readonly data: Json;
}

/** The agent went away before it answered. */
export class ConnectionEnded extends Error {}

interface ConnectionEvents {
  /** Receives every message that is not an answer to one of our requests. */
  onMessage(message: Message): void;
  onEnd(why: string): void;
}

const text = new TextEncoder();

/** Requests to an agent and their answers. Ids are ours, counted per process. */
export class Connection {
  readonly process: AgentProcess;
  readonly #pending = new Map<number, (answer: Answer | ConnectionEnded) => void>();
  #lastId: number = 0;

  private constructor(process: AgentProcess) {
    this.process = process;
  }

  static async start(command: AgentCommand, events: ConnectionEvents): Promise<Connection> {
    const early: Uint8Array[] = [];
    let endReason: string | null = null;
    let connection: Connection | null = null;
    const process = await AgentProcess.start(command, {
      onLine: (line) => (connection === null ? early.push(line) : connection.#receive(line, events)),
      onEnd: (why) => {
        endReason = why;
        if (connection === null) return;
        connection.#end(why);
        events.onEnd(why);
      },
    });
    connection = new Connection(process);
    for (const line of early) connection.#receive(line, events);
    if (endReason !== null) throw new ConnectionEnded(endReason);
    return connection;
  }

  /** `params` is JSON text, which leaves as it is. */
  request(method: string, params: string): Promise<Answer> {
    return promised((onAnswer) => this.ask(method, params, onAnswer));
  }

  /** As above; the answer is heard before any line that came after it, which a promise does not do. */
  ask(method: string, params: string, onAnswer: (answer: Answer | ConnectionEnded) => void): void {
    this.#ask(
      (id) =>
        text.encode(`{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)},"params":${params}}`),
      onAnswer,
    );
  }

  /** Forwards a request of the host under an id of ours, and returns that id. */
  forward(
    message: Message,
    edits: readonly Edit[],
    onAnswer: (answer: Answer | ConnectionEnded) => void,
  ): number {
    const line = (id: number): Uint8Array =>
      splice(message.bytes, message.id === null ? edits : [...edits, { span: message.id, text: String(id) }]);
    return this.#ask(line, onAnswer);
  }

  #ask(line: (id: number) => Uint8Array, onAnswer: (answer: Answer | ConnectionEnded) => void): number {
    const id = ++this.#lastId;
    if (this.process.alive) {
      this.#pending.set(id, onAnswer);
      this.process.write(line(id));
    } else onAnswer(new ConnectionEnded("The agent process exited"));
    return id;
  }

  notify(method: string, params: string): void {
    this.send(text.encode(`{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${params}}`));
  }

  send(line: Uint8Array): void {
    if (this.process.alive) this.process.write(line);
  }

  #receive(line: Uint8Array, events: ConnectionEvents): void {
    const message = readMessage(line);
    // Not a message: output that an agent prints by mistake does not reach the host.
    if (message === null) return;
    const id = message.method === null && message.id !== null ? Number(textAt(line, message.id)) : null;
    const waiting = id === null ? undefined : this.#pending.get(id);
    if (id === null || waiting === undefined) {
      if (message.method !== null) events.onMessage(message);
      return;
    }
    this.#pending.delete(id);
    waiting({ message, error: message.error === null ? null : readError(line, message.error) });
  }

  #end(why: string): void {
    const waiting = [...this.#pending.values()];
    this.#pending.clear();
    for (const onAnswer of waiting) onAnswer(new ConnectionEnded(why));
  }
}

function promised(ask: (onAnswer: (answer: Answer | ConnectionEnded) => void) => void): Promise<Answer> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  ask((answer) => (answer instanceof ConnectionEnded ? reject(answer) : resolve(answer)));
  return promise;
}

function readError(line: Uint8Array, span: Span): RpcError {
  const [code, data] = [spanAt(line, span, ["code"]), spanAt(line, span, ["data"])];
  const value = code === null ? null : readableAt(line, code);
  return {
    code: typeof value === "number" || typeof value === "string" ? value : null,
    message: stringAt(line, spanAt(line, span, ["message"])) ?? "",
    data: data === null ? null : readableAt(line, data),
  };
}

/** The result of an answer as a value; null when it has none, or none that can be read. */
export function resultOf({ message }: Answer): Json {
  return message.result === null ? null : readableAt(message.bytes, message.result);
}

const METHOD_NOT_FOUND = -32_601;
const encoder = new TextEncoder();

/** An answer that no agent gave, in the shape of one. */
export function syntheticResponse(
  content: { readonly result: Json } | { readonly error: NonNullable<Answer["error"]> },
): Answer {
  const message = readMessage(encoder.encode(JSON.stringify({ jsonrpc: "2.0", id: null, ...content })));
  if (message === null) throw new TypeError("Not a JSON-RPC message");
  return { message, error: "error" in content ? content.error : null };
}

/** The answer to a request that only agents of the host's protocol know. */
export function unknownMethod({ method }: Message): ForwardedRequest {
  const error = {
    code: METHOD_NOT_FOUND,
    message: `Unknown method "${method}"`,
    data: null,
  };
  return { answer: Promise.resolve(syntheticResponse({ error })), cancel: () => undefined };
}

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

/** One running agent: lines in, lines out, in its own process group. */
class AgentProcess {
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

  /** Resolves once the process runs; throws the system's error if it cannot start. */
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
      // Its last output may still be in the pipe, which a child process may hold open.
      this.pause(false);
      setTimeout(() => end(`The agent process exited (${signal ?? code})`), LAST_WORDS_MS);
    });
    this.#child.on("error", (error) => end(error.message));
    // A broken pipe is reported here; the exit reports the rest.
    this.#child.stdin.on("error", () => undefined);
  }

  /** Ends a process that can no longer be read, unless it exits on its own. */
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
    this.#onEnded("The agent process was stopped");
  }
}
