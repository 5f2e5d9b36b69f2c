import type { Skills } from "#agent/skills/skills";
import type { PreparedReplay } from "#agent/replay/replay-models";
import type { ReplayOptions, ReplayPart } from "#agent/replay/replay-options";
import type { ReplayTarget } from "#agent/replay/replay-source";
import type { Clock } from "#conversation/clock";
import type { Conversation } from "#conversation/conversation";
import type { Holdfast } from "#conversation/holdfast";
import { LogError } from "#log/errors";
import { readJson } from "#log/json/read-json";
import type { AuditLine } from "./server.ts";
import type { Views } from "./views/views.ts";
import type { AgentRecords } from "#transfer/agent-sessions";
import type { Host } from "#turn/host";
import type { EndedTurn, Turns } from "#turn/turns";
import { type Fields, object, type ObjectOf, problemsOf, type Schema, type TypeOf } from "./schemas.ts";

/** Of the first three each includes those before it; `metrics` is for the figures of the process alone. */
export type Access = "read" | "write" | "admin" | "metrics";

/** Which agent runs a turn, and the model it asks. */
export interface AgentChoice {
  readonly agent?: string;
  readonly model?: string;
}

/** An agent that runs turns, and the models that a caller may choose. */
export interface AgentView {
  readonly agent: string;
  readonly models: readonly string[];
}

/** The agents that run turns. */
export interface TurnAgents {
  list(): readonly AgentView[];
  /** The first is used where none is named. */
  readonly names: readonly string[];
  /** The agent of this name in a space; rejects a model that callers may not choose. */
  agent(holdfast: Holdfast, choice: AgentChoice): Promise<Turns>;
  /** Runs a turn to its end, however long its caller waits. */
  run(place: TurnPlace, run: (turns: Turns, host: Host) => Promise<EndedTurn>): Promise<EndedTurn>;
  /** Stops the turn that runs in a conversation, in any process; false when none runs, or it doesn't stop. */
  cancel(holdfast: Holdfast, conversation: Conversation, signal?: AbortSignal): Promise<boolean>;
}

/** Where a turn runs, and by which agent. */
export interface TurnPlace {
  readonly holdfast: Holdfast;
  readonly conversation: string;
  readonly choice: AgentChoice;
}

/** The log of acts, by space and month. */
interface AuditReader {
  read(page: {
    readonly space: string;
    readonly month?: string;
    readonly after?: number;
    readonly limit: number;
  }): Promise<{ readonly lines: readonly AuditLine[]; readonly next: number | null }>;
}

/** Where the store lies, as far as the caller may know. */
export interface StorePlace {
  readonly kind: string | null;
  readonly address: string | null;
  /** How much room it takes; null where nobody can say. */
  readonly bytes?: (() => Promise<number | null>) | undefined;
}

/** A replay that a caller begins. */
export interface ReplayRequest {
  readonly what: ReplayTarget;
  readonly options: Omit<ReplayOptions, "agent" | "models" | "onEvent" | "onPermission" | "signal"> & {
    readonly models: readonly string[];
  };
  readonly key: string | undefined;
}

/** Runs replays, with the models that callers may choose. */
export interface ReplayRunner {
  readonly models: readonly string[];
  /** What could be replayed; nothing is begun. */
  prepare(
    holdfast: Holdfast,
    what: ReplayTarget,
    part: ReplayPart & { readonly cwd?: string },
  ): Promise<PreparedReplay>;
  /** Begins a replay, and answers with its log. */
  start(holdfast: Holdfast, request: ReplayRequest): Promise<Conversation>;
}

/** What an operation may use. Permissions, rate limits, audit lines and deadlines are the edge's. */
export interface OperationContext {
  /** The space of the caller. */
  readonly holdfast: Holdfast;
  readonly clock: Clock;
  /** Makes a repetition harmless. */
  readonly key?: string | undefined;
  /** Caches that callers share. */
  readonly views?: Views;
  /** The folder of a new conversation for which the caller names none. */
  readonly folder?: string | null;
  readonly turns?: TurnAgents;
  /** Where skills are found; null: there are none. */
  readonly skills?: Skills | null;
  /** The sessions that agents have in folders of their own. */
  readonly agentRecords?: AgentRecords;
  readonly audit?: AuditReader;
  readonly replays?: ReplayRunner;
  readonly place?: StorePlace;
  /** The name that the log has for the caller. */
  readonly caller?: string;
  /** Receives how many conversations were looked at. */
  readonly onProgress?: (conversations: number) => void;
  /** Aborted when the caller no longer waits. */
  readonly signal?: AbortSignal;
}

/** JSON text that is returned as it is: payloads in it are exactly those stored. All of its pieces need not fit into one text. */
export class JsonText {
  readonly content: string | Iterable<string>;

  constructor(content: string | Iterable<string>) {
    this.content = content;
  }

  get text(): string {
    return typeof this.content === "string" ? this.content : [...this.content].join("");
  }
}

/** Bytes with their media type, in place of a JSON answer. */
export class Download {
  readonly bytes: Uint8Array | AsyncIterable<Uint8Array>;
  readonly mediaType: string;
  /** What the file is called where a browser keeps it; null: its link says that; absent: a browser shows it. */
  readonly name?: string | null;

  constructor(
    bytes: Uint8Array | AsyncIterable<Uint8Array>,
    mediaType: string,
    { name }: { readonly name?: string | null } = {},
  ) {
    this.bytes = bytes;
    this.mediaType = mediaType;
    if (name !== undefined) this.name = name;
  }
}

/** Bytes that a caller sends, again should a connection break. */
export type Upload = Uint8Array<ArrayBuffer> | Blob;

/** The value of an answer that may be text. */
export function valueOf<R>(output: R | JsonText): R {
  return output instanceof JsonText ? (readJson(output.text) as R) : output;
}

export interface Row {
  /** Verb and object: the line in help, the summary in the OpenAPI document. */
  readonly summary: string;
  /** The heading in the reference. */
  readonly group: string;
  readonly access: Access;
  /**
   * An act changes something: it takes a key and is in the audit log. An upload is an act whose field `file` is bytes; a
   * download answers with bytes. A stream is of events, which each edge frames in its own way.
   */
  readonly kind: "read" | "act" | "upload" | "download" | "stream";
  /**
   * Method and path; `{name}` is a field of the input. An act has the other fields in its body, the others in the query. Absent
   * where only callers on this machine may do it.
   */
  readonly http?: string;
  /** The media types of a download. */
  readonly types?: readonly string[];
  /** It hands out a conversation as a file, so it is in the audit log before anything is sent. */
  readonly exports?: true;
  /** Its work grows with what is stored or sent, so no deadline holds for it. */
  readonly long?: true;
  /** The status of an answer, 200 by default. */
  readonly status?: number;
  /** A caller may ask for the events of the turn that the output names in place of the output. */
  readonly stream?: "turn";
  /** The answer is stored under the key, of an act that leaves nothing in a log by which a repetition is known. */
  readonly storesAnswer?: true;
  /**
   * The command and its arguments, which are fields of the input; [optional]. `conversation@entry` is one argument, `field...` all that
   * follow.
   */
  readonly cli?: string;
}

/** One thing to do to a store, as every edge reads it. */
export interface Operation<Input extends object = object, Output = unknown> extends Row {
  readonly input: Fields;
  /** Fields that only a caller on this machine has. */
  readonly local: Fields;
  readonly output: Schema<Output>;
  readonly run: (input: Input, context: OperationContext) => Promise<Output | JsonText>;
}

export type AnyOperation = Operation<never>;
export type OutputOf<O> = O extends Operation<never, infer R> ? R : never;

type NoFields = { readonly [name in never]: Schema };

export function operation<const I extends Fields, O extends Schema, const L extends Fields = NoFields>(
  row: Row & {
    readonly input: I;
    readonly local?: L;
    readonly output: O;
    run(input: ObjectOf<I> & Partial<ObjectOf<L>>, context: OperationContext): Promise<TypeOf<O> | JsonText>;
  },
): Operation<ObjectOf<I> & Partial<ObjectOf<L>>, TypeOf<O>> {
  return { ...row, local: row.local ?? {} };
}

const CHECKS = new WeakMap<Fields, Schema>();

/**
 * Checks an input and does it: the library's way, and the command line's. `exact` takes the place of fields that were checked, with
 * the JSON text that they were read from.
 */
export async function perform<I extends object, R>(
  { input: fields, local, run }: Operation<I, R>,
  input: unknown,
  context: OperationContext,
  exact: Partial<Record<keyof I, readonly string[]>> = {},
): Promise<R | JsonText> {
  check({ input: fields, local }, input);
  return run({ ...(input as I), ...exact }, context);
}

/** Rejects an input that the operation does not take. */
export function check({ input: fields, local }: Pick<Operation, "input" | "local">, input: unknown): void {
  const schema = CHECKS.get(fields) ?? object({ ...fields, ...local });
  CHECKS.set(fields, schema);
  checkInput(problemsOf(schema, input));
}

const PROBLEMS_SHOWN = 5;

/** The one sentence about an input that no operation takes. */
export function checkInput(problems: readonly string[]): void {
  if (problems.length > 0)
    throw new LogError("invalid_request", problems.slice(0, PROBLEMS_SHOWN).join("; "));
}
