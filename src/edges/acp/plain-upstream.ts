import type { ContentBlock, Message as Said } from "#log/message";
import type { ConversationId } from "#log/ids";
import type { Fields } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { CommandKind } from "#upstream/rules/transcript";
import type { EndingTable } from "#turn/rules/classify";
import type {
  Capabilities,
  NativeMessage,
  PromptEvent,
  PromptRequest,
  SessionSettings,
  TranscriptMessage,
  Upstream,
  UpstreamSession,
} from "#upstream/upstream";
import { SessionOptions } from "./agent/session-options.ts";
import { BridgeSession, type BridgeUpstream, type ForwardedRequest } from "./bridge-agents.ts";
import { unknownMethod } from "./agent/connection.ts";
import { Pausable } from "./host/host-wire.ts";
import type { Message } from "./wire/spans.ts";

/** Any upstream, behind the bridge. It has no lines of the protocol, so updates are built from its events. */
export class PlainUpstream implements BridgeUpstream {
  readonly native = null;
  readonly logins: readonly string[] = [];
  readonly carriesLines = false;
  readonly commands: readonly Fields[] = [];
  readonly endings?: EndingTable;
  readonly #upstream: Upstream;
  /** The latest session of each conversation. */
  readonly #sessions = new Map<string, PlainSession>();
  readonly #reading = new Pausable();

  constructor(upstream: Upstream) {
    this.#upstream = upstream;
    if (upstream.endings !== undefined) this.endings = upstream.endings;
  }

  get agent(): string {
    return this.#upstream.agent;
  }

  get account(): string | null {
    return this.#upstream.account;
  }

  get capabilities(): Capabilities {
    return this.#upstream.capabilities;
  }

  get toolsElsewhere(): boolean {
    return this.#upstream.toolsElsewhere === true;
  }

  async open(settings: SessionSettings): Promise<PlainSession> {
    return this.#register(await this.#upstream.open(settings), settings);
  }

  async resume(id: string, settings: SessionSettings): Promise<PlainSession> {
    return this.#register(await this.#upstream.resume(id, settings), settings);
  }

  async fork(id: string, settings: SessionSettings, keepTurns?: number): Promise<PlainSession> {
    return this.#register(await this.#upstream.fork(id, settings, keepTurns), settings);
  }

  async restore(messages: readonly Said[], settings: SessionSettings): Promise<PlainSession | null> {
    const session = (await this.#upstream.restore?.(messages, settings)) ?? null;
    return session === null ? null : this.#register(session, settings);
  }

  async history(id: string, settings: SessionSettings): Promise<readonly NativeMessage[] | null> {
    return (await this.#upstream.history?.(id, settings)) ?? null;
  }

  restart(process: string | null): Promise<void> {
    return this.#upstream.restart(process);
  }

  async introduce(): Promise<Json> {
    return {
      protocolVersion: 1,
      agentCapabilities: { promptCapabilities: { image: true } },
      authMethods: [],
    };
  }

  async forward(request: Message): Promise<ForwardedRequest> {
    return unknownMethod(request);
  }

  async notify(): Promise<void> {
    // No one listens for notifications.
  }

  sessionOf(conversation: string): PlainSession | null {
    return this.#sessions.get(conversation) ?? null;
  }

  async listSessions(): Promise<Json> {
    return null;
  }

  async replayedHistory(): Promise<readonly TranscriptMessage[]> {
    return [];
  }

  async forget(): Promise<void> {
    // The upstream decides what it keeps of a session.
  }

  async yieldSession(): Promise<void> {
    // Nothing is known of other clients of it.
  }

  async turnEnded(): Promise<void> {
    // Its record, if it has one, is read by `history`.
  }

  describeCall(): Fields {
    return {};
  }

  async restored(): Promise<null> {
    return null;
  }

  pause(paused: boolean): void {
    this.#reading.pause(paused);
  }

  /** Who made the upstream ends it; its sessions are closed by the runtime. */
  async stop(): Promise<void> {
    this.#reading.pause(false);
  }

  #register(session: UpstreamSession, { conversation }: SessionSettings): PlainSession {
    const made: PlainSession = new PlainSession(session, conversation, {
      resumed: () => this.#reading.resumed(),
      onClose: () => {
        if (this.#sessions.get(conversation) === made) this.#sessions.delete(conversation);
      },
    });
    this.#sessions.set(conversation, made);
    return made;
  }
}

interface PlainSessionParts {
  /** Resolves when the host reads again. */
  readonly resumed: () => Promise<void> | null;
  readonly onClose: () => void;
}

class PlainSession extends BridgeSession implements UpstreamSession {
  readonly conversation: ConversationId;
  readonly openAnswer = null;
  readonly options: SessionOptions = new SessionOptions();
  readonly #session: UpstreamSession;
  readonly #parts: PlainSessionParts;

  constructor(session: UpstreamSession, conversation: ConversationId, parts: PlainSessionParts) {
    super();
    this.#session = session;
    this.conversation = conversation;
    this.#parts = parts;
  }

  get id(): string {
    return this.#session.id;
  }

  get transcript(): readonly TranscriptMessage[] | null {
    return this.#session.transcript;
  }

  get process(): string {
    return this.#session.process;
  }

  get model(): string | null | undefined {
    return this.#session.model;
  }

  get windowTokens(): number | null {
    return this.#session.windowTokens ?? null;
  }

  commandOf(name: string): CommandKind | null {
    return this.#session.commandOf?.(name) ?? null;
  }

  async *prompt(request: PromptRequest): AsyncGenerator<PromptEvent> {
    for await (const event of this.#session.prompt(request)) {
      await this.#parts.resumed();
      yield event;
    }
  }

  async steer(content: readonly ContentBlock[]): Promise<boolean> {
    return (await this.#session.steer?.(content)) ?? false;
  }

  cancel(): Promise<void> {
    return this.#session.cancel();
  }

  async close(): Promise<void> {
    this.#parts.onClose();
    await this.#session.close();
  }

  forward(request: Message): ForwardedRequest {
    return unknownMethod(request);
  }

  notify(): void {
    // No one listens for notifications.
  }

  async applyChoices(): Promise<void> {
    // Its settings come with each prompt.
  }

  turnShown(): void {
    // It sends nothing between turns.
  }
}
