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
import { type AgentCommand, AgentProcess } from "./agent-process.ts";
import type { ForwardedRequest } from "#edges/acp/bridge-agents";

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
  /** Whatever is no answer to one of our requests. */
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

  /** Sends a host's request on, with an id of ours in place of its own; gives that id. */
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
    } else onAnswer(new ConnectionEnded("The agent's process is gone"));
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
    // Not a message: an agent that prints to its output by mistake says nothing to the host.
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
  if (message === null) throw new TypeError("Not a message");
  return { message, error: "error" in content ? content.error : null };
}

/** The answer to a request that only agents of the host's protocol know. */
export function unknownMethod({ method }: Message): ForwardedRequest {
  const error = {
    code: METHOD_NOT_FOUND,
    message: `"${method}" is not something this agent knows`,
    data: null,
  };
  return { answer: Promise.resolve(syntheticResponse({ error })), cancel: () => undefined };
}
