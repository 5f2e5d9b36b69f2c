import type { DurableStep } from "#agent/steps/engine-steps";
import type { Json } from "#log/json/json-text";

/** What a task is for. */
export type TaskInput = { readonly conversation: string; readonly prompt: string };

/** One attempt at a task. */
export type Attempt = (steps: DurableStep, input: TaskInput) => Promise<Json>;

/** An engine that carries tasks; what tests need of each, so that one list of cases is run on all. */
export interface Lane extends AsyncDisposable {
  /** Whether the engine keeps results of steps: without an engine there are none. */
  readonly keeps: boolean;
  /** Whether steps tell the engine that they are at work. */
  readonly beats: boolean;
  /** Puts a task in the queue; `trigger`: the engine takes the same one once. */
  spawn(input: TaskInput, trigger?: string): Promise<string>;
  /**
   * A worker takes the task that is due and makes one attempt at it; resolves when that attempt is over. The lease is of the
   * engine's own length unless it is told one, in seconds, and can be.
   */
  attempt(run: Attempt, leaseSeconds?: number): Promise<void>;
  /** The lease of whoever is at the task is over, or what it waits for; told to the engine's own tables, in place of waiting. */
  lapse(task: string): Promise<void>;
  cancel(task: string): Promise<void>;
  /** Cleans up: the engine forgets the task, and what it was triggered by. */
  forget(task: string): Promise<void>;
  /** What it came to; null while it has not. */
  result(task: string): Promise<Json | null>;
  /** What the engine keeps of the task's steps, by name, as it is stored. */
  stored(task: string): Promise<ReadonlyMap<string, string>>;
  replace(task: string, step: string, value: Json): Promise<void>;
}

/** Opens the lane of this name, for a test or in a worker's process. */
export type OpenLane = (address: string) => Promise<Lane>;
