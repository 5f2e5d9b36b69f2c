import type { ConversationId } from "#log/ids";
import type { AgentLine } from "#edges/acp/agent/host-port";
import { Pausable } from "#edges/acp/pausable";
import type { Connection } from "#edges/acp/agent/process/connection";
import { type Message, readMessage, spanAt, textAt } from "#edges/acp/wire/spans";
import { type Edit, splice } from "#edges/acp/wire/splice";
import { rewriteIds } from "#edges/acp/wire/rewrite";

/** Something the host was asked and has not answered. */
interface Asked {
  /** The agent that asks, and its own id of the request; null when we ask ourselves. */
  readonly from: { readonly line: AgentLine; readonly id: string } | null;
  readonly onAnswer: (answer: Message) => void;
}

const encoder = new TextEncoder();
const CANCELLED = `{"outcome":{"outcome":"cancelled"}}`;

/** The host's wire: what leaves, and who waits for which answer. */
export class HostWire {
  readonly #write: (line: Uint8Array) => void;
  readonly #asked = new Map<number, Asked>();
  #lastId: number = 0;
  readonly #reading = new Pausable();

  constructor(write: (line: Uint8Array) => void) {
    this.#write = write;
  }

  send(line: Uint8Array): void {
    this.#write(line);
  }

  /** Much waits for the host to read it, or no longer. */
  pause(paused: boolean): void {
    this.#reading.pause(paused);
  }

  /** Resolves when the host has room: who has much to say of its own waits for it. */
  resumed(): Promise<void> | null {
    return this.#reading.resumed();
  }

  /** `id` and `result` are JSON text. */
  respond(id: string, result: string): void {
    this.#write(encoder.encode(`{"jsonrpc":"2.0","id":${id},"result":${result}}`));
  }

  fail(id: string, error: string): void {
    this.#write(encoder.encode(`{"jsonrpc":"2.0","id":${id},"error":${error}}`));
  }

  update(conversation: ConversationId, update: object): void {
    this.notify("session/update", JSON.stringify({ sessionId: conversation, update }));
  }

  notify(method: string, params: string): void {
    this.#write(encoder.encode(`{"jsonrpc":"2.0","method":${JSON.stringify(method)},"params":${params}}`));
  }

  /** Asks the host something of our own. */
  ask(method: string, params: string): Promise<Message> {
    const { promise, resolve } = Promise.withResolvers<Message>();
    const id = ++this.#lastId;
    this.#asked.set(id, { from: null, onAnswer: resolve });
    const head = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}`;
    this.#write(encoder.encode(`${head},"params":${params}}`));
    return promise;
  }

  /** Asks for leave; null when nobody wants the answer any more, and then the host need not give it. */
  async askUntil(signal: AbortSignal, params: string): Promise<Message | null> {
    const answer = this.ask("session/request_permission", params);
    const id = this.#lastId;
    const over = Promise.withResolvers<null>();
    const withdraw = (): void => {
      over.resolve(null);
      if (this.#asked.delete(id)) this.notify("$/cancel_request", `{"requestId":${id}}`);
    };
    signal.addEventListener("abort", withdraw, { once: true });
    if (signal.aborted) withdraw();
    return Promise.race([answer, over.promise]).finally(() => signal.removeEventListener("abort", withdraw));
  }

  /** Hands on what an agent said, with our ids in place of its own and `more` besides. */
  forward(line: AgentLine, more: readonly Edit[]): void {
    const { message, session } = line;
    const requests = this.#requestIds(line);
    if (requests === null) return;
    const ids = session === null ? [] : rewriteIds(message, session.upstream, session.conversation);
    this.#write(splice(message.bytes, [...ids, ...more, ...requests]));
  }

  /** Null for one that takes back what is answered already: the host would take it for something else. */
  #requestIds(line: AgentLine): readonly Edit[] | null {
    const { message, connection } = line;
    const { bytes, id, method, params } = message;
    if (id !== null && method !== null && textAt(bytes, id) !== "null") {
      const ours = ++this.#lastId;
      const from = { line, id: textAt(bytes, id) };
      this.#asked.set(ours, { from, onAnswer: (answer) => line.onAnswer?.(answer) });
      return [{ span: id, text: String(ours) }];
    }
    const span = params === null ? null : spanAt(bytes, params, ["requestId"]);
    if (method !== "$/cancel_request" || span === null) return [];
    const cancelled = this.#find(
      (from) => from.line.connection === connection && from.id === textAt(bytes, span),
    );
    return cancelled.length === 0 ? null : cancelled.map((ours) => ({ span, text: String(ours) }));
  }

  #find(fits: (from: NonNullable<Asked["from"]>) => boolean): readonly number[] {
    return [...this.#asked].flatMap(([id, { from }]) => (from !== null && fits(from) ? [id] : []));
  }

  /** The host's answer to something it was asked. An answer nobody waits for any more is dropped. */
  receiveAnswer(message: Message): void {
    const id = message.id === null ? Number.NaN : Number(textAt(message.bytes, message.id));
    const asked = this.#asked.get(id);
    if (asked === undefined || message.id === null) return;
    this.#asked.delete(id);
    const { from } = asked;
    if (from !== null) {
      const { session, connection } = from.line;
      const ids = session === null ? [] : rewriteIds(message, session.conversation, session.upstream);
      connection.send(splice(message.bytes, [...ids, { span: message.id, text: from.id }]));
    }
    asked.onAnswer(message);
  }

  /** Answers a question for leave in the name of a person who has cancelled; false when the line is none. */
  refuse(line: AgentLine): boolean {
    const { bytes, id, method } = line.message;
    if (method !== "session/request_permission" || id === null) return false;
    return this.#cancel(line, textAt(bytes, id));
  }

  #cancel(line: AgentLine, id: string): boolean {
    const answer = readMessage(encoder.encode(`{"jsonrpc":"2.0","id":${id},"result":${CANCELLED}}`));
    if (answer === null) return false;
    line.connection.send(answer.bytes);
    line.onAnswer?.(answer);
    return true;
  }

  /** A turn is being cancelled: the agent need not wait for a person who will not answer. */
  cancelAsked(conversation: ConversationId): void {
    for (const id of this.#find(({ line }) => line.session?.conversation === conversation)) {
      const { from } = this.#asked.get(id) ?? {};
      if (from?.line.message.method !== "session/request_permission") continue;
      this.#asked.delete(id);
      this.#cancel(from.line, from.id);
    }
  }

  /** The agent is gone: its dialogs are taken back. */
  withdraw(connection: Connection): void {
    for (const id of this.#find(({ line }) => line.connection === connection)) {
      this.#asked.delete(id);
      this.notify("$/cancel_request", `{"requestId":${id}}`);
    }
  }
}
