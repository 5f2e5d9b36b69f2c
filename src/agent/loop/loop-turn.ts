import type { EntryBody, Skill } from "#log/entry";
import type { Usage } from "#log/message";
import { type EntryId, parseEntryId } from "#log/ids";
import type { Json } from "#log/json/json-text";
import type { SteerQueue } from "#conversation/steer-queue";
import type { Tool } from "#turn/effects/tool";
import { emit, type Host } from "#turn/host";
import type { Owned } from "#turn/one-at-a-time";
import type { Steering } from "#turn/steering";
import type { ResolvedOptions } from "#agent/agent-options";
import type { ConversationMemory } from "#agent/memory/conversation-memory";
import type { AgentModel } from "#agent/models/model";
import type { LoopRun } from "./turn-run.ts";
import type { WarmConversation } from "#agent/agent-pool";

/** A conversation that is owned for one turn, and who is told. */
export interface AgentWork extends Owned {
  readonly host: Host;
  /** Its cached state. */
  readonly warm: WarmConversation;
}

/** One turn that is carried by our own model calls. */
export interface LoopTurn {
  readonly work: AgentWork;
  readonly options: ResolvedOptions;
  readonly turn: string;
  readonly prompt: EntryId;
  /** Null: the turn was begun before turns had one. */
  readonly run: LoopRun | null;
  /** Who is asked in place of a model that cannot answer, in order. */
  readonly fallbacks: readonly AgentModel[];
  /** As they are now: servers change theirs while a turn runs. */
  tools: ReadonlyMap<string, Tool>;
  /** Where the conversation is worked on. */
  readonly cwd: string | null;
  /** Null: nothing is remembered beyond the conversation. */
  readonly memory: ConversationMemory | null;
  readonly steers: SteerQueue;
  readonly steering: Steering;
  readonly limits: { readonly steps: number; readonly costMicros: number | null };
  /** How many attempts the log had of this turn when it was taken up. */
  readonly attemptsBefore: number;
  readonly progress: LoopProgress;
  /** What the batch that ends the step is known by, where an engine carries the steps of the turn. */
  readonly stepKey?: string;
}

/** How far a turn has come, here. */
export interface LoopProgress {
  /** Who is asked: a fallback once the model before it could not answer. */
  model: AgentModel;
  /** Answers that were asked for. */
  steps: number;
  /** Attempts, those that gave no answer included. */
  attempts: number;
  /** Attempts at the next answer that a crashed process made before. */
  unanswered: number;
  readonly used: { -readonly [K in keyof Usage]: Usage[K] };
  /** The conversation's state after the last result; undefined until it was read. */
  state: Json | undefined;
  /** The active skills, in the same way. */
  skills: readonly Skill[] | undefined;
  /** A summary failed; it is tried again in another turn. */
  compactionFailed: boolean;
  /** The last request showed the model images or other files. */
  showsMedia: boolean;
  /** The text of the last answer. */
  text: string;
  /** The last node the turn has written. */
  node: EntryId;
  /** Another attempt has already written this step; this attempt's result does not count. */
  deduped: boolean;
  /** The batch that ended the last step, where it was written here. */
  stepBatch: { readonly fromSeq: number; readonly toSeq: number } | null;
}

/** The number of the step that is under way: what effects of its calls are known by. */
export function stepNumber({ attemptsBefore, progress }: LoopTurn): number {
  return attemptsBefore + progress.attempts;
}

/** Adds up what an attempt used. */
export function countUsage(progress: LoopProgress, usage: Usage | null): void {
  for (const [name, value] of Object.entries(usage ?? {}) as [keyof Usage, number][])
    progress.used[name] = (progress.used[name] ?? 0) + value;
}

/** Tells the host; no upstream is concerned. */
export function tell(work: AgentWork, event: Parameters<typeof emit>[2]): void {
  emit(work, null, event);
}

/** Writes, keeps the last node in mind, and gives the seq of the first entry. */
export async function write(turn: LoopTurn, bodies: readonly EntryBody[], key?: string): Promise<number> {
  if (bodies.length === 0) return 0;
  const withIds = bodies.map((body) => ({ ...body, id: body.id ?? turn.options.newId() }));
  const { fromSeq, toSeq, deduped } = await turn.work.owner.append(withIds, key === undefined ? {} : { key });
  if (deduped) turn.progress.deduped = true;
  else if (key !== undefined) turn.progress.stepBatch = { fromSeq, toSeq };
  const node = withIds.findLast(({ type }) => type === "message" || type === "compaction");
  if (node !== undefined) turn.progress.node = parseEntryId(node.id);
  return fromSeq;
}
