import type { Json } from "#log/json/json-text";

/** What the body of a step is given. */
export interface StepBody {
  /** Names the step in its task: the same in every attempt. */
  readonly stepKey: string;
  /** Tells the engine that the step is at work; more often than every third of a lease nothing is sent. */
  heartbeat(): Promise<void>;
  /** Aborted once the engine has not heard of the step, or does not want it any more: nothing is written after that. */
  readonly signal: AbortSignal;
}

/**
 * One attempt at a task, as an engine for durable steps gives it. A step whose result the engine has is not run again.
 * What it keeps of a step of ours is a pointer into the log.
 */
export interface DurableStep {
  readonly engine: string;
  /** The same in every attempt. */
  readonly taskId: string;
  /** For people; null where the engine does not tell. */
  readonly attempt: number | null;
  step<T extends Json>(name: string, body: (body: StepBody) => Promise<T>): Promise<T>;
}
