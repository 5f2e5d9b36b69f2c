import type { ConversationId } from "#log/ids";
import type { Fields } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { AgentChoices } from "#log/projections/config";
import type { SessionSettings, TranscriptMessage, Upstream, UpstreamSession } from "#upstream/upstream";
import type { NativeStore } from "#vendors/native-store";
import type { NoticeText } from "#operations/views/notices";
import type { Answer } from "./agent/connection.ts";
import type { SessionOptions } from "./agent/session-options.ts";
import type { Message } from "./wire/spans.ts";
import type { Clock } from "#conversation/clock";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import type { PromptContent } from "#turn/accept";
import type { Turns } from "#turn/turns";
import type { SendResult } from "#upstream/finish-turn";
import type { ForkAsideOptions } from "#upstream/sessions/prompt-origin";
import type { ConnectOptions, SendOptions } from "#upstream/options";
import type { Connected } from "#upstream/missing-context";

/** A request of the host that an agent is asked. */
export interface ForwardedRequest {
  readonly answer: Promise<Answer>;
  /** Tells the agent that the host does not want it any more. */
  cancel(): void;
}

/** A session as the bridge shows it to a host. */
export abstract class BridgeSession {
  abstract readonly id: string;
  /** The agent itself records a chosen model; the bridge does not. */
  readonly keepsChoices: boolean = false;
  abstract readonly model: string | null | undefined;
  abstract readonly conversation: ConversationId;
  /** The result that opened the session, unchanged: modes, options and other members. Null when there was none. */
  abstract readonly openAnswer: Message | null;
  /** Its modes, options and commands as they are now. */
  abstract readonly options: SessionOptions;
  /** Forwards a request of the host. The answer keeps its place after the lines the session sent before it. */
  abstract forward(request: Message): ForwardedRequest;
  /** Forwards a notification of the host. */
  abstract notify(message: Message): void;
  /** Applies the choices made since the session was opened. Options that the agent does not know or rejects stay as they are. */
  abstract applyChoices(chosen: AgentChoices): Promise<void>;
  /** The log may say something else of it by now. */
  async refresh(): Promise<void> {
    // Most sessions are asked, and not the log.
  }
  /** The host has received the end of the turn, so later lines may follow. */
  abstract turnShown(): void;
}

/** The state of a conversation for a host that opens it. */
export interface RestoredState {
  /** For programs. */
  readonly meta: Fields;
  /** What follows the history. */
  readonly updates: readonly Fields[];
  /** For people; null when there is nothing to be done. */
  readonly notice: (NoticeText & { readonly meta: Fields }) | null;
}

/** What the bridge needs from an agent besides running turns. */
export interface HostedAgent {
  readonly agent: string;
  readonly account: string | null;
  /** The agent's records on disk, where they can be read. */
  readonly native: NativeStore | null;
  /** The ids of the logins it offers. */
  readonly logins: readonly string[];
  /** Its events carry the agent's lines. An event without a line is not for the host. */
  readonly carriesLines: boolean;
  /** The commands it offers in every session; those of an agent of the host's protocol come as its own lines. */
  readonly commands: readonly Fields[];
  /** Its result of `initialize`: it is started if it does not run. */
  introduce(): Promise<Json>;
  /** Forwards a request that is about no session. */
  forward(request: Message): Promise<ForwardedRequest>;
  notify(message: Message): Promise<void>;
  /** The session that is held for a conversation, in a turn or between two. */
  sessionOf(conversation: string): BridgeSession | null;
  /** The result of `session/list`; null when it lists none. */
  listSessions(): Promise<Json>;
  /** The history of a session as the agent tells it, where its records cannot be read. */
  replayedHistory(id: string, settings: SessionSettings): Promise<readonly TranscriptMessage[]>;
  /** Deletes a session of the agent's, where that can be done. */
  forget(id: string): Promise<void>;
  /** Another client sends a prompt in this conversation and needs the session, where the agent allows one client at a time. */
  yieldSession(conversation: string): Promise<void>;
  /** A turn has ended in this session: what its record holds now is known. */
  turnEnded(id: string): Promise<void>;
  /** A host that reads slowly makes the agent wait. */
  pause(paused: boolean): void;
  /** What a host shows of a tool call besides the recorded text. */
  describeCall(call: { readonly name: string; readonly input: Json }, cwd: string | null): Fields;
  /** The state of a conversation that a host opens, where the agent knows more than the history does. */
  restored(conversation: string): Promise<RestoredState | null>;
  /** Ends it for good. */
  stop(): Promise<void>;
}

type UpstreamBridgeSession = BridgeSession & UpstreamSession;

/** An agent with its own sessions, run by the runtime. */
export interface BridgeUpstream extends HostedAgent, Upstream {
  readonly agent: string;
  readonly account: string | null;
  open(settings: SessionSettings): Promise<UpstreamBridgeSession>;
  resume(id: string, settings: SessionSettings): Promise<UpstreamBridgeSession>;
  fork(id: string, settings: SessionSettings, keepTurns?: number): Promise<UpstreamBridgeSession>;
}

type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal";

/** The result of a prompt, as far as a host learns it. */
export interface BridgeTurn extends Pick<
  SendResult,
  "outcome" | "class" | "message" | "resetAtMs" | "upstream" | "end"
> {
  /** The stop reason of the protocol, where the agent reports none itself. */
  readonly stop?: {
    readonly reason: StopReason;
    readonly usage?: Fields;
    /** Goes into `_meta.holdfast`. */
    readonly meta?: Fields;
  };
  /** The prompt was a command, so the conversation takes no title from it. */
  readonly isCommand?: boolean;
}

/** Runs the turns of the bridge's conversations: the runtime with its upstreams, or an agent loop. */
export interface BridgeTurns extends Pick<Turns, "note" | "cancel" | "close"> {
  send(to: string, content: PromptContent, options: SendOptions): Promise<BridgeTurn>;
  /** Gets a session ready, a `BridgeSession`. */
  connect(
    to: string,
    options: ConnectOptions,
  ): Promise<Omit<Connected, "session"> & { readonly session: object }>;
  fork(of: string, options: ForkAsideOptions): Promise<{ readonly conversation: Conversation }>;
  release(of: string): Promise<void>;
}

/** What runs the turns of a bridge, and the agents that a host is shown. */
export interface BridgeAgents {
  readonly turns: BridgeTurns;
  readonly upstreams: readonly [HostedAgent, ...HostedAgent[]];
}

/** The bridge as an agent loop sees it. */
interface LoopPlace {
  readonly holdfast: Holdfast;
  readonly clock: Clock;
  /** The parameters with which the host opened a conversation. */
  readonly paramsOf: (conversation: string) => string | null;
  /** Shows the host an update. */
  readonly show: (conversation: string, update: Fields) => void;
}

/** An agent loop that is loaded: a bridge without one does not load it. */
export interface LoadedLoop {
  open(place: LoopPlace): BridgeAgents;
}
