import type { ContentBlock, Message, Usage } from "#log/message";
import type { ConversationId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import type { CommandKind } from "./rules/transcript.ts";
import type { EndSigns, EndingTable } from "#turn/rules/classify";
import type { Ending } from "#turn/rules/ending";
import type { PriorContext } from "./rules/prior-context.ts";
import type { ToolCallRequest } from "#turn/effects/act";
import type { EffectOutcome, EffectStep } from "#turn/effects/run-effects";
import type { TurnEvent } from "#turn/rules/turn-event";
import type { WireMessage } from "#turn/wire-message";

/** What an agent can do with its own sessions. */
export interface Capabilities {
  readonly resume: boolean;
  readonly fork: "none" | "head" | "message";
  /** Its resume and its fork restore everything or fail; none comes back with half a history. */
  readonly trustedResume: boolean;
  /** A prompt that the model's service refused stays in its session. Not unless said. */
  readonly keepsPrompt?: boolean;
}

/** Replayed after every open, resume and fork: agents forget them. */
export interface SessionSettings {
  /** Whose session it is to be. */
  readonly conversation: ConversationId;
  readonly cwd: string | null;
  readonly model: string | null;
  readonly config: { readonly [name: string]: Json };
  /** When an upstream was last asked anything for it; null when none was. */
  readonly usedAt: string | null;
}

/** How an attempt ended, in the agent's own terms. */
export interface RawEnd extends EndSigns {
  readonly durationMs: number;
  readonly usage: Usage | null;
  /** The model that answered, where the agent named it. */
  readonly model?: string | null;
  /** The answer as it came, for an edge that passes it on. */
  readonly wire?: WireMessage;
}

export type PromptEvent = TurnEvent | { readonly type: "end"; readonly end: RawEnd };

export interface PromptRequest {
  readonly content: readonly ContentBlock[];
  /** The same as the host sent it, for an upstream that speaks its protocol too. */
  readonly wire?: WireMessage;
  /** What the session lacks of the conversation, to be sent in front of the prompt; empty for a session that is verified. */
  readonly prior: PriorContext;
  /** Whether `prior` is empty. */
  readonly proven: boolean;
  readonly settings: SessionSettings;
  /**
   * Runs tools of one's own as part of this turn: each at most once, its intent durable before it starts and its outcome
   * before this resolves. They are told of and recorded here: do not yield `tool` events for them. Refused once the turn
   * is over or cancelled.
   */
  readonly runEffects: (
    calls: readonly ToolCallRequest[],
    where?: EffectStep,
  ) => Promise<readonly EffectOutcome[]>;
}

/** A message as an agent's own record has it. */
export interface NativeMessage {
  readonly id: string | null;
  readonly time: string | null;
  readonly message: Message;
  /** A tool result that stands in place of an outcome: the agent was ended, and how far the tool had got, nobody knows. */
  readonly cutOff?: boolean;
  /** A tool result that stands in place of an outcome: the call never started, because it was refused or stopped before. */
  readonly notRun?: boolean;
}

export interface TranscriptMessage {
  readonly role: "user" | "assistant";
  readonly text: string;
}

/** One session of the vendor's. Its id is transient. */
export interface UpstreamSession {
  readonly id: string;
  /** What it showed of its history when it was resumed or forked, oldest first; null when the agent shows none. */
  readonly transcript: readonly TranscriptMessage[] | null;
  /**
   * Changes whenever the process behind the session is another one. It is durable before the prompt, so that whoever
   * finds the turn open after a crash can end that process first: see `Upstream.restart`.
   */
  readonly process: string;
  /** The model that answers, where the session knows it; then it is not the one the settings name. */
  readonly model?: string | null | undefined;
  /** How many tokens its model takes, where that is known: a new session is told no more than has room in it. */
  readonly windowTokens?: number | null;
  /** What a command of this name is to the agent's own program; null when it goes to the model like any words. */
  commandOf?(name: string): CommandKind | null;
  /** Ends with exactly one `end`. */
  prompt(request: PromptRequest): AsyncIterable<PromptEvent>;
  /**
   * Hands the agent words of a person while it works on a prompt; true when it takes them into that prompt. Left out, or
   * false: they go out with the next one.
   */
  steer?(content: readonly ContentBlock[]): Promise<boolean>;
  /** Asks the agent to stop; the running prompt then ends, unless the agent ignores it. */
  cancel(): Promise<void>;
  close(): Promise<void>;
}

/** Anything that owns a session of its own. Failures of open, resume and fork are thrown as `UpstreamFailure`. */
export interface Upstream {
  readonly agent: string;
  readonly account: string | null;
  readonly capabilities: Capabilities;
  /**
   * Its tools run in a process of its own, which goes on whether or not it is read. One whose tools run in ours, when it
   * is asked for its next event, must not say so: it is not asked on before the intent of a tool it told of is durable.
   */
  readonly toolsElsewhere?: boolean;
  /** What it means by what it says at the end. Left out: statuses and error codes are read, words are not. */
  readonly endings?: EndingTable;
  open(settings: SessionSettings): Promise<UpstreamSession>;
  resume(id: string, settings: SessionSettings): Promise<UpstreamSession>;
  fork(id: string, settings: SessionSettings, keepTurns?: number): Promise<UpstreamSession>;
  /** A new session that holds these messages as its own history, tools included; null when that cannot be had. */
  restore?(messages: readonly Message[], settings: SessionSettings): Promise<UpstreamSession | null>;
  /** What the agent's own record of a session holds, oldest first; null when it cannot be read. */
  history?(id: string, settings: SessionSettings): Promise<readonly NativeMessage[] | null>;
  /**
   * Ends the group of this process, whatever it is doing, before anything is sent to another; null: of whatever runs.
   * A process that was started since is left alone: other conversations may be using it.
   */
  restart(process: string | null): Promise<void>;
}

/** An open, resume or fork that did not work. */
export class UpstreamFailure extends Error {
  readonly ending: Ending;
  /** The process that failed at it, where that is known. */
  readonly process: string | null;

  /** The error as it came, for an edge that passes it on. */
  readonly wire: WireMessage | null;

  /** Another client has the session open; it may let go of it. */
  readonly inUse: boolean;

  constructor(
    ending: Ending,
    process: string | null = null,
    wire: WireMessage | null = null,
    inUse: boolean = false,
  ) {
    super(ending.message);
    this.wire = wire;
    this.inUse = inUse;
    this.name = "UpstreamFailure";
    this.ending = ending;
    this.process = process;
  }
}
