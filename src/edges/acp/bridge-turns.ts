import type { Clock } from "#conversation/clock";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import type { Fields } from "#log/json/json-fields";
import type { PromptContent } from "#turn/accept";
import type { Turns } from "#turn/turns";
import type { SendResult } from "#upstream/finish-turn";
import type { ForkAsideOptions } from "#upstream/forks/from";
import type { ConnectOptions, SendOptions } from "#upstream/options";
import type { Connected } from "#upstream/prior/lacking";
import type { HostedAgent } from "./bridge-upstream.ts";

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
