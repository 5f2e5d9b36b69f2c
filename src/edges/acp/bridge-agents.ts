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
  /** What is chosen is written by it, and not by the bridge. */
  readonly keepsChoices: boolean = false;
  abstract readonly model: string | null | undefined;
  abstract readonly conversation: ConversationId;
  /** The result that opened it, as it came: modes, options and whatever else it told; null when there was none. */
  abstract readonly openAnswer: Message | null;
  /** Its modes, options and commands as they are now. */
  abstract readonly options: SessionOptions;
  /** Asks what the host asked. The answer keeps its place behind what the session said before. */
  abstract forward(request: Message): ForwardedRequest;
  /** Hands on what the host told. */
  abstract notify(message: Message): void;
  /** Sets what was chosen since it was opened. What it does not know, or refuses, stays as it is. */
  abstract applyChoices(chosen: AgentChoices): Promise<void>;
  /** The log may say something else of it by now. */
  async refresh(): Promise<void> {
    // Most sessions are asked, and not the log.
  }
  /** The host has heard how the turn ended: what came after may follow. */
  abstract turnShown(): void;
}

/** What a host that opens a conversation is told of how it stands. */
export interface RestoredState {
  /** For programs. */
  readonly meta: Fields;
  /** What follows the history. */
  readonly updates: readonly Fields[];
  /** For people; null when there is nothing to be done. */
  readonly notice: (NoticeText & { readonly meta: Fields }) | null;
}

/** What the bridge needs of an agent beyond carrying turns. */
export interface HostedAgent {
  readonly agent: string;
  readonly account: string | null;
  /** What it keeps on disk, where that can be read. */
  readonly native: NativeStore | null;
  /** The ids of the logins it offers. */
  readonly logins: readonly string[];
  /** Its events carry the lines it said: one without a line is not for the host. */
  readonly carriesLines: boolean;
  /** The commands it offers in every session; those of an agent of the host's protocol come as its own lines. */
  readonly commands: readonly Fields[];
  /** Its result of `initialize`: it is started if it does not run. */
  introduce(): Promise<Json>;
  /** Asks what the host asked about no session. */
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
  /** What a host shows of a call of a tool, beyond what was said of it. */
  describeCall(call: { readonly name: string; readonly input: Json }, cwd: string | null): Fields;
  /** How a conversation stands that a host opens, where the agent knows more of it than its history. */
  restored(conversation: string): Promise<RestoredState | null>;
  /** Ends it for good. */
  stop(): Promise<void>;
}

type UpstreamBridgeSession = BridgeSession & UpstreamSession;

/** An agent with sessions of its own, behind the runtime. */
export interface BridgeUpstream extends HostedAgent, Upstream {
  readonly agent: string;
  readonly account: string | null;
  open(settings: SessionSettings): Promise<UpstreamBridgeSession>;
  resume(id: string, settings: SessionSettings): Promise<UpstreamBridgeSession>;
  fork(id: string, settings: SessionSettings, keepTurns?: number): Promise<UpstreamBridgeSession>;
}

type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal";

/** What became of a prompt, as far as a host is told. */
export interface BridgeTurn extends Pick<
  SendResult,
  "outcome" | "class" | "message" | "resetAtMs" | "upstream" | "end"
> {
  /** Its end in the protocol's words, where whoever carried it says nothing of its own. */
  readonly stop?: {
    readonly reason: StopReason;
    readonly usage?: Fields;
    /** Goes into `_meta.holdfast`. */
    readonly meta?: Fields;
  };
  /** It was a command: nothing was said that the conversation could be called by. */
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
  /** What the host opened a conversation with. */
  readonly paramsOf: (conversation: string) => string | null;
  /** Shows the host an update. */
  readonly show: (conversation: string, update: Fields) => void;
}

/** An agent loop that is loaded: a bridge without one does not load it. */
export interface LoadedLoop {
  open(place: LoopPlace): BridgeAgents;
}
