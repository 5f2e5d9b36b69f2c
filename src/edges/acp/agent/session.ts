import type { ConversationId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import type { AgentChoices } from "#log/projections/config";
import type {
  PromptEvent,
  PromptRequest,
  RawEnd,
  TranscriptMessage,
  NativeMessage,
  UpstreamSession,
} from "#upstream/upstream";
import { BridgeSession, type ForwardedRequest } from "#edges/acp/bridge-agents";
import type { CommandKind } from "#upstream/rules/transcript";
import { Message, readableAt } from "#edges/acp/wire/spans";
import { rewriteIds, splice } from "#edges/acp/wire/splice";
import { SessionOptions, isModel, replaySettings } from "./session-options.ts";
import { AgentLine, type HostPort, forwardOn } from "./agent-line.ts";
import { ReplayedHistory, isRefusal, namedRequest, promptParams, updateOf } from "./session-lines.ts";
import type { Connection } from "./connection.ts";
import { commandKind, type Dialect } from "#vendors/vendor";
import { HiddenFailure, type SessionCost, endOf } from "./turn-end.ts";
import { bounded, isStateUpdate, Translator } from "./translate.ts";
import { unrecordedEvents } from "#upstream/rules/agent-record";
import { fieldsOf, listIn, wordsIn } from "#log/json/json-fields";

export interface SessionParts {
  readonly id: string;
  readonly conversation: ConversationId;
  readonly cost: SessionCost;
  readonly connection: Connection;
  readonly dialect: Dialect;
  readonly port: HostPort;
  /** Which process answers for the session now. */
  readonly process: () => string;
  readonly nowMs: () => number;
  /** The agent's own record of the session, after its process died or after it was told to stop. */
  readonly record: (cause: "dead" | "stopped") => Promise<readonly NativeMessage[] | null>;
  readonly onClose: (session: AcpSession) => Promise<void>;
  /** The known size of the model's context window. */
  readonly window: { tokens: number };
  /** The messages of its program were asked for by us alone, so the host does not hear them. */
  readonly hidesProgramMessages: boolean;
}

interface Turn {
  readonly queue: LineQueue<PromptEvent>;
  readonly translator: Translator;
  readonly failure: HiddenFailure;
  readonly startMs: number;
  /** The last words of the prompt. */
  readonly prompt: string;
  /** Whether the agent was told to stop. */
  stopped: boolean;
  /** The model that answers, where the agent names it. */
  model: string | null;
}

/** One session of an ACP agent. */
export class AcpSession extends BridgeSession implements UpstreamSession {
  readonly id: string;
  transcript: readonly TranscriptMessage[] | null = null;
  /** The result that opened the session, for the host: modes, options and other members. */
  openAnswer: Message | null = null;
  /** Its modes and options as they are now. */
  readonly options: SessionOptions = new SessionOptions();
  readonly #parts: SessionParts;
  /** Set while the agent tells its history again, which the host is not to see. */
  #replay: ReplayedHistory | null = null;
  #turn: Turn | null = null;
  /** Prompts that the agent has not answered, including those without a reader. */
  #unanswered: number = 0;
  /** Lines after the end of a turn, until the host has received that end. */
  #after: AgentLine[] | null = null;

  constructor(parts: SessionParts) {
    super();
    this.id = parts.id;
    this.#parts = parts;
  }

  get process(): string {
    return this.#parts.process();
  }

  get model(): string | null {
    const model = listIn(this.options.options).find((option) => isModel(option))?.["currentValue"];
    return typeof model === "string" ? model : null;
  }

  get windowTokens(): number {
    return this.#parts.window.tokens;
  }

  commandOf(name: string): CommandKind | null {
    return commandKind(this.#parts.dialect, this.options.commands, name);
  }

  get conversation(): ConversationId {
    return this.#parts.conversation;
  }

  /** The agent is at work on a prompt, or may be. */
  get atWork(): boolean {
    return this.#unanswered > 0;
  }

  get connection(): Connection {
    return this.#parts.connection;
  }

  /** From here to the next prompt the agent's words are its history. */
  replay(): ReplayedHistory {
    this.#replay = new ReplayedHistory();
    return this.#replay;
  }

  /** A line of the agent about this session. */
  receive(message: Message): void {
    const { connection, conversation } = this.#parts;
    const update = updateOf(message);
    const line = new AgentLine({ connection, message, update, session: { upstream: this.id, conversation } });
    if (update !== null) this.#keepState(update);
    if (message.method === this.#parts.dialect.programMessages?.method) {
      this.#readProgramMessage(message);
      if (this.#parts.hidesProgramMessages) return;
    }
    if (this.#turn !== null) this.#inTurn(this.#turn, line);
    else if (this.#after !== null) this.#after.push(line);
    else if (this.#replay !== null && update !== null && !isStateUpdate(wordsIn(update["sessionUpdate"])))
      this.#replay.add(update);
    else this.#parts.port.forward(line);
  }

  /** A line about no session keeps its place among those of the turn that is spoken of. */
  receiveBeside(line: AgentLine): boolean {
    if (this.#turn !== null) this.#turn.queue.push({ type: "forward_only", wire: line });
    else if (this.#after !== null) this.#after.push(line);
    else return false;
    return true;
  }

  #readProgramMessage(message: Message): void {
    const { programMessages } = this.#parts.dialect;
    const { bytes } = message;
    const span = message.param("message");
    if (programMessages === null || this.#turn === null || span === null) return;
    const { event, signs, model } = programMessages.meaning(readableAt(bytes, span));
    if (signs !== undefined) this.#turn.failure.add(signs);
    if (model !== undefined) this.#turn.model = model;
    if (event !== null) this.#turn.queue.push(event);
  }

  #keepState(update: { readonly [name: string]: Json }): void {
    const { currentModeId, configOptions, availableCommands, sessionUpdate, size } = update;
    if (availableCommands !== undefined) this.options.setCommands(availableCommands);
    if (sessionUpdate === "usage_update") this.#parts.cost.read(update);
    if (sessionUpdate === "usage_update" && typeof size === "number" && size > 0)
      this.#parts.window.tokens = size;
    if (configOptions !== undefined) this.options.setOptions(configOptions);
    if (typeof currentModeId === "string") this.options.setMode(currentModeId);
  }

  #inTurn(turn: Turn, line: AgentLine): void {
    const { update, size } = line;
    if (update !== null) {
      turn.failure.read(update);
      turn.queue.push({ ...turn.translator.event(update, size), wire: line });
    } else if (line.message.method === "session/request_permission") this.#permission(turn, line);
    else
      turn.queue.push({
        type: "forward_only",
        wire: line,
        ...(line.message.id === null ? {} : { expectsAnswer: true }),
      });
  }

  #permission(turn: Turn, line: AgentLine): void {
    const { connection, message, session } = line;
    const { bytes, params } = message;
    const fields = params === null ? {} : fieldsOf(readableAt(bytes, params));
    const { sessionId: _, ...data } = fields;
    const toolCall = fieldsOf(fields["toolCall"]);
    const id = wordsIn(toolCall["toolCallId"]);
    const call = id === "" ? {} : { call: id };
    const unheardOf = id === "" ? null : turn.translator.announce(id, toolCall, line.size);
    if (unheardOf !== null) turn.queue.push(unheardOf);
    const named =
      this.#parts.port.asksInLog === true ? namedRequest(fields, turn.translator.nameOf(id), line.size) : {};
    const onAnswer = (answer: Message): void => {
      const outcome = answer.result === null ? { error: true } : readableAt(answer.bytes, answer.result);
      if (!("request" in named)) turn.queue.push({ type: "permission", ...call, data: outcome });
      const refused = isRefusal(outcome, fields["options"] ?? null) ? turn.translator.refused(id) : null;
      if (refused !== null) turn.queue.push(refused);
    };
    turn.queue.push({
      type: "permission",
      ...call,
      data: bounded(data, line.size),
      ...named,
      wire: new AgentLine({ connection, message, session, onAnswer }),
    });
  }

  async *prompt(request: PromptRequest): AsyncGenerator<PromptEvent> {
    const { connection, dialect, nowMs } = this.#parts;
    const queue = new LineQueue<PromptEvent>();
    const turn: Turn = {
      queue,
      translator: new Translator(dialect),
      failure: new HiddenFailure(dialect, nowMs),
      startMs: performance.now(),
      prompt: request.content.flatMap((block) => (block.type === "text" ? [block.text] : [])).at(-1) ?? "",
      stopped: false,
      model: null,
    };
    for (const line of this.#after ?? []) queue.push({ type: "forward_only", wire: line });
    this.#replay = null;
    this.#after = null;
    this.#turn = turn;
    this.#unanswered++;
    connection.ask("session/prompt", promptParams(this.id, request), (answer) => {
      this.#unanswered--;
      const end = endOf(answer, turn);
      const look = end.exited ? "dead" : turn.stopped ? "stopped" : null;
      if (look !== null) void this.#lookUp(turn, look).finally(() => this.#end(turn, end));
      else this.#end(turn, end);
    });
    try {
      yield* queue;
    } finally {
      this.#abandon(turn);
    }
  }

  /** Adds what the agent recorded but did not send, because it died or was stopped. */
  async #lookUp(turn: Turn, cause: "dead" | "stopped"): Promise<void> {
    const record = await this.#parts.record(cause).catch(() => null);
    const { prompt, translator } = turn;
    const translation = {
      prompt,
      text: null,
      isKnown: ({ id }: { readonly id: string }) => translator.isKnown(id),
    };
    for (const event of unrecordedEvents(record ?? [], translation)) turn.queue.push(event);
  }

  #end(turn: Turn, raw: RawEnd): void {
    const end = { ...raw, usage: this.#parts.cost.charge(raw.usage), model: turn.model };
    if (end.usage !== null) turn.queue.push({ type: "usage", usage: end.usage });
    turn.queue.push({ type: "end", end });
    turn.queue.close();
    if (this.#turn !== turn) return;
    this.#turn = null;
    this.#after = [];
  }

  /** The turn has no reader any more. Lines that are about no session still reach the host. */
  #abandon(turn: Turn): void {
    for (const event of turn.queue.drain()) {
      const line = event.type === "forward_only" ? event.wire : undefined;
      if (line instanceof AgentLine && line.session === null) this.#parts.port.forward(line);
    }
    if (this.#turn === turn) this.#turn = null;
  }

  /** The host has received the end of the turn, so later lines may follow. */
  turnShown(): void {
    const after = this.#after ?? [];
    this.#after = null;
    for (const line of after) this.#parts.port.forward(line);
  }

  forward(request: Message): ForwardedRequest {
    const edits = rewriteIds(request, this.conversation, this.id);
    return forwardOn(this.connection, { request, edits, inOrder: (line) => this.receiveBeside(line) });
  }

  applyChoices(chosen: AgentChoices): Promise<void> {
    return replaySettings(this, chosen);
  }

  notify(message: Message): void {
    this.connection.send(splice(message.bytes, rewriteIds(message, this.conversation, this.id)));
  }

  async cancel(): Promise<void> {
    if (this.#turn !== null) this.#turn.stopped = true;
    this.#parts.connection.notify("session/cancel", `{"sessionId":${JSON.stringify(this.id)}}`);
  }

  close(): Promise<void> {
    return this.#parts.onClose(this);
  }
}

/** Lines that wait for their reader, in order. There is one reader, until the queue is closed and empty. */
class LineQueue<T> implements AsyncIterable<T> {
  #waiting: T[] = [];
  #closed: boolean = false;
  #wake: (() => void) | null = null;

  push(item: T): void {
    this.#waiting.push(item);
    this.#wake?.();
  }

  close(): void {
    this.#closed = true;
    this.#wake?.();
  }

  /** Removes the lines that have not been read. */
  drain(): readonly T[] {
    const waiting = this.#waiting;
    this.#waiting = [];
    return waiting;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T> {
    for (;;) {
      const batch = this.#waiting;
      this.#waiting = [];
      let read = 0;
      try {
        for (const item of batch) {
          read++;
          yield item;
        }
      } finally {
        // A reader that stops early leaves the rest in the queue.
        if (read < batch.length) this.#waiting = [...batch.slice(read), ...this.#waiting];
      }
      if (this.#waiting.length > 0) continue;
      if (this.#closed) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      this.#wake = resolve;
      await promise;
      this.#wake = null;
    }
  }
}
