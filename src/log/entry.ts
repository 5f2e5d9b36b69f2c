import type { ConversationId, EntryId } from "./ids.ts";
import type { Json } from "./json/json-text.ts";
import type { ContentBlock, Message, Usage } from "./message.ts";
import type { MemoryChange } from "./table/memory-change.ts";

/** The version a batch is written in. Older ones are upcast when read, newer ones are refused. */
export const FORMAT_VERSION = 2;

type JsonObject = { readonly [name: string]: Json };

/** Where a fork came from: a node of another conversation, and how much of that log it may ever see. */
interface Origin {
  readonly conversation: ConversationId;
  readonly entry: EntryId;
  readonly head: number;
}

/** The conversation that began another one, and where in it. */
export interface Parent {
  readonly conversation: ConversationId;
  readonly entry?: EntryId;
  readonly call?: string;
  readonly run?: string;
}

/** What a working directory belongs to, so that it is known again when it was moved. */
export interface Project {
  readonly id: string;
  readonly root?: string;
  readonly remote?: string;
}

export interface Skill {
  readonly name: string;
  readonly source?: string;
  readonly digest?: string;
}

interface NodeBodies {
  conversation: {
    /** Where it was begun; a `cwd` fact says where it is worked on since. */
    readonly cwd?: string;
    readonly title?: string; // of a fork, from its source's; a `title` entry replaces it
    readonly project?: Project;
    readonly origin?: Origin;
    /** Set by an import: up to this entry, the log holds a copy of what it was forked with. */
    readonly forkedFrom?: Origin;
    /** Who began it without handing anything down: a conversation that asked another agent, say. */
    readonly parent?: Parent;
    readonly unlisted?: boolean; // kept for a program: lists leave it out
  };
  message: { readonly message: Message };
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
    /** Who wrote the summary. */
    readonly model?: string;
    readonly usage?: Usage;
    readonly details?: Json;
  };
  branch_summary: {
    readonly fromId: EntryId;
    readonly summary: string;
    readonly model?: string;
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
/** How an upstream knows the conversation: natively, from a transcript we wrote, or from a preamble. */
export type Fidelity = "native" | "transcript" | "preamble";
/** How much of the earlier conversation a new agent session was sent with a prompt. */
export interface PriorContextCounts {
  /** How many messages, word for word, and the first of them. */
  readonly messages: number;
  readonly from?: EntryId;
  /** How many before those were sent in outline only, `more` when not all were counted. */
  readonly leftOut: number;
  readonly more?: boolean;
  /** A compaction's summary stood in front. */
  readonly summary?: boolean;
  /** How many actions were listed. */
  readonly effects: number;
}

/** Who holds a conversation after a turn: where it is reached, and for how long it does. A hint for routers. */
export interface TurnHolder {
  readonly address: string;
  readonly forMs: number;
}

type SteerState = "accepted" | "delivered" | "cancelled";

/** What a steered message waits for: the next request to a model, the end of the turn, or the next run. */
export type SteerTime = "step" | "turn" | "run";

/** How a conversation is filed. Other members belong to the program that wrote them. */
export interface Metadata {
  readonly tags?: readonly string[];
  readonly archived?: boolean;
  readonly pinned?: boolean;
  readonly [name: string]: Json | undefined;
}

export interface FactBodies {
  run_start: {
    readonly run: string;
    /** What began it: a person, a timer, another conversation; and which one. */
    readonly trigger: string;
    readonly triggerId?: string;
    /** Where its messages are taken from, when that is not the conversation. */
    readonly mailbox?: string;
    readonly seed?: EntryId;
    /** How many messages its seed has. */
    readonly seedCount?: number;
    readonly model?: string;
    /** How many tokens the model takes. */
    readonly window?: number;
    readonly policy?: Json;
    readonly tools?: readonly string[];
    readonly toolsOnly?: boolean; // its model is offered no others
    /** The interrupted run that this one continues. */
    readonly continues?: string;
    /** The sections of the prompt that are other than in the run before; null takes one away. */
    readonly promptPatch?: { readonly [section: string]: Json };
  };
  run_end: {
    readonly run: string;
    readonly status: string;
    readonly error?: { readonly message: string; readonly code?: string };
  };
  turn_start: {
    readonly turn: string;
    readonly prompt?: EntryId;
    readonly run?: string;
    /** All words that were found waiting are delivered with it. */
    readonly steers?: "delivered";
    readonly holder?: TurnHolder;
  };
  attempt: {
    readonly turn: string;
    /** Who is asked: an upstream session, or, where there is none, a model. One of the two is there. */
    readonly upstream?: string;
    readonly model?: string;
    /** What a model was sent besides the messages. */
    readonly promptDigest?: string;
    readonly toolsDigest?: string;
    readonly fidelity?: Fidelity;
    /** The process that is asked, so that another host that finds the turn open can end it. */
    readonly process?: string;
    readonly priorContext?: PriorContextCounts;
    readonly usage?: Usage;
  };
  /** The usage of an attempt that left no message; else the message has it. Never both. */
  attempt_end: {
    readonly turn: string;
    readonly class: string;
    readonly upstream?: string;
    readonly model?: string;
    readonly usage?: Usage;
  };
  turn_end: {
    readonly turn: string;
    readonly outcome: TurnOutcome;
    readonly class?: string;
    /** Who carried the turn in the end, and the last node it then held. */
    readonly upstream?: string;
    readonly node?: EntryId;
    /** The node up to which it holds everything or was sent it, where the outcome does not say so; null: unknown. */
    readonly held?: EntryId | null;
    readonly resetAt?: string;
    /** The agents that said during this turn when they would be free again. */
    readonly parked?: readonly {
      readonly agent: string;
      readonly account?: string;
      readonly resetAt: string;
    }[];
    /** Format 1: what its attempts used that no message has, and the model where it was one. */
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
  permission: {
    /** The name an answer calls it by. */
    readonly request?: string;
    readonly call?: string;
    readonly turn?: string;
    /** What may be answered. */
    readonly options?: readonly { readonly id: string; readonly name?: string; readonly kind?: string }[];
    readonly expiresAt?: string;
    readonly data?: Json;
  };
  permission_answer: {
    readonly request: string;
    readonly outcome: "allowed" | "denied" | "cancelled";
    /** Which of the options was chosen, and who chose it. */
    readonly option?: string;
    readonly by?: string;
    readonly data?: Json;
  };
  plan: { readonly data?: Json };
  steer: {
    readonly steer: string;
    readonly state: SteerState;
    readonly content?: readonly ContentBlock[];
    /** Absent: as soon as the running turn can take it. */
    readonly when?: SteerTime;
    /** The turn it is meant for. */
    readonly turn?: string;
  };
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
  /** Where the conversation is worked on from here on. */
  cwd: { readonly cwd: string; readonly project?: Project };
  /** The members it names are these from here on; null takes one away. The others stay. */
  metadata: { readonly metadata: { readonly [Name in keyof Metadata]: Metadata[Name] | null } };
  memory: MemoryChange;
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
