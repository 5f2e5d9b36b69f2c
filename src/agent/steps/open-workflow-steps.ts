import type { Json } from "#log/json/json-text";
import type { DurableStep } from "./durable-step.ts";
import { engineSteps } from "./engine-steps.ts";

/** What is used of the parameters that a workflow of OpenWorkflow is given. */
export interface OpenWorkflowRun {
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
