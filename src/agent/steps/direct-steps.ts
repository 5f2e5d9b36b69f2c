import { LogError } from "#log/errors";
import type { DurableStep } from "./durable-step.ts";
import { engineSteps } from "./engine-steps.ts";

/**
 * Durable steps without an engine: what is in the log under a step's key is not done again. Whoever calls once more after a
 * crash, with the same task, goes on where it stopped.
 */
export function directSteps(task: string): DurableStep {
  if (typeof task !== "string" || task.trim() === "")
    throw new LogError("invalid_request", "A task has a name that is the same in every attempt at it");
  return engineSteps({ engine: "direct", taskId: task, run: (_, body) => body() });
}
