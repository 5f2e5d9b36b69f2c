export type { DurableStep, StepBody } from "./durable-step.ts";
export { engineSteps, type StepEngine } from "./engine-steps.ts";
export { directSteps } from "./engine-steps.ts";
export {
  type AbsurdContext,
  absurdSteps,
  type AbsurdStepsOptions,
  absurdWorkerOptions,
} from "./absurd-steps.ts";
export { type OpenWorkflowRun, openWorkflowSteps } from "./open-workflow-steps.ts";
export type { TurnPointer } from "./turn-pointer.ts";
