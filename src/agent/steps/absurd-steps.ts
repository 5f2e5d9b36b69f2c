import type { Json } from "#log/json/json-text";
import type { DurableStep } from "./durable-step.ts";
import { engineSteps, nameReused } from "./engine-steps.ts";

/** What is used of a `TaskContext` of absurd-sdk. */
export interface AbsurdContext {
  readonly taskID: string;
  beginStep<T>(name: string): Promise<AbsurdStep<T>>;
  completeStep<T>(step: AbsurdStep<T>, value: T): Promise<T>;
  heartbeat(seconds?: number): Promise<void>;
}

type AbsurdStep<T> = { readonly name: string; readonly checkpointName: string } & (
  | { readonly done: false; readonly state?: never }
  | { readonly done: true; readonly state: T }
);

export interface AbsurdStepsOptions {
  /** The worker's, in seconds; read from the context unless given. */
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
