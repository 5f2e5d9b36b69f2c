import type { Holdfast } from "#conversation/holdfast";
import type { Host, HostEvent } from "#turn/host";
import type { Clock } from "#conversation/clock";
import type { Connected, Runtime } from "#sending/runtime";
import { type ConversationId, parseConversationId, type SpaceId } from "#log/ids";
import { AgentLine } from "#edges/acp/agent/host-port";
import { AcpSession } from "#edges/acp/agent/session";
import type { AcpUpstream } from "#edges/acp/agent/upstream";
import { readableAt } from "#edges/acp/wire/spans";
import { Desk } from "./desk.ts";
import type { HostWire } from "./wire/host-wire.ts";
import { type Notice, noticeOf, waitingNotice } from "./notices.ts";
import { hideQuestion, type Question, questionText, switchQuestion } from "./questions.ts";
import { fieldsOf } from "#log/json/json-fields";

export interface FloorOptions {
  readonly holdfast: Holdfast;
  readonly runtime: Runtime;
  readonly wire: HostWire;
  readonly agents: readonly [AcpUpstream, ...AcpUpstream[]];
  readonly onLimit: "park" | "switch" | "ask";
  readonly clock: Clock;
  /** Passes a line on, with what the bridge adds to it. */
  pass(line: AgentLine): void;
}

/** A session that stands ready for a conversation. */
export interface Ready {
  readonly connected: Connected;
  readonly session: AcpSession;
}

type LinksRead = Map<ConversationId, { readonly headSeq: number; readonly ids: readonly string[] }>;

/** Where the host's side does its work: the conversations it has open, and how it is spoken to. */
export class Floor {
  readonly holdfast: Holdfast;
  readonly runtime: Runtime;
  readonly wire: HostWire;
  readonly agents: readonly [AcpUpstream, ...AcpUpstream[]];
  readonly onLimit: "park" | "switch" | "ask";
  readonly clock: Clock;
  /** The host shows notices. */
  notices: boolean = false;
  closing: boolean = false;
  /** Where each conversation lives, as far as its log was read. */
  readonly folders: Map<ConversationId, { readonly headSeq: number; readonly cwd: string }> = new Map();
  readonly #pass: (line: AgentLine) => void;
  readonly #links = new Map<SpaceId, LinksRead>();
  readonly #desks = new Map<ConversationId, Desk>();
  readonly #opening = new Map<ConversationId, Promise<Desk>>();

  constructor(options: FloorOptions) {
    this.holdfast = options.holdfast;
    this.runtime = options.runtime;
    this.wire = options.wire;
    this.agents = options.agents;
    this.onLimit = options.onLimit;
    this.clock = options.clock;
    this.#pass = (line) => options.pass(line);
  }

  /** The desk of a conversation; one that does not exist is an error. */
  async desk(id: string): Promise<Desk> {
    const conversation = parseConversationId(id);
    const known = this.#desks.get(conversation);
    if (known !== undefined) return known;
    // Opened once, so that those who wait for it go on in the order they came in: a cancel behind its prompt.
    const opening = this.#opening.get(conversation) ?? this.#open(conversation);
    this.#opening.set(conversation, opening);
    return opening;
  }

  async #open(conversation: ConversationId): Promise<Desk> {
    try {
      const desk = await Desk.open(this.holdfast, conversation, this.runtime);
      this.#desks.set(conversation, desk);
      return desk;
    } finally {
      this.#opening.delete(conversation);
    }
  }

  /** The desk if it is open. */
  openDesk(id: ConversationId): Desk | null {
    return this.#desks.get(id) ?? null;
  }

  /** The upstream sessions of each conversation of a space, as far as its log was read. */
  linksRead(space: SpaceId): LinksRead {
    const read = this.#links.get(space) ?? new Map<ConversationId, { headSeq: number; ids: string[] }>();
    this.#links.set(space, read);
    return read;
  }

  clear(id: ConversationId): void {
    this.#desks.get(id)?.others?.stop();
    this.#desks.delete(id);
  }

  /** The agent that carries a conversation now. */
  agentOf(desk: Desk): AcpUpstream {
    return this.agents.find(({ agent }) => agent === desk.agent) ?? this.agents[0];
  }

  /** Gets the conversation's session ready; what it says meanwhile waits until the host was answered. */
  async connect(desk: Desk): Promise<Ready> {
    const isFirst = desk.gate === null;
    desk.gate ??= [];
    // One after the other: whoever finds a session there takes that one.
    const connecting = desk.connecting.then(() => this.#connect(desk));
    desk.connecting = connecting.then(
      () => undefined,
      () => undefined,
    );
    try {
      return await connecting;
    } catch (error) {
      if (isFirst) this.openGate(desk);
      throw error;
    }
  }

  async #connect(desk: Desk): Promise<Ready> {
    const { agent } = this.agentOf(desk);
    const connected = await this.runtime.connect(desk.id, { agent }, this.host(desk));
    const { session } = connected;
    if (!(session instanceof AcpSession)) throw new TypeError("Not a session of this bridge");
    desk.started(startOptions(session));
    await this.#noteModel(desk, session);
    return { connected, session };
  }

  /** The log says which model is at work, whenever another agent or session brings another. */
  async #noteModel(desk: Desk, { model }: AcpSession): Promise<void> {
    const { agent } = this.agentOf(desk);
    const { agent: noted, model: was } = fieldsOf(desk.config["working"]);
    if (model === null || (noted === agent && was === model)) return;
    await desk.change({ working: { agent, model } }, [{ type: "model_change", model, provider: agent }]);
  }

  /** The session the conversation's agent holds for it now, if it is alive. */
  sessionHeld(desk: Desk): AcpSession | null {
    return this.agentOf(desk).sessionOf(desk.id);
  }

  /** The session the host's own requests go to. */
  async session(desk: Desk): Promise<AcpSession> {
    const held = this.sessionHeld(desk);
    if (held !== null) return held;
    const { session } = await this.connect(desk);
    this.openGate(desk);
    return session;
  }

  /** The host knows the conversation now. */
  openGate(desk: Desk): void {
    const waiting = desk.gate ?? [];
    desk.gate = null;
    for (const line of waiting) this.#pass(line);
  }

  /** Ends the turn that runs, and those of the prompts that wait behind it. */
  cancel(desk: Desk): void {
    desk.cancels++;
    this.cancelTurn(desk);
  }

  /** Ends the turn that runs. */
  cancelTurn(desk: Desk): void {
    desk.stopping = this.runtime.cancel(desk.id);
    this.wire.cancelAsked(desk.id);
  }

  /** The host is gone: what waits does not begin. */
  close(): void {
    this.closing = true;
    for (const desk of this.#desks.values()) {
      desk.others?.stop();
      this.cancel(desk);
    }
  }

  /** The host of one conversation, as the runtime speaks to it. */
  host(desk: Desk): Host {
    return {
      onEvent: (event) => this.#onEvent(desk, event),
      onLimit: (limit) => this.#ask(desk, switchQuestion(limit)),
      onPoisoned: (poison) => this.#ask(desk, hideQuestion(poison, this.agentOf(desk).agent)),
    };
  }

  #onEvent(desk: Desk, event: HostEvent): void {
    if (event.type === "update") {
      const { wire } = event.event;
      if (wire instanceof AgentLine) {
        if (desk.stopping && this.wire.refuse(wire)) return;
        this.#pass(wire);
      }
      if (event.event.type === "waiting")
        this.tell(desk, waitingNotice(event.event, this.agentOf(desk).agent), "thought");
      return;
    }
    if (event.type === "switched") {
      desk.parked = null;
      void desk.change({ agent: event.to }).catch(() => undefined);
    }
    const about = { agent: this.agentOf(desk).agent, others: this.agents.length > 1 };
    const notice = noticeOf(withoutId(event, desk.id), about);
    if (notice === null) return this.#tellParked(desk, event);
    if (event.type !== "parked")
      return this.tell(desk, notice, event.type === "ended" ? "message" : "thought");
    this.#tellHost(desk, notice);
    desk.parked = notice;
  }

  /** That an agent is parked is worth a word to a person only if no other goes on in its place. */
  #tellParked(desk: Desk, event: HostEvent): void {
    if (event.type !== "ended" || desk.parked === null) return;
    this.#tellPerson(desk, desk.parked, "message");
    desk.parked = null;
  }

  /** Says something to the host's person, and to the host. */
  tell(desk: Desk, notice: Notice, otherwise: "message" | "thought"): void {
    this.#tellPerson(desk, notice, otherwise);
    this.#tellHost(desk, notice);
  }

  #tellPerson(desk: Desk, notice: Notice, otherwise: "message" | "thought"): void {
    const { severity, title, description, word } = notice;
    const _meta = { holdfast: word };
    if (this.notices)
      return this.wire.update(desk.id, { sessionUpdate: "notice", severity, title, description, _meta });
    const text = `${title}. ${description}\n\n`;
    const sessionUpdate = otherwise === "message" ? "agent_message_chunk" : "agent_thought_chunk";
    this.wire.update(desk.id, { sessionUpdate, content: { type: "text", text }, _meta });
  }

  #tellHost(desk: Desk, { word }: Notice): void {
    this.wire.update(desk.id, { sessionUpdate: "session_info_update", _meta: { holdfast: word } });
  }

  async #ask(desk: Desk, question: Question): Promise<boolean> {
    const answer = await this.wire.ask("session/request_permission", questionText(question, desk.id));
    const result = answer.result === null ? null : readableAt(answer.bytes, answer.result);
    return fieldsOf(fieldsOf(result)["outcome"])["optionId"] === question.yes.optionId;
  }
}

/** What an agent says of its own session names it; the host knows it by ours. */
function withoutId(event: HostEvent, id: string): HostEvent {
  if (event.upstream === null || !("message" in event)) return event;
  return { ...event, message: event.message.replaceAll(event.upstream, id) };
}

/** The options as they came with the session, before anything was set again. */
function startOptions(session: AcpSession): ReturnType<typeof readableAt> {
  const { opened } = session;
  if (opened === null || opened.result === null) return null;
  return fieldsOf(readableAt(opened.bytes, opened.result))["configOptions"] ?? null;
}
