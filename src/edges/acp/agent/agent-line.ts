import type { SessionSettings } from "#upstream/upstream";
import type { ConversationId } from "#log/ids";
import type { Message } from "#edges/acp/wire/spans";
import type { Fields } from "#log/json/json-fields";
import { WireMessage } from "#turn/wire-message";
import { type Answer, type Connection, ConnectionEnded } from "./connection.ts";
import type { ForwardedRequest } from "#edges/acp/bridge-agents";
import type { Edit } from "#edges/acp/wire/splice";

/** A line of an agent, on its way to the host. */
export class AgentLine extends WireMessage {
  readonly connection: Connection;
  readonly message: Message;
  /** The update in the line, parsed once for all readers; null for a line without one. */
  readonly update: Fields | null;
  /** The session it is about, by the agent's id and by ours; null for a line that is about none. */
  readonly session: { readonly upstream: string; readonly conversation: ConversationId } | null;
  /** For a request: receives the host's answer. */
  readonly onAnswer: ((answer: Message) => void) | null;
  /** Not forwarded: called once all earlier lines have been. */
  readonly onReached: (() => void) | null;

  constructor(parts: LineParts) {
    super();
    this.connection = parts.connection;
    this.message = parts.message;
    this.update = parts.update ?? null;
    this.session = parts.session;
    this.onAnswer = parts.onAnswer ?? null;
    this.onReached = parts.onReached ?? null;
  }

  override get size(): number {
    return this.message.size;
  }
}

type LineParts = Pick<AgentLine, "connection" | "message" | "session"> &
  Partial<Pick<AgentLine, "update" | "onAnswer" | "onReached">>;

/** The host as an agent's side sees it. */
export interface HostPort {
  /** The params of `initialize`, as the host gave them. */
  introduction(): string;
  /** What the host passed with a session besides its folder, such as MCP servers, as the text of an object. */
  sessionParams(settings: SessionSettings): string;
  /** Hands the host a line that belongs to no turn. */
  forward(line: AgentLine): void;
  /** Users answer permission requests in the log, by the request's name. If absent, the host answers them. */
  readonly asksInLog?: true;
  /** The process of an agent has ended, so the host's answers to it are no longer awaited. */
  agentEnded(connection: Connection): void;
}

interface ForwardInput {
  readonly request: Message;
  readonly edits: readonly Edit[];
  /** Puts a line behind what was said before it; false when nothing waits. */
  readonly inOrder: (line: AgentLine) => boolean;
}

/** Asks an agent what the host asked. The answer keeps its place behind what the agent said before. */
export function forwardOn(
  connection: Connection,
  { request, edits, inOrder }: ForwardInput,
): ForwardedRequest {
  const { promise: answer, resolve, reject } = Promise.withResolvers<Answer>();
  const id = connection.forward(request, edits, (response) => {
    if (response instanceof ConnectionEnded) return reject(response);
    const onReached = (): void => resolve(response);
    const place = new AgentLine({ connection, message: response.message, session: null, onReached });
    if (!inOrder(place)) onReached();
  });
  return { answer, cancel: () => connection.notify("$/cancel_request", `{"requestId":${id}}`) };
}
