import type { Host, HostEvent, Limit, PermissionAsked, Poison } from "#turn/host";
import type { TurnEvent } from "#turn/rules/turn-event";
import type { ConversationId } from "#log/ids";
import { type Fields, fieldsOf } from "#log/json/json-fields";
import { AgentLine } from "#edges/acp/agent/agent-line";
import type { HostedAgent } from "#edges/acp/bridge-agents";
import { readableAt } from "#edges/acp/wire/spans";
import type { Edit } from "#edges/acp/wire/splice";
import type { BridgeParts } from "./bridge-parts.ts";
import { EventUpdates } from "./updates.ts";
import type { Json } from "#log/json/json-text";
import { FORKED_TEXT, type NoticeText, noticeText, resetText, waitingText } from "#operations/views/notices";
import { NOT_UNDONE } from "#operations/text";

/** The conversation a view is of. */
export interface ViewedConversation {
  readonly id: ConversationId;
  /** The agent that carries it now. */
  readonly upstream: HostedAgent;
  /** Its last turn was cancelled: permission requests are denied until the next turn, whenever they come. */
  readonly isStopping: boolean;
  /** Its prompt is in the log. */
  accepted(turn: string): void;
  /** Its prompt continues from another entry or session. */
  continued(): void;
  /** Another agent carries it from here on. */
  switchedTo(agent: string): void;
  /** The folder the host opened it in. */
  readonly cwd: string | null;
  /** Ends the turn that runs. */
  cancelTurn(): void;
  /** Records what a line reveals about the conversation; returns what the bridge adds to it. */
  observe(line: AgentLine): readonly Edit[];
}

/** What a host sees of one conversation: the agent's lines, and the runtime's events as updates. */
export class HostView {
  /** Receives the events and requests of the runtime. */
  readonly host: Host = {
    onEvent: (event) => this.#receive(event),
    onLimit: (limit) => this.#ask(switchQuestion(limit)),
    onPoisoned: (poison) => this.#ask(hideQuestion(poison, this.#conversation.upstream.agent)),
    onPermission: (permission, signal) => this.#askLeave(permission, signal),
  };
  readonly #parts: BridgeParts;
  readonly #conversation: ViewedConversation;
  /** What waits until the host knows the conversation, a line or an update; null when nothing has to. */
  #queue: (AgentLine | Fields)[] | null = null;
  #events: EventUpdates;
  /** The notice about a paused agent, held until it is known that no other agent continues. */
  #parked: Notice | null = null;

  constructor(parts: BridgeParts, conversation: ViewedConversation) {
    this.#parts = parts;
    this.#conversation = conversation;
    this.#events = this.#newEvents();
  }

  get id(): ConversationId {
    return this.#conversation.id;
  }

  /** Another process cleared the context. */
  tellReset(reason: string): void {
    this.tell(resetNotice(reason, this.#conversation.upstream.agent), "message");
  }

  #newEvents(): EventUpdates {
    return new EventUpdates((call) => this.#conversation.upstream.describeCall(call, this.#conversation.cwd));
  }

  #receive(event: HostEvent): void {
    if (event.type === "update") return this.#update(event.event);
    if (event.type === "accepted") {
      this.#events = this.#newEvents();
      this.#conversation.accepted(event.turn);
    }
    if (event.type === "asked") this.#show(this.#events.pendingCall(event));
    if (event.type === "continued") this.#conversation.continued();
    if (event.type === "switched") {
      this.#parked = null;
      this.#conversation.switchedTo(event.to);
    }
    const { upstreams } = this.#parts;
    const { id, upstream } = this.#conversation;
    const notice = noticeOf(withoutId(event, id), { agent: upstream.agent, hasOthers: upstreams.length > 1 });
    if (notice === null) return this.#tellParked(event);
    if (event.type !== "parked") return this.tell(notice, event.type === "ended" ? "message" : "thought");
    this.#tellHost(notice);
    this.#parked = notice;
  }

  #update(event: TurnEvent): void {
    const { wire } = event;
    if (wire instanceof AgentLine) this.forward(wire);
    else if (!this.#conversation.upstream.carriesLines) this.#show(this.#events.updateOf(event));
    if (event.type === "waiting")
      this.tell(waitingNotice(event, this.#conversation.upstream.agent), "thought");
  }

  /** Hands the host a line of the agent. */
  forward(line: AgentLine): void {
    if (line.onReached !== null) line.onReached();
    else if (this.#conversation.isStopping && this.#parts.wire.refuse(line)) return;
    else if (line.session === null) this.#parts.wire.forward(line, []);
    else if (this.#queue !== null) this.#queue.push(line);
    else this.#parts.wire.forward(line, this.#conversation.observe(line));
  }

  #show(update: Fields | null): void {
    if (update === null) return;
    if (this.#queue !== null) this.#queue.push(update);
    else this.#parts.wire.update(this.#conversation.id, update);
  }

  /** Holds the agent's lines back from now on; false if they were held back already. */
  holdBack(): boolean {
    if (this.#queue !== null) return false;
    this.#queue = [];
    return true;
  }

  /** The host knows the conversation now. */
  release(): void {
    const queue = this.#queue ?? [];
    this.#queue = null;
    for (const item of queue)
      if (item instanceof AgentLine) this.forward(item);
      else this.#show(item);
  }

  /** A paused agent is worth a notice only if no other agent continues in its place. */
  #tellParked(event: HostEvent): void {
    if (event.type !== "ended" || this.#parked === null) return;
    this.#tellPerson(this.#parked, "message");
    this.#parked = null;
  }

  /** Says something to the host's person, and to the host. */
  tell(notice: Notice, otherwise: "message" | "thought"): void {
    this.#tellPerson(notice, otherwise);
    this.#tellHost(notice);
  }

  #tellPerson(notice: Notice, otherwise: "message" | "thought"): void {
    const { severity, title, description, meta } = notice;
    const { wire } = this.#parts;
    const { id } = this.#conversation;
    const _meta = { holdfast: meta };
    if (this.#parts.showsNotices())
      return wire.update(id, { sessionUpdate: "notice", severity, title, description, _meta });
    const text = `${title}. ${description}\n\n`;
    const sessionUpdate = otherwise === "message" ? "agent_message_chunk" : "agent_thought_chunk";
    wire.update(id, { sessionUpdate, content: { type: "text", text }, _meta });
  }

  #tellHost({ meta }: Notice): void {
    const update = { sessionUpdate: "session_info_update", _meta: { holdfast: meta } };
    this.#parts.wire.update(this.#conversation.id, update);
  }

  /** Asks whether a call may run. An answer that cancels the request cancels the turn. */
  async #askLeave(permission: PermissionAsked, signal: AbortSignal): Promise<"allow" | "deny" | "later"> {
    const { upstream, id, cwd } = this.#conversation;
    const callView = upstream.describeCall({ name: permission.tool, input: permission.input }, cwd);
    const answer = await this.#parts.wire.askUntil(signal, permissionText(permission, callView, id));
    const result = answer?.result == null ? null : readableAt(answer.bytes, answer.result);
    const { outcome, optionId } = fieldsOf(fieldsOf(result)["outcome"]);
    if (outcome === "cancelled") this.#conversation.cancelTurn();
    if (outcome !== "selected") return "later";
    return optionId === ALLOW ? "allow" : "deny";
  }

  async #ask(question: Question): Promise<boolean> {
    const params = questionText(question, this.#conversation.id);
    const answer = await this.#parts.wire.ask("session/request_permission", params);
    const result = answer.result === null ? null : readableAt(answer.bytes, answer.result);
    return fieldsOf(fieldsOf(result)["outcome"])["optionId"] === question.yes.optionId;
  }
}

/** An agent's errors name its own session id; the host knows the session by ours. */
function withoutId(event: HostEvent, id: string): HostEvent {
  if (event.upstream === null || !("message" in event)) return event;
  return { ...event, message: event.message.replaceAll(event.upstream, id) };
}

/** Something a person is asked by the bridge itself, as a host asks for permissions. */
interface Question {
  /** Names it among the host's own. */
  readonly name: string;
  readonly title: string;
  readonly text: string;
  readonly yes: { readonly optionId: string; readonly name: string };
  readonly no: { readonly optionId: string; readonly name: string };
  /** For programs: goes into `_meta.holdfast`. */
  readonly meta: { readonly [name: string]: Json };
}

function switchQuestion({ agent, next, message }: Limit): Question {
  return {
    name: "limit",
    title: `${agent} reached its limit. Continue with ${next}?`,
    text: message,
    yes: { optionId: "switch", name: `Continue with ${next}` },
    no: { optionId: "park", name: `Wait for ${agent}` },
    meta: { event: "limit", agent, next },
  };
}

function hideQuestion({ entry, isPrompt, message }: Poison, agent: string): Question {
  return {
    name: "poisoned",
    title: `${agent} rejects ${isPrompt ? "this prompt" : "an image in the history"}. Hide it from every model?`,
    text: `${message}\nThe log keeps it either way, and no other session receives it.`,
    yes: { optionId: "hide", name: "Hide it" },
    no: { optionId: "keep", name: "Leave it" },
    meta: { event: "poisoned", agent, entry, isPrompt },
  };
}

/** The question as the parameters of `session/request_permission`. */
function questionText(question: Question, conversation: string): string {
  const { name, title, text, yes, no, meta } = question;
  return JSON.stringify({
    sessionId: conversation,
    toolCall: {
      toolCallId: `holdfast-${name}-${conversation}`,
      title,
      kind: "other",
      status: "pending",
      content: [{ type: "content", content: { type: "text", text } }],
    },
    options: [
      { ...yes, kind: "allow_once" },
      { ...no, kind: "reject_once" },
    ],
    _meta: { holdfast: meta },
  });
}

const ALLOW = "allow";

/** A call that waits for a person, as the same parameters. */
function permissionText(permission: PermissionAsked, callView: Fields, conversation: string): string {
  const { call: toolCallId, tool: title, input: rawInput, request } = permission;
  return JSON.stringify({
    sessionId: conversation,
    toolCall: { toolCallId, title, rawInput, ...callView, status: "pending" },
    options: [
      { optionId: ALLOW, name: "Allow", kind: "allow_once" },
      { optionId: "deny", name: "Deny", kind: "reject_once" },
    ],
    _meta: { holdfast: { event: "permission", request } },
  });
}

/** A notice for the host and its user, besides the agent's lines. */
interface Notice extends NoticeText {
  /** For programs: goes into `_meta.holdfast`. */
  readonly meta: { readonly [name: string]: Json };
}

interface About {
  readonly agent: string;
  /** Whether another agent can continue. */
  readonly hasOthers: boolean;
}

/** What there is to tell about an event; null when there is nothing. */
export function noticeOf(event: HostEvent, { agent, hasOthers }: About): Notice | null {
  const meta = metaOf(event);
  const text = noticeText(event, {
    agent,
    otherAgent: hasOthers || event.type === "switched" ? "/agent NAME" : null,
    timeText: isoTime,
  });
  return text === null || meta === null ? null : { ...text, meta: { event: event.type, agent, ...meta } };
}

/** A fork is another conversation over the same files. */
export function forkedNotice(source: string): Notice {
  return { ...FORKED_TEXT, meta: { event: "forked", source, notUndone: NOT_UNDONE } };
}

/** The agent starts with an empty context. */
function resetNotice(reason: string, agent: string): Notice {
  return { ...resetText(agent, reason), meta: { event: "reset", agent, reason } };
}

/** The agent reports that it waits before it retries on its own. */
function waitingNotice(waiting: { readonly text: string; readonly delayMs: number }, agent: string): Notice {
  const { text, delayMs } = waiting;
  return { ...waitingText(agent, waiting), meta: { event: "waiting", agent, delayMs, message: text } };
}

/** An event for programs; null for events that reach the host in another way. */
function metaOf(event: HostEvent): { readonly [name: string]: Json } | null {
  switch (event.type) {
    case "session": {
      const { reason, fidelity, restored, priorContext } = event;
      return {
        reason,
        fidelity,
        restored,
        ...(priorContext === null ? {} : { priorContext: { ...priorContext } }),
      };
    }
    case "lost":
      return { class: event.class, message: event.message };
    case "poisoned": {
      const { entry, isPrompt, hidden, message } = event;
      return { entry, isPrompt, hidden, message };
    }
    case "backing_off":
      return { delayMs: event.delayMs, message: event.message };
    case "parked": {
      const { class: endingClass, message, resetAtMs } = event;
      return { class: endingClass, message, resetAt: resetAtMs === null ? null : isoTime(resetAtMs) };
    }
    case "switched":
      return { from: event.from, agent: event.to };
    case "silent":
      return { forMs: event.forMs };
    case "adopted":
      return { messages: event.messages, aside: event.aside };
    case "continued":
      return { how: event.how, at: event.at, fidelity: event.fidelity, notUndone: NOT_UNDONE };
    case "ended":
      // Any other ending is the answer to the prompt.
      return event.class === "empty" ? { event: "empty" } : null;
    case "compacted":
      return { entry: event.entry, tokensBefore: event.tokensBefore };
    case "waiting":
      return { requests: event.requests };
    case "accepted":
    case "forked":
    case "update":
    case "step":
    case "asked":
    case "answered":
      return null;
  }
}

function isoTime(ms: number): string {
  return new Date(ms).toISOString();
}
