import { type Clock, systemClock } from "#conversation/clock";
import { LogError } from "#log/errors";
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

/** What an engine has to offer; everything else is made of it. */
export interface StepEngine {
  readonly engine: string;
  readonly taskId: string;
  readonly attempt?: number | null;
  /** Gives the stored result of this name, or runs the body, stores what it gives and gives it back. */
  run(name: string, body: () => Promise<Json>): Promise<Json>;
  /** Tells the engine that the task is at work; refused once it is not this attempt's any more. */
  heartbeat?(): Promise<unknown>;
  /** How long the engine waits for a sign of life; without it none is sent. */
  readonly leaseMs?: number;
  /** The clock (default: real time). */
  readonly clock?: Clock;
}

/** Durable steps over an engine: every name once, a heartbeat while a body runs, and a signal when that fails. */
export function engineSteps(engine: StepEngine): DurableStep {
  const names = new Set<string>();
  return {
    engine: engine.engine,
    taskId: engine.taskId,
    attempt: engine.attempt ?? null,
    async step<T extends Json>(name: string, body: Parameters<DurableStep["step"]>[1]): Promise<T> {
      if (names.has(name)) throw nameReused(name);
      names.add(name);
      const value = await engine.run(name, async () => {
        using pulse = new Pulse(engine);
        try {
          return await body({ stepKey: name, heartbeat: () => pulse.beat(), signal: pulse.signal });
        } catch (error) {
          // Why the engine let go of it is what the engine is told.
          throw pulse.lost === null ? error : pulse.lost.error;
        }
      });
      return value as T;
    },
  };
}

function nameReused(name: string): LogError {
  return new LogError(
    "invalid_request",
    `Step "${name}" already ran in this attempt. Give each step its own name, and create the durable steps of a task once.`,
    { step: name },
  );
}

/** The signs of life of one step. */
class Pulse implements Disposable {
  readonly #engine: StepEngine;
  readonly #clock: Clock;
  readonly #everyMs: number | null;
  readonly #over: AbortController = new AbortController();
  readonly #stop: AbortController = new AbortController();
  #lastMs: number;
  lost: { readonly error: unknown } | null = null;

  constructor(engine: StepEngine) {
    const { leaseMs, clock = systemClock } = engine;
    this.#engine = engine;
    this.#clock = clock;
    this.#everyMs = leaseMs === undefined || engine.heartbeat === undefined ? null : leaseMs / 3;
    this.#lastMs = clock.steadyMs(); // whoever begins has just been heard of
    if (this.#everyMs !== null) void this.#keep(this.#everyMs);
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  async #keep(everyMs: number): Promise<void> {
    while (!this.#over.signal.aborted && this.lost === null) {
      await this.#clock.sleep(everyMs, this.#over.signal);
      if (!this.#over.signal.aborted) await this.beat().catch(() => undefined); // the signal tells it
    }
  }

  async beat(): Promise<void> {
    if (this.lost !== null) throw this.lost.error;
    const atMs = this.#clock.steadyMs();
    if (this.#everyMs === null || atMs - this.#lastMs < this.#everyMs) return;
    this.#lastMs = atMs;
    try {
      await this.#engine.heartbeat?.();
    } catch (error) {
      this.lost ??= { error };
      this.#stop.abort(error);
      throw error;
    }
  }

  [Symbol.dispose](): void {
    this.#over.abort();
  }
}

/**
 * Durable steps without an engine: what is in the log under a step's key is not done again. Whoever calls once more after a
 * crash, with the same task, goes on where it stopped.
 */
export function directSteps(task: string): DurableStep {
  if (typeof task !== "string" || task.trim() === "")
    throw new LogError(
      "invalid_request",
      "The task id must be a non-empty string that is the same in every attempt",
    );
  return engineSteps({ engine: "direct", taskId: task, run: (_, body) => body() });
}

/** The part of absurd-sdk's `TaskContext` that this module uses. */
interface AbsurdContext {
  readonly taskID: string;
  beginStep<T>(name: string): Promise<AbsurdStep<T>>;
  completeStep<T>(step: AbsurdStep<T>, value: T): Promise<T>;
  heartbeat(seconds?: number): Promise<void>;
}

type AbsurdStep<T> = { readonly name: string; readonly checkpointName: string } & (
  | { readonly done: false; readonly state?: never }
  | { readonly done: true; readonly state: T }
);

interface AbsurdStepsOptions {
  /** The worker's claim timeout in seconds (default: read from the context). */
  readonly claimTimeout?: number;
}

const CLAIM_SECONDS = 120; // Absurd's own, where a worker is told nothing

/** One per context: steps that were made twice for it still share their names. */
const stepsByContext = new WeakMap<AbsurdContext, DurableStep>();

/** The steps of a task of Absurd, for the handler it was registered with. */
export function absurdSteps(context: AbsurdContext, options: AbsurdStepsOptions = {}): DurableStep {
  const before = stepsByContext.get(context);
  if (before !== undefined) return before;
  // Both are private to the context, and there: a lease that is taken for longer than it is would lapse in mid-step.
  const hidden = context as {
    readonly claimTimeout?: unknown;
    readonly task?: { readonly attempt?: unknown };
  };
  const seconds = options.claimTimeout ?? hidden.claimTimeout;
  const attempt = hidden.task?.attempt;
  const steps = engineSteps({
    engine: "absurd",
    taskId: context.taskID,
    attempt: typeof attempt === "number" ? attempt : null,
    leaseMs: (typeof seconds === "number" && seconds > 0 ? seconds : CLAIM_SECONDS) * 1_000,
    heartbeat: () => context.heartbeat(),
    async run(name, body) {
      const step = await context.beginStep<Json>(name);
      // Absurd would number a name that comes again, and take the first step's place for the second.
      if (step.checkpointName !== name) throw nameReused(name);
      return step.done ? step.state : context.completeStep(step, await body());
    },
  });
  stepsByContext.set(context, steps);
  return steps;
}

/**
 * Options for a worker that carries turns: Absurd ends the whole process once a task has taken twice its claim, unless told
 * otherwise, and with it every other turn in it.
 */
export function absurdWorkerOptions<T extends object>(
  options: T,
): T & { readonly fatalOnLeaseTimeout: false } {
  return { ...options, fatalOnLeaseTimeout: false };
}

/** The part of OpenWorkflow's workflow parameters that this module uses. */
interface OpenWorkflowRun {
  readonly step: {
    run<Output>(config: { readonly name: string }, body: () => Promise<Output>): Promise<Output>;
  };
  readonly run: { readonly id: string };
}

/** One per run that is under way: steps that were made twice for it still share their names. */
const stepsByRun = new WeakMap<OpenWorkflowRun["step"], DurableStep>();

/** The steps of a workflow of OpenWorkflow. Its worker renews its own lease; who has lost it is fenced off by the log. */
export function openWorkflowSteps({ step, run }: OpenWorkflowRun): DurableStep {
  const steps =
    stepsByRun.get(step) ??
    engineSteps({
      engine: "openworkflow",
      taskId: run.id,
      run: (name, body) => step.run<Json>({ name }, body),
    });
  stepsByRun.set(step, steps);
  return steps;
}
