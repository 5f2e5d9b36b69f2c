import type { EndingClass } from "#log/ending-class";
import type { Fields } from "#log/json/json-fields";
import type { Json } from "#log/json/json-text";
import type { CommandKind } from "#upstream/rules/transcript";
import type { EndingTable } from "#turn/rules/classify";
import type { NativeMessage } from "#upstream/upstream";
import type { TurnEvent } from "#turn/rules/turn-event";
import type { NativeStore } from "./native-store.ts";

/** An agent adapter: what differs between agents beyond what the protocol lets them declare. */
export interface Vendor {
  /** As command lines and the log name it: lower case, and part of its program's name. */
  readonly name: string;
  /** What its errors and texts at the end of a turn mean. */
  readonly endings: EndingTable;
  /** Endings of it that were seen, and what they mean: a test classifies each of them. */
  readonly examples: readonly EndingExample[];
  readonly dialect: Dialect;
  /** The programs that speak the protocol for it, as far as something depends on their version. */
  readonly adapters?: readonly Adapter[];
  /** Its records of sessions on disk, where they can be read. */
  readonly records: VendorRecords | null;
  /** The command that opens a session in its own program, where there is one; null: the id is none of its. */
  resumeCommand?(session: string): readonly string[] | null;
}

/** A program that speaks the Agent Client Protocol for an agent. */
export interface Adapter {
  /** As it introduces itself. */
  readonly name: string;
  /** The oldest version that works; null: no version of it does. */
  readonly oldest: string | null;
  /** The first version that sends a message id with the model's text; left out: none does. */
  readonly messageIds?: string;
  /** The command that installs a newer one. */
  readonly update: string;
}

/** An id that cannot be taken for an option or a path, nor be anything but a word. */
const SESSION = /^[A-Za-z0-9][\w.-]{0,199}$/;

/** The command that continues a session in the agent's own program. */
export function resumesBy(...args: readonly string[]): (session: string) => readonly string[] | null {
  return (session) => (SESSION.test(session) ? [...args, session] : null);
}

/** The code is -32603, the protocol's "Internal error", unless given. */
export type EndingExample = readonly [
  means: EndingClass,
  message: string,
  code?: number | string | null,
  data?: Json,
];

/** Signs of a failure that the result of the turn will not call one. */
export interface FailureSigns {
  /** A limit that was hit, with when it ends. */
  readonly limit?: Fields;
  readonly error?: Fields;
  /** Whether the session is in a failed state from now on. */
  readonly failed?: boolean;
}

/** The messages of the agent's program, which its adapter passes on beside the protocol. */
export interface ProgramMessages {
  readonly method: string;
  /** How a session is asked for them: a path in its params and the value to put there. */
  readonly ask: { readonly path: readonly string[]; readonly text: string };
  meaning(message: Json): {
    readonly event: TurnEvent | null;
    readonly signs?: FailureSigns;
    /** The model that answers. */
    readonly model?: string;
  };
}

/** How an agent speaks the Agent Client Protocol. */
export interface Dialect {
  /** Text without a message id is a remark of the adapter, not the agent's answer. */
  readonly remarksLackId: boolean;
  /** So is what goes by an id of another shape than the model's; but it may answer a command. */
  readonly remarkId: RegExp | null;
  readonly programMessages: ProgramMessages | null;
  /** Its capabilities, as far as they are known before it was asked. */
  readonly resumes: boolean;
  readonly forks: boolean;
  /** How many tokens its models take, until it reports that itself. */
  readonly windowTokens: number;
  /** A prompt that its model's service refused stays in its session, as was seen with it. */
  readonly keepsPrompt: boolean;
  /** Its program takes whatever begins like a command for one, also what it does not offer; none reaches the model as it is. */
  readonly takesCommands: boolean;
  /** The commands that make it forget everything. */
  readonly clears: readonly string[];
  /** The signs of a failure in an update. */
  failureIn(update: Fields): FailureSigns;
  /** The name of a tool as the `_meta` of its call gives it; null when it does not. */
  toolName(meta: Fields): string | null;
  /** Whether a failed call, by this update and the `_meta` of it, never ran at all. */
  neverRan(update: Fields): boolean;
  /** The calls as which it shows that it summarizes its history: no tool runs. */
  readonly compactionTools: readonly string[];
  /** The ids of calls as which it shows that it has reviewed another one: no tool runs. */
  readonly reviewCalls: RegExp | null;
  /** Loading a session destroys its record unless this long has passed since it was created, loaded or used. */
  readonly reloadAfterMs: number;
  /** It answers a load in the middle of the history it tells, and does not say when that is over. */
  readonly replaysLate: boolean;
  /** One client may have a session open at a time, and others are refused with this reason. Null: no such limit. */
  readonly inUseReason: string | null;
  /** Variables by which it finds that it runs inside another one, and then does less. */
  readonly nestingVariables: readonly string[];
}

/** An agent of which nothing is known but that it speaks the protocol. */
export const PLAIN_DIALECT: Dialect = {
  remarksLackId: false,
  remarkId: null,
  programMessages: null,
  resumes: true,
  forks: false,
  windowTokens: 64_000,
  keepsPrompt: false,
  takesCommands: false,
  clears: [],
  failureIn: () => ({}),
  toolName: () => null,
  neverRan: () => false,
  compactionTools: [],
  reviewCalls: null,
  reloadAfterMs: 0,
  replaysLate: false,
  inUseReason: null,
  nestingVariables: [],
};

/** An agent's own files about its sessions. */
export interface VendorRecords {
  /** Where they lie below a person's home, and the variable that names another place. */
  readonly folder: string;
  readonly variable: string;
  /** The records in such a folder. */
  open(folder: string): NativeStore;
  /** What its files are called for users: "a rollout of Codex". */
  readonly fileName: string;
  /** Whether a file that begins with this line is one of them. */
  isRecord(line: Fields): boolean;
  /** Reads the records of one file, in order. */
  reader(): RecordReader;
}

export interface RecordReader {
  add(record: Fields): void;
  /** The messages that the agent would resume with, from the records read so far. */
  messages(): readonly NativeMessage[];
}

/** The kind of a command of the agent's program; null for plain text. */
export function commandKind(
  dialect: Dialect,
  offered: ReadonlySet<string>,
  name: string,
): CommandKind | null {
  if (dialect.clears.includes(name) || (name === "clear" && offered.has(name))) return "reset";
  return dialect.takesCommands || offered.has(name) ? "command" : null;
}
