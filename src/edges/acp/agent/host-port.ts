import type { SessionSettings } from "#upstream/upstream";
import type { ConversationId } from "#log/ids";
import type { Message } from "#edges/acp/wire/spans";
import { WireMessage } from "#turn/wire-message";
import type { Connection } from "./process/connection.ts";

/** A line an agent said, on its way to the host. */
export class AgentLine extends WireMessage {
  readonly connection: Connection;
  readonly message: Message;
  /** The session it is about, by the agent's id and by ours; null for a line that is about none. */
  readonly session: { readonly upstream: string; readonly conversation: ConversationId } | null;
  /** For a request: hears what the host answered. */
  readonly onAnswer: ((answer: Message) => void) | null;
  /** Not passed on itself: called once everything that was said before it has been. */
  readonly onReached: (() => void) | null;

  constructor(said: LineParts) {
    super();
    this.connection = said.connection;
    this.message = said.message;
    this.session = said.session;
    this.onAnswer = said.onAnswer ?? null;
    this.onReached = said.onReached ?? null;
  }
}

type LineParts = Pick<AgentLine, "connection" | "message" | "session"> &
  Partial<Pick<AgentLine, "onAnswer" | "onReached">>;

/** The host as an agent's side sees it. */
export interface HostPort {
  /** The params of `initialize`, as the host gave them. */
  introduction(): string;
  /** What the host gave with a session besides its folder: MCP servers and whatever else, as the text of an object. */
  sessionParams(settings: SessionSettings): string;
  /** Hands the host a line that belongs to no turn. */
  forward(line: AgentLine): void;
  /** People answer in the log, by the name of the question; otherwise the host does. */
  readonly asksInLog?: true;
  /** Nobody waits for the host's answers to this agent any more. */
  agentEnded(connection: Connection): void;
}
