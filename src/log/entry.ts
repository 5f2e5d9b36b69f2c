import type { ConversationId, EntryId } from "./ids.ts";
import type { Json } from "./json/json-text.ts";

/** The version a batch is written in. Older ones are upcast when read, newer ones are refused. */
export const FORMAT_VERSION = 1;

type JsonObject = { readonly [name: string]: Json };

export type ContentBlock =
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "thinking"; readonly thinking: string; readonly signature?: string }
  | { readonly type: "toolCall"; readonly id: string; readonly name: string; readonly input: Json }
  | { readonly type: "image"; readonly mediaType: string; readonly blob?: string; readonly data?: string };

export type ToolCall = Extract<ContentBlock, { type: "toolCall" }>;

export interface Usage {
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly cacheReadTokens?: number;
  readonly cacheWriteTokens?: number;
  readonly costMicros?: number;
}

export interface MessageExtras {
  /** Any JSON; kept, never sent to the model. */
  readonly details?: Json;
  /** In the log and the context, not in the history people read. */
  readonly internal?: boolean;
}

export interface UserMessage extends MessageExtras {
  readonly role: "user";
  readonly content: readonly ContentBlock[];
}

export interface AssistantMessage extends MessageExtras {
  readonly role: "assistant";
  readonly content: readonly ContentBlock[];
  readonly model?: string;
  readonly stopReason?: string;
  readonly usage?: Usage;
}

export interface ToolResultMessage extends MessageExtras {
  readonly role: "toolResult";
  readonly toolCallId: string;
  readonly toolName?: string;
  readonly isError?: boolean;
  readonly content: readonly ContentBlock[];
}

export type Role = Message["role"];
export type Message = UserMessage | AssistantMessage | ToolResultMessage;

/** Where a fork came from: a node of another conversation, and how much of that log it may ever see. */
interface Origin {
  readonly conversation: ConversationId;
  readonly entry: EntryId;
  readonly head: number;
}

export interface Skill {
  readonly name: string;
  readonly source?: string;
  readonly digest?: string;
}

interface NodeBodies {
  conversation: {
    readonly cwd?: string;
    readonly origin?: Origin;
    /** Set by an import: the log holds what it was forked with itself, up to that entry. */
    readonly forkedFrom?: Origin;
  };
  message: { readonly message: Message; readonly details?: Json; readonly internal?: boolean };
  seed: { readonly run: string; readonly messages: readonly Json[] };
  model_change: { readonly model: string; readonly provider?: string };
  // Each of these three states the whole value: the latest on the path is all a reader needs.
  config_change: { readonly config: JsonObject };
  skill_change: { readonly skills: readonly Skill[] };
  state_change: { readonly state: Json };
  compaction: {
    readonly summary: string;
    /** The first entry that stays word for word; absent when the summary replaces everything before it. */
    readonly firstKeptEntryId?: EntryId;
    readonly tokensBefore?: number;
    readonly usage?: Usage;
    readonly details?: Json;
  };
  branch_summary: {
    readonly fromId: EntryId;
    readonly summary: string;
    readonly usage?: Usage;
    readonly details?: Json;
  };
  reset: { readonly reason?: string };
  custom: {
    readonly customType: string;
    readonly data?: Json;
    readonly inContext?: boolean;
    readonly content?: readonly ContentBlock[];
  };
}

export type TurnOutcome = "completed" | "interrupted" | "failed";
/** How an upstream came to know the conversation: by itself, from a transcript we wrote, or from a preamble. */
export type Fidelity = "native" | "transcript" | "preamble";
/** What an upstream was told, with a prompt, of what came before it. */
export interface Told {
  /** How many messages, word for word, and the first of them. */
  readonly messages: number;
  readonly from?: EntryId;
  /** How many before those were told in outline only, `more` when not all were counted. */
  readonly leftOut: number;
  readonly more?: boolean;
  /** A compaction's summary stood in front. */
  readonly summary?: boolean;
  /** How many actions were listed. */
  readonly effects: number;
}

type SteerState = "accepted" | "delivered" | "cancelled";

export interface FactBodies {
  run_start: {
    readonly run: string;
    readonly trigger: string;
    readonly seed?: EntryId;
    readonly model?: string;
  };
  run_end: { readonly run: string; readonly status: string };
  turn_start: { readonly turn: string; readonly prompt?: EntryId; readonly run?: string };
  attempt: {
    readonly turn: string;
    readonly upstream: string;
    readonly fidelity?: Fidelity;
    /** The process that is asked, so that it can be ended by whoever finds the turn open. */
    readonly process?: string;
    readonly told?: Told;
    readonly usage?: Usage;
  };
  turn_end: {
    readonly turn: string;
    readonly outcome: TurnOutcome;
    readonly class?: string;
    /** Who carried the turn in the end, and the last node it then held. */
    readonly upstream?: string;
    readonly node?: EntryId;
    /** Up to where it holds everything or was told of it, where the outcome does not say so; null: nothing is known. */
    readonly held?: EntryId | null;
    readonly resetAt?: string;
    /** The agents that said during this turn when they would be free again. */
    readonly parked?: readonly {
      readonly agent: string;
      readonly account?: string;
      readonly resetAt: string;
    }[];
    /** What its attempts used that no message has, and the model where it was one. */
    readonly usage?: Usage;
    readonly model?: string;
  };
  tool_intent: {
    readonly call: string;
    readonly name: string;
    readonly input?: Json;
    readonly replay?: "never" | "safe";
    readonly idempotencyKey?: string;
    readonly turn?: string;
    /** Which answer of the model in this turn it belongs to, where ids come again in each. */
    readonly step?: number;
  };
  tool_progress: { readonly call: string; readonly text?: string; readonly data?: Json };
  update: { readonly turn?: string; readonly data?: Json };
  permission: { readonly call?: string; readonly data?: Json };
  plan: { readonly data?: Json };
  steer: { readonly steer: string; readonly state: SteerState; readonly content?: readonly ContentBlock[] };
  upstream_link: {
    readonly upstream: string;
    readonly agent: string;
    readonly account?: string;
    readonly reason: string;
    /** The last node the upstream holds already, when it was forked from one that did. */
    readonly node?: EntryId;
  };
  upstream_end: {
    readonly upstream: string;
    readonly reason: string;
    /** The node that made every request fail, where that is the reason. */
    readonly node?: EntryId;
  };
  leaf: { readonly target: EntryId };
  hide: { readonly target: EntryId; readonly hidden?: boolean };
  label: { readonly target: EntryId; readonly label: string | null };
  title: { readonly title: string };
}

export type NodeType = keyof NodeBodies;
export type FactType = keyof FactBodies;
/** The node types whose latest entry on a path decides something. */
export type SettingType =
  | "compaction"
  | "reset"
  | "model_change"
  | "config_change"
  | "skill_change"
  | "state_change";
export type EntryType = NodeType | FactType;
export type Bodies = NodeBodies & FactBodies;

/** What a caller gives: a type and its payload; the rest is made for it. */
export type EntryBody = {
  [T in EntryType]: {
    readonly type: T;
    readonly id?: string;
    readonly parentId?: string | null;
    readonly time?: string;
  } & Bodies[T];
}[EntryType];

/** An entry as a store keeps it: the envelope, and the payload as the exact JSON text it came in. */
export interface StoredEntry {
  readonly v: number;
  readonly id: EntryId;
  readonly seq: number;
  readonly parentId: EntryId | null;
  readonly time: string;
  readonly type: EntryType;
  readonly payload: string;
}

/** An entry read: the stored one with its payload parsed beside the exact text. */
export type EntryOf<T extends EntryType> = StoredEntry & { readonly type: T } & Bodies[T];
export type Entry = { [T in EntryType]: EntryOf<T> }[EntryType];
