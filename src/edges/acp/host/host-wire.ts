import type { ConversationId } from "#log/ids";
import type { AgentLine } from "#edges/acp/agent/agent-line";
import type { Connection } from "#edges/acp/agent/connection";
import { Message, readMessage, spanAt, textAt } from "#edges/acp/wire/spans";
import { type Edit, rewriteIds, splice, spliceWithin, withMeta } from "#edges/acp/wire/splice";
import { UpstreamFailure } from "#upstream/upstream";
import type { BridgeTurn } from "#edges/acp/bridge-agents";
import { ERROR_GROUPS, type ErrorGroup, isLogError } from "#log/errors";
import type { Json } from "#log/json/json-text";
import type { WireMessage } from "#turn/wire-message";
import type { EndingClass } from "#log/ending-class";
import { describeError } from "#operations/views/error-steps";
import { endingMessage } from "#operations/text";

/** Something the host was asked and has not answered. */
interface PendingRequest {
  /** The agent that asks, and its own id of the request; null when we ask ourselves. */
  readonly from: { readonly line: AgentLine; readonly id: string } | null;
  readonly onAnswer: (answer: Message) => void;
}

const encoder = new TextEncoder();
const CANCELLED = `{"outcome":{"outcome":"cancelled"}}`;

/** The host's wire: what leaves, and who waits for which answer. */
export class HostWire {
  readonly #write: (line: Uint8Array) => void;
  readonly #pending = new Map<number, PendingRequest>();
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
    this.#pending.set(id, { from: null, onAnswer: resolve });
    const head = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(method)}`;
    this.#write(encoder.encode(`${head},"params":${params}}`));
    return promise;
  }

  /** Asks for permission; null when the answer is no longer needed, and the host need not give it. */
  async askUntil(signal: AbortSignal, params: string): Promise<Message | null> {
    const answer = this.ask("session/request_permission", params);
    const id = this.#lastId;
    const over = Promise.withResolvers<null>();
    const withdraw = (): void => {
      over.resolve(null);
      if (this.#pending.delete(id)) this.notify("$/cancel_request", `{"requestId":${id}}`);
    };
    signal.addEventListener("abort", withdraw, { once: true });
    if (signal.aborted) withdraw();
    return Promise.race([answer, over.promise]).finally(() => signal.removeEventListener("abort", withdraw));
  }

  /** Forwards a line of an agent, with our ids in place of its own and with additional edits. */
  forward(line: AgentLine, more: readonly Edit[]): void {
    const { message, session } = line;
    const requests = this.#requestIds(line);
    if (requests === null) return;
    const ids =
      session === null ? [] : rewriteIds(message, session.upstream, session.conversation, line.update);
    this.#write(splice(message.bytes, [...ids, ...more, ...requests]));
  }

  /** Null for the cancellation of a request that was answered: the host would take it for another request's. */
  #requestIds(line: AgentLine): readonly Edit[] | null {
    const { message, connection } = line;
    const { bytes, id, method } = message;
    if (id !== null && method !== null && textAt(bytes, id) !== "null") {
      const ours = ++this.#lastId;
      const from = { line, id: textAt(bytes, id) };
      this.#pending.set(ours, { from, onAnswer: (answer) => line.onAnswer?.(answer) });
      return [{ span: id, text: String(ours) }];
    }
    const span = message.param("requestId");
    if (method !== "$/cancel_request" || span === null) return [];
    const cancelled = this.#find(
      (from) => from.line.connection === connection && from.id === textAt(bytes, span),
    );
    return cancelled.length === 0 ? null : cancelled.map((ours) => ({ span, text: String(ours) }));
  }

  #find(fits: (from: NonNullable<PendingRequest["from"]>) => boolean): readonly number[] {
    return [...this.#pending].flatMap(([id, { from }]) => (from !== null && fits(from) ? [id] : []));
  }

  /** The host's answer to a request. An answer that is no longer awaited is dropped. */
  receiveAnswer(message: Message): void {
    const id = message.id === null ? Number.NaN : Number(textAt(message.bytes, message.id));
    const pending = this.#pending.get(id);
    if (pending === undefined || message.id === null) return;
    this.#pending.delete(id);
    const { from } = pending;
    if (from !== null) {
      const { session, connection } = from.line;
      const ids = session === null ? [] : rewriteIds(message, session.conversation, session.upstream);
      connection.send(splice(message.bytes, [...ids, { span: message.id, text: from.id }]));
    }
    pending.onAnswer(message);
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
  cancelPermissions(conversation: ConversationId): void {
    for (const id of this.#find(({ line }) => line.session?.conversation === conversation)) {
      const { from } = this.#pending.get(id) ?? {};
      if (from?.line.message.method !== "session/request_permission") continue;
      this.#pending.delete(id);
      this.#cancel(from.line, from.id);
    }
  }

  /** The agent is gone: its dialogs are taken back. */
  withdraw(connection: Connection): void {
    for (const id of this.#find(({ line }) => line.connection === connection)) {
      this.#pending.delete(id);
      this.notify("$/cancel_request", `{"requestId":${id}}`);
    }
  }
}

/** Holds work up while a reader is slow. */
export class Pausable {
  #paused: PromiseWithResolvers<void> | null = null;

  pause(paused: boolean): void {
    if (paused) this.#paused ??= Promise.withResolvers<void>();
    else {
      this.#paused?.resolve();
      this.#paused = null;
    }
  }

  /** Resolves when reading continues; null when nothing has to wait. */
  resumed(): Promise<void> | null {
    return this.#paused === null ? null : this.#paused.promise;
  }
}

const CODES: { readonly [G in ErrorGroup]: number } = {
  caller: -32602,
  missing: -32002,
  conflict: -32603,
  unavailable: -32603,
  damaged: -32603,
};

const AUTH_REQUIRED = -32000;
const INTERNAL = -32603;

function errorText(code: number, message: string, data: Json): string {
  return JSON.stringify(data === null ? { code, message } : { code, message, data });
}

/** Whatever went wrong, as the text of a JSON-RPC error. */
export function errorOf(error: unknown, conversation: string | null): string {
  const about = conversation === null ? {} : { sessionId: conversation };
  if (isLogError(error)) {
    const { code } = error;
    const message = describeError(error);
    // An entry is a parameter of the request; the resource is the session.
    const rpcCode = code === "entry_not_found" ? CODES.caller : CODES[ERROR_GROUPS[code]];
    return errorText(rpcCode, message, {
      ...about,
      holdfast: { ...REFUSED, code, message },
    });
  }
  if (error instanceof UpstreamFailure) {
    const { class: endingClass, message, resetAtMs } = error.ending;
    const meta = { class: endingClass, message, ...resetOf(resetAtMs) };
    const response = messageIn(error);
    if (response !== null && response.error !== null && endingClass !== "auth")
      return spliceWithin(
        response.bytes,
        response.error,
        withMeta(response.bytes, response.error, "data", meta),
      );
    return errorText(endingClass === "auth" ? AUTH_REQUIRED : INTERNAL, message, {
      ...about,
      holdfast: meta,
    });
  }
  const message = error instanceof Error ? error.message : String(error);
  return errorText(INTERNAL, message, { ...about, holdfast: { ...REFUSED, message } });
}

/** The agent's response, where the agent speaks this protocol. */
export function messageIn(end: { readonly wire?: WireMessage | null } | null | undefined): Message | null {
  return end?.wire instanceof Message ? end.wire : null;
}

/** Every error has a class, as every ending of a turn has; what Holdfast itself refused also has a code. */
const REFUSED = { class: "failed" } as const satisfies { readonly class: EndingClass };

function resetOf(resetAtMs: number | null): { readonly resetAt?: string } {
  return resetAtMs === null ? {} : { resetAt: new Date(resetAtMs).toISOString() };
}

/** A turn that did not end well: the agent's own error where it gave one, with what became of the prompt. */
export function turnError(
  result: BridgeTurn,
  agent: string,
  ids: { from: string | null; to: string },
): string {
  const { class: endingClass, message, resetAtMs, end } = result;
  const meta = { class: endingClass, message, agent, kept: true, ...resetOf(resetAtMs) };
  const response = messageIn(end);
  if (response !== null && response.error !== null) {
    const edits = ids.from === null ? [] : rewriteIds(response, ids.from, ids.to);
    const more = withMeta(response.bytes, response.error, "data", withoutId(meta, ids));
    // Not every agent has the protocol's word for it.
    const code = endingClass === "auth" ? spanAt(response.bytes, response.error, ["code"]) : null;
    const login = code === null ? [] : [{ span: code, text: String(AUTH_REQUIRED) }];
    return spliceWithin(response.bytes, response.error, [...edits, ...more, ...login]);
  }
  const code = endingClass === "auth" ? AUTH_REQUIRED : INTERNAL;
  const about = withoutId({ ...meta, message: endingMessage(result) }, ids);
  return errorText(code, about.message, { sessionId: ids.to, holdfast: about });
}

function withoutId<M extends { readonly message: string }>(
  meta: M,
  ids: { readonly from: string | null; readonly to: string },
): M {
  return ids.from === null ? meta : { ...meta, message: meta.message.replaceAll(ids.from, ids.to) };
}
